"""Cells of a column: which are missing, and what the others are as numbers, times or names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from thalweg.tables.arrow_types import is_learnable
from thalweg.tables.number_forms import Decimal, is_number, plain_numbers, seconds_of
from thalweg.tables.rows import as_text
from thalweg.tables.timestamps import FORMS, times_in

if TYPE_CHECKING:
    import pyarrow as pa

#: Numbers beyond this cannot be learned.
LARGEST = 1e50
#: Letters of a key, or of a category that a schema names, at the most.
MOST_LETTERS = 1000
#: Different wrong cells that are looked for with the whole column.
_TOGETHER = 8
#: Letters of a cell that a message shows.
_SHOWN = 60
#: How a missing number or time is written in text, in small or capital letters.
MISSING = ("", "na", "n/a", "nan", "null", "none", "nil", "?", "-")
#: The same for people, less the empty cell.
OR_MISSING = "NA, N/A, NaN, null, none, nil, ? or -"


class BadCell(ValueError):
    """A cell that is not what its column is; ``at`` is its place."""

    def __init__(self, at: int, what: str) -> None:
        super().__init__(what)
        self.at = at
        self.what = what


def brief(cell: str) -> str:
    """A cell for a message: its beginning where it is long.

    Examples
    --------
    >>> brief("warm"), len(brief("warm" * 1000))
    ('warm', 60)
    """
    return cell if len(cell) <= _SHOWN else f"{cell[: _SHOWN - 2]} …"


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
    missing = pc.is_in(pc.utf8_lower(column), value_set=_missing())
    if not pc.any(missing).as_py():
        return column
    return pc.if_else(missing, pa.scalar(None, column.type), column)


@cache
def _missing() -> pa.Array:
    import pyarrow as pa

    return pa.array(MISSING)


def without(column: pa.ChunkedArray, na: Sequence[str]) -> pa.ChunkedArray:
    """A column with nulls for the cells that are one of these texts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> without(pa.chunked_array([["7", " unknown"]]), ["unknown"]).to_pylist()
    ['7', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not na or pa.types.is_duration(column.type) or not is_learnable(column.type):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    missing = pc.is_in(pc.utf8_trim_whitespace(as_text(column)), value_set=pa.array(na, pa.string()))
    return pc.if_else(missing, pa.scalar(None, column.type), column) if pc.any(missing).as_py() else column


def numbers(column: pa.ChunkedArray, decimal: Decimal = ".", unit: str = "") -> NDArray[np.float64]:
    """A column as numbers, NaN where one is missing; `BadCell` names the first cell that is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_text(column):
        values = _from_text(column, decimal, unit)
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
    converted: NDArray[np.float64] = values.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    infinite = np.isinf(converted) | (np.abs(converted) > LARGEST)
    if infinite.any():
        at = int(infinite.argmax())
        cell = as_text(column.slice(at, 1))[0].as_py()
        raise BadCell(at, f"{brief(cell)!r} is beyond the numbers that can be learned")
    return converted


def with_bits(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column with 1 and 0 for true and false, be they values or text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> with_bits(pa.chunked_array([["True", "false", "2.5", None]])).to_pylist()
    ['1', '0', '2.5', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (is_text(column) or pa.types.is_boolean(column.type)):
        return column
    cells = as_text(column)
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(cells))
    return pc.if_else(pc.equal(lower, "true"), "1", pc.if_else(pc.equal(lower, "false"), "0", cells))


def _from_text(column: pa.ChunkedArray, decimal: Decimal, unit: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if decimal == ".":
        try:
            return pc.cast(column, pa.float64())  # the quick way, for columns of clean numbers
        except pa.ArrowInvalid:
            column = trimmed(column)
        try:
            return pc.cast(column, pa.float64())
        except pa.ArrowInvalid:
            pass
    column = trimmed(column)
    plain, wrong = plain_numbers(column, decimal, unit)
    for at in np.flatnonzero(wrong.to_numpy()):
        cell = column[int(at)].as_py()
        if not (decimal == "." and is_number(cell)):
            expected = "a number" if decimal == "." else "a number with a decimal comma"
            raise BadCell(int(at), f"{brief(cell)!r} is not {expected}")
    try:
        return pc.cast(pc.if_else(wrong, column, plain), pa.float64())
    except pa.ArrowInvalid:
        cells = pc.if_else(wrong, column, plain).to_pylist()
        return pa.chunked_array([[None if cell is None else float(cell) for cell in cells]], pa.float64())


def durations(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """A column of durations in seconds, NaN where one is missing; plain numbers are seconds already."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_duration(column.type):
        column = pc.cast(pc.cast(column, pa.duration("ns"), safe=False), pa.int64())
        return np.asarray(pc.divide(pc.cast(column, pa.float64(), safe=False), 1e9).to_numpy())
    if not is_text(column):
        return numbers(column)
    lengths = np.full(len(column), np.nan)
    for at, cell in enumerate(trimmed(column).to_pylist()):
        if cell is None:
            continue
        seconds = float(cell) if is_number(cell) else seconds_of(cell)
        if seconds is None or not abs(seconds) <= LARGEST:
            raise BadCell(at, f"{brief(cell)!r} is not a duration such as 1 days 02:03:04 or PT5M")
        lengths[at] = seconds
    return lengths


class Parser(Protocol):
    """What reads the cells of a column."""

    def parse(self, column: Any) -> Any:
        """The cells as values; `BadCell` where one is none."""


def parsed(column: Parser, cells: Any) -> tuple[Any, list[tuple[int, str]]]:
    """The values of a column, with those missing that are none, and what is wrong with them.

    A text that is wrong is so wherever it occurs. A few are found with the whole column, more of them one by one.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    wrong: list[tuple[int, str]] = []
    for _ in range(_TOGETHER):
        try:
            return column.parse(cells), sorted(wrong)
        except BadCell as error:
            what, at = error.what, error.at
        if pa.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        if not (is_text(cells) or pa.types.is_primitive(cells.type)) or not cells[at].is_valid:
            break
        same = np.arange(len(cells)) == at
        if is_text(cells):
            same |= pc.fill_null(pc.equal(cells, cells[at]), False).to_numpy()
        wrong.extend((int(row), what) for row in np.flatnonzero(same))
        cells = pc.if_else(pa.array(same), pa.scalar(None, cells.type), cells)
    values: list[Any] = cells.to_pylist()
    faults = {value: _fault(column, value, cells.type) for value in {v for v in values if isinstance(v, str)}}
    for at, value in enumerate(values):
        fault = faults[value] if isinstance(value, str) else _fault(column, value, cells.type)
        if fault is not None:
            wrong.append((at, fault))
            values[at] = None
    return column.parse(pa.chunked_array([pa.array(values, type=cells.type)])), sorted(wrong)


def _fault(column: Parser, value: object, kind: pa.DataType) -> str | None:
    import pyarrow as pa

    try:
        column.parse(pa.chunked_array([pa.array([value], type=kind)]))
        return None
    except BadCell as error:
        return error.what


def timestamps(column: pa.ChunkedArray, form: str | None = None) -> NDArray[np.datetime64]:
    """A column as times, to the microsecond, NaT where one is missing; `BadCell` names the first that is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_time(column.type) or (pa.types.is_primitive(column.type) and not pa.types.is_temporal(column.type)):
        column = as_text(column)  # a time of day, a number or a truth value: as in a file of text
    if is_text(column):
        column = trimmed(column)
        if form is None:
            try:
                return np.asarray(pc.cast(column, pa.timestamp("us")).to_numpy(), dtype="datetime64[us]")
            except pa.ArrowInvalid:
                pass  # then with zones, or digits left out
        times, wrong = times_in(column, form)
        if wrong.any():
            at = int(wrong.argmax())
            raise BadCell(at, f"{brief(column[at].as_py())!r} is not a time such as {FORMS[form].example}")
        return times
    if column.null_count == len(column):
        return np.full(len(column), np.datetime64("NaT", "us"))
    if not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
        raise BadCell(0, f"a column of type {column.type} holds no times")
    return np.asarray(pc.cast(column, pa.timestamp("us"), safe=False).to_numpy(), dtype="datetime64[us]")


def spelled_as(word: str, known: Collection[str]) -> str:
    """A word as it is spelled among those known, where it says true or false: libraries differ in how they write it.

    Examples
    --------
    >>> spelled_as("true", ["False", "True"]), spelled_as("true", ["yes", "no"]), spelled_as("Yes", ["yes", "no"])
    ('True', 'true', 'Yes')
    """
    if word in known or word.lower() not in ("true", "false"):
        return word
    return next((name for name in known if name.lower() == word.lower()), word)


def names(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as text, null where a cell is empty; whole numbers are written without a point."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column), pa.string())])
    try:
        column = pc.utf8_trim_whitespace(as_text(column))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise BadCell(0, f"values of type {column.type} cannot be read as text") from error
    empty = pc.equal(column, "")
    return pc.if_else(empty, pa.scalar(None, column.type), column) if pc.any(empty).as_py() else column


#: Cells of a column: times, or the place of each among distinct names, -1 for a missing one.
Words = tuple[NDArray[np.int64], list[str]]
KeptCells = NDArray[np.datetime64] | Words


def part_of_cells(cells: KeptCells, rows: slice | NDArray[np.int64]) -> KeptCells:
    """The cells of some rows, with the names of no others.

    Examples
    --------
    >>> part_of_cells((np.array([0, 1, -1, 1]), ["wet", "dry"]), slice(1, 3))
    (array([ 0, -1]), ['dry'])
    """
    return part_of_words(cells, rows) if isinstance(cells, tuple) else cells[rows]


def part_of_words(words: Words, rows: slice | NDArray[np.int64]) -> Words:
    """The same of cells that are names."""
    places, names = words[0][rows], words[1]
    used = np.unique(places[places >= 0])
    if len(used) == len(names):
        return places, names
    codes = np.full(len(names) + 1, -1)
    codes[used] = np.arange(len(used))
    return codes[places], [names[at] for at in used.tolist()]
