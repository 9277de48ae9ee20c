"""The column that says when a row or its label comes: times in one of the known forms, or whole numbers that grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.tables.cells import BadCell, brief, is_text, timestamps, trimmed
from thalweg.tables.rows import as_text
from thalweg.tables.timestamps import form_of

if TYPE_CHECKING:
    import pyarrow as pa

#: The time of what never comes.
NEVER = np.iinfo(np.int64).max
_COUNTER = "whole numbers"


class Clock:
    """When something comes, as numbers that can be compared: microseconds, or a counter's own.

    ``form`` is how the times are written, as `thalweg.tables.timestamps` names it; "whole numbers" for a counter such
    as seconds since 1970; None for ISO 8601 and for columns with a type of their own.
    """

    def __init__(self, form: str | None = None) -> None:
        self.form = form

    @property
    def counts(self) -> bool:
        """Whether it holds whole numbers, not times."""
        return self.form == _COUNTER

    @classmethod
    def settle(cls, name: str, column: pa.ChunkedArray) -> Clock:
        """The clock of a column, by its first cells."""
        import pyarrow as pa

        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            return cls(_COUNTER)
        if pa.types.is_nested(column.type):
            raise InvalidInput(f"column {name!r} must hold times, got values of type {column.type}")
        if not is_text(column):
            return cls()
        cells = trimmed(column).drop_null().unique().to_pylist()
        if sum(_is_whole(cell) for cell in cells) > len(cells) / 2:
            return cls(_COUNTER)
        form = form_of(cells)
        if form == "unclear":
            raise InvalidInput(
                f"the times in column {name!r}, such as {brief(cells[0])!r}, may be day/month or month/day: "
                "write them as 2024-01-31"
            )
        return cls(form)

    def parse(self, column: pa.ChunkedArray) -> NDArray[np.int64]:
        """The times, `NEVER` where one is missing; `BadCell` names the first that is none."""
        if self.counts:
            return _whole_numbers(column)
        found = timestamps(column, self.form)
        return np.where(np.isnat(found), NEVER, found.astype(np.int64))


def _whole_numbers(column: pa.ChunkedArray) -> NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    cells: Any = trimmed(as_text(column))
    try:
        found = pc.cast(cells, pa.int64())
    except pa.ArrowInvalid as error:
        at, cell = next((at, cell) for at, cell in enumerate(cells.to_pylist()) if cell and not _is_whole(cell))
        raise BadCell(at, f"{brief(cell)!r} is not a whole number, as the times before it are") from error
    return np.asarray(pc.fill_null(found, NEVER), dtype=np.int64)


def _is_whole(cell: str) -> bool:
    digits = cell.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= 18
