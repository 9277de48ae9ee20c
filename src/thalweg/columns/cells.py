"""Cells of a column: which are missing, and what the others are as numbers, times or names.

What is missing depends on what a column holds. Among numbers and times the words of `MISSING` stand for no value.
Among names, labels and categories alike, any word is a name, ``none`` and ``NA`` too: only an empty cell is missing.

A truth value is not a number, whether it stands in a table as a word or as a type of its own: ``true`` in a column of
numbers is a bad cell, as any other word is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.columns.dates import FORMS, ISO_EXAMPLE, in_iso
from thalweg.columns.numerals import Decimal, with_point
from thalweg.sources.texts import as_text

if TYPE_CHECKING:
    import pyarrow as pa

#: How a missing number or time is written in text, in small or capital letters.
MISSING = ("", "na", "n/a", "nan", "null", "none", "?", "-")
#: The same for people, less the empty cell.
OR_MISSING = "NA, N/A, NaN, null, none, ? or -"


class BadCell(ValueError):
    """A cell that is not what its column is; ``at`` is its place."""

    def __init__(self, at: int, what: str) -> None:
        super().__init__(what)
        self.at = at
        self.what = what


def is_text(column: pa.ChunkedArray) -> bool:
    """Whether a column holds text, as all of a CSV file's do."""
    import pyarrow.types as types

    kind = column.type
    return bool(types.is_string(kind) or types.is_large_string(kind))


def trimmed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of text without blanks around, and nulls for what stands for a missing number or time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.utf8_trim_whitespace(column)
    missing = pc.is_in(pc.utf8_lower(column), value_set=pa.array(MISSING))
    if not pc.any(missing).as_py():
        return column
    return pc.if_else(missing, pa.scalar(None, column.type), column)


def numbers(column: pa.ChunkedArray, decimal: Decimal = ".") -> NDArray[np.float64]:
    """A column as numbers, NaN where one is missing; `BadCell` names the first cell that is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_text(column):
        values = _from_text(column if decimal == "." else _with_points(column))
    elif column.null_count == len(column):
        return np.full(len(column), np.nan)
    elif pa.types.is_boolean(column.type):
        at, cell = next((at, cell) for at, cell in enumerate(as_text(column).to_pylist()) if cell is not None)
        raise BadCell(at, f"{cell!r} is not a number")
    else:
        try:
            values = pc.cast(column, pa.float64(), safe=False)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise BadCell(0, f"a column of type {column.type} holds no numbers") from error
    found: NDArray[np.float64] = values.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    infinite = np.isinf(found) | (np.abs(found) > 1e50)
    if infinite.any():
        at = int(infinite.argmax())
        cell = as_text(column.slice(at, 1))[0].as_py()
        raise BadCell(at, f"{cell!r} is beyond the numbers that can be learned")
    return found


def _with_points(column: pa.ChunkedArray) -> Any:
    column = trimmed(column)
    points, wrong = with_point(column)
    places = np.flatnonzero(wrong.to_numpy())
    if len(places):
        at = int(places[0])
        raise BadCell(at, f"{column[at].as_py()!r} is not a number with a decimal comma")
    return points


def _from_text(column: pa.ChunkedArray) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return pc.cast(column, pa.float64())  # the quick way, for columns of clean numbers
    except pa.ArrowInvalid:
        column = trimmed(column)
    try:
        return pc.cast(column, pa.float64())
    except pa.ArrowInvalid as error:
        for at, cell in enumerate(column.to_pylist()):
            if cell is not None and not is_number(cell):
                raise BadCell(at, f"{cell!r} is not a number") from error
        return pa.chunked_array([[None if cell is None else float(cell) for cell in column.to_pylist()]], pa.float64())


def is_number(cell: str, decimal: Decimal = ".") -> bool:
    """Whether a cell can be read as a number."""
    import pyarrow as pa

    if decimal == ",":
        return not with_point(pa.chunked_array([[cell]], pa.string()))[1][0].as_py()
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_time(cell: str, form: str | None = None) -> bool:
    """Whether a cell can be read as a time."""
    import pyarrow as pa

    try:
        moments(pa.chunked_array([[cell]], pa.string()), form)
    except BadCell:
        return False
    return True


def moments(column: pa.ChunkedArray, form: str | None = None) -> NDArray[np.datetime64]:
    """A column as times, to the microsecond, NaT where one is missing; `BadCell` names the first that is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_time(column.type) or (pa.types.is_primitive(column.type) and not pa.types.is_temporal(column.type)):
        column = as_text(column)  # a time of day, a number or a truth value: as in a file of text
    if is_text(column):
        column = trimmed(column)
        iso = column if form is None else in_iso(column, form)
        try:
            column = pc.cast(iso, pa.timestamp("us"))
        except pa.ArrowInvalid:
            column = _one_by_one(column, iso, ISO_EXAMPLE if form is None else FORMS[form].example)
    elif column.null_count == len(column):
        return np.full(len(column), np.datetime64("NaT", "us"))
    elif not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
        raise BadCell(0, f"a column of type {column.type} holds no times")
    found = pc.cast(column, pa.timestamp("us"), safe=False).to_numpy()
    return np.asarray(found, dtype="datetime64[us]")


def _one_by_one(column: pa.ChunkedArray, iso: pa.ChunkedArray, example: str) -> Any:
    """Slowly: times with zones, which are turned to UTC."""
    from datetime import UTC, datetime

    import pyarrow as pa

    found: list[datetime | None] = []
    for at, cell in enumerate(iso.to_pylist()):
        if cell is None:
            found.append(None)
            continue
        try:
            when = datetime.fromisoformat(cell)
        except ValueError as error:
            raise BadCell(at, f"{column[at].as_py()!r} is not a time such as {example}") from error
        found.append(when if when.tzinfo is None else when.astimezone(UTC).replace(tzinfo=None))
    return pa.chunked_array([found], pa.timestamp("us"))


def names(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as text, null where a cell is empty; whole numbers are written without a point."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.utf8_trim_whitespace(as_text(column))
    empty = pc.equal(column, "")
    return pc.if_else(empty, pa.scalar(None, column.type), column) if pc.any(empty).as_py() else column
