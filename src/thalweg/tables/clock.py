"""The column that says when a row or its label comes: times in one of the known forms, durations since some beginning,
or numbers that grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.option_names import option
from thalweg.tables.cells import BadCell, brief, durations, is_text, numbers, timestamps, trimmed, without
from thalweg.tables.number_forms import are_durations, is_number, plain_numbers
from thalweg.tables.rows import as_text
from thalweg.tables.timestamps import FORMS, FoundForm, examples_in_words, form_of, times_in

if TYPE_CHECKING:
    import pyarrow as pa

#: The time of what never comes.
NEVER = np.iinfo(np.int64).max
_COUNTER, _DECIMALS, _DURATIONS = "whole numbers", "numbers", "durations"
#: Units since 1970, each with its length in microseconds: a column of whole numbers that lie between 1980 and 2100.
_EPOCHS = {f"{unit} since 1970": micros for unit, micros in (("seconds", 1e6), ("milliseconds", 1e3))} | {
    "microseconds since 1970": 1.0,
    "nanoseconds since 1970": 1e-3,
}
_FIRST, _LAST = 315_532_800e6, 4_102_444_800e6


class Clock:
    """When something comes, as numbers that can be compared: microseconds, millionths, or a counter's own.

    ``form`` is how the times are written, as `thalweg.tables.timestamps` names it; "seconds since 1970" and the like;
    "durations"; "whole numbers" or "numbers" for a counter; None for ISO 8601 and for columns with a type of their own.
    ``na`` are texts that stand for a missing time.
    """

    def __init__(self, form: str | None = None, na: Sequence[str] = (), detected: FoundForm | None = None) -> None:
        self.form = form
        self.na = tuple(na)
        #: How the form was detected, where it is one of `FORMS`.
        self.detected = detected

    @property
    def counts(self) -> bool:
        """Whether it holds numbers, not times."""
        return self.form in (_COUNTER, _DECIMALS)

    @property
    def kind(self) -> str:
        """What it holds: numbers, durations or times; those of one kind can be compared."""
        return "numbers" if self.counts else _DURATIONS if self.form == _DURATIONS else "times"

    @property
    def per_unit(self) -> int:
        """How many of its numbers are one of a counter, or a second."""
        return 1 if self.form == _COUNTER else 10**6

    @classmethod
    def settle(cls, name: str, column: pa.ChunkedArray, na: Sequence[str] = (), like: Clock | None = None) -> Clock:
        """The clock of a column, by its first cells; ``like`` another one, where all of them are missing."""
        import pyarrow as pa

        column = without(column, na)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        kind = column.type
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return cls(na=na)
        if column.null_count == len(column) or (is_text(column) and trimmed(column).null_count == len(column)):
            if like is not None:
                return like
            raise InvalidInput(f"column {name!r} must hold times, but all of its first {len(column):,} are missing")
        if pa.types.is_boolean(kind) or not (
            is_text(column) or pa.types.is_primitive(kind) or pa.types.is_decimal(kind)
        ):
            raise InvalidInput(f"column {name!r} must hold times, got values of type {brief(str(kind))}")
        if pa.types.is_duration(kind):
            return cls(_DURATIONS, na)
        cells = trimmed(as_text(column)).drop_null()
        if form := _number_form(cells):
            return cls(form, na, FoundForm(form) if form in FORMS else None)
        if are_durations(cells.unique().to_pylist()):
            return cls(_DURATIONS, na)
        detected = form_of(cells)
        if detected is None:
            example = cells[0].as_py()
            raise InvalidInput(
                f"column {name!r} must hold times or numbers, but holds {brief(example)!r}: times are read that are "
                f"written as {examples_in_words()}, and durations as 26:00:00, 1 days 02:03:04 or PT5M"
            )
        if detected.unclear:
            raise InvalidInput(
                f"the times in column {name!r}, such as {brief(cells[0].as_py())!r}, may be day/month or month/day: "
                f"write them as 2024-01-31, or let more rows decide, as with {option('head', 10 * len(column))}"
            )
        return cls(detected.form, na, detected)

    def parse(self, column: pa.ChunkedArray) -> NDArray[np.int64]:
        """The times, `NEVER` where one is missing; `BadCell` names the first that is none."""
        column = without(column, self.na)
        if self.form not in FORMS:
            return _numbers(column, str(self.form))
        times = timestamps(column, self.form)
        return np.where(np.isnat(times), NEVER, times.astype(np.int64))


def _number_form(cells: pa.ChunkedArray) -> str | None:
    """What most of the different cells count, where they are numbers."""
    different = _as_programs_write(cells.unique())
    numbers = [cell for cell in different.to_pylist() if is_number(cell)]
    if len(numbers) <= len(different) / 2:
        return None
    values = np.array(numbers, dtype=np.float64)
    for form, micros in _EPOCHS.items():
        if ((values * micros >= _FIRST) & (values * micros <= _LAST)).all():
            return form
    if not times_in(different, "yearmonthday")[1].any():
        return "yearmonthday"
    return _COUNTER if sum(map(_is_whole, numbers)) > len(numbers) / 2 else _DECIMALS


def _numbers(column: pa.ChunkedArray, form: str) -> NDArray[np.int64]:
    """Numbers of a clock: of decimals, and of what is counted since 1970, millionths."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if form == _DURATIONS:
        return _scaled(durations(column), 1e6, column)
    cells: Any = _as_programs_write(trimmed(as_text(column)))
    if form == _COUNTER:
        try:
            counts = pc.cast(cells, pa.int64())
        except pa.ArrowInvalid as error:
            at, cell = next((at, cell) for at, cell in enumerate(cells.to_pylist()) if cell and not _is_whole(cell))
            raise BadCell(at, f"{brief(cell)!r} is not a whole number, as the times before it are") from error
        return np.asarray(pc.fill_null(counts, NEVER), dtype=np.int64)
    return _scaled(numbers(cells), 1e6 if form == _DECIMALS else _EPOCHS[form], cells)


def _scaled(values: NDArray[np.float64], scale: float, cells: pa.ChunkedArray) -> NDArray[np.int64]:
    """The numbers of a clock from those of its cells; `NEVER` for a missing one."""
    scaled = np.round(values * scale)
    far = np.abs(scaled) >= NEVER
    if far.any():
        at = int(far.argmax())
        raise BadCell(at, f"{brief(str(cells[at].as_py()))!r} is too large for a time")
    return np.where(np.isnan(scaled), NEVER, np.nan_to_num(scaled).astype(np.int64))


def _as_programs_write(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cells with numbers such as 1,234,567 as programs write them, and all others as they are."""
    import pyarrow.compute as pc

    plain, wrong = plain_numbers(cells, ".")
    return pc.if_else(wrong, cells, plain)


def _is_whole(cell: str) -> bool:
    digits = cell.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= 18
