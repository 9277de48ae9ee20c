"""From rows of JSON or Arrow to cells to features; a row that cannot be used is named, with its column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.client.protocol import MOST_COLUMNS, MOST_TEXT
from thalweg.service.commands import Refused
from thalweg.service.journal.compressed_rows import CompressedRows, Features, stacked
from thalweg.service.journal.records import KeptCells, PredictBody, part_of_cells
from thalweg.tables.cells import BadCell, parsed
from thalweg.tables.columns.column import Column
from thalweg.tables.columns.map import entries_of
from thalweg.tables.encoder import Encoder
from thalweg.tables.ndjson_rows import column_of
from thalweg.tables.plan import Plan

Row = dict[str, Any]


def of_rows(rows: Sequence[Row], encoder: Encoder) -> list[Any]:
    """The cells of each column, parsed; `Refused` names the first row that cannot be used."""
    known = frozenset(encoder.plan.names)
    learned = {column.name for column in encoder.plan.columns if not column.required}
    for at, row in enumerate(rows):
        if not row.keys() <= known:
            raise _bad_row(at, min(row.keys() - known), "the model has no such column")
        if learned.isdisjoint(row):
            raise Refused(422, f"row {at}: it has none of the columns that the model learns from")
    found = []
    for column in encoder.plan.columns:
        name = column.name
        values = [row.get(name, column.default) for row in rows]
        try:
            quick = _quickly(column, values)
        except BadCell as error:
            raise _bad_row(error.at, name, error.what) from error
        found.append(_slowly(column, values) if quick is None else quick)
    _require_whole(encoder, found)
    return found


def of_table(table: Any, encoder: Encoder) -> list[Any]:
    """The same of a table of Arrow."""
    names = table.column_names
    if strange := set(names) - set(encoder.plan.names):
        raise Refused(422, f"column {min(strange)!r}: the model has no such column")
    if len(table) and not any(column.name in names and not column.required for column in encoder.plan.columns):
        raise Refused(422, "the table has none of the columns that the model learns from")
    found = [
        _parse(column, table.column(column.name) if column.name in names else column.absent(len(table)))
        for column in encoder.plan.columns
    ]
    _require_whole(encoder, found)
    return found


def as_table(rows: Sequence[Row]) -> Any:
    """Rows of JSON as a table of Arrow, with the columns that any of them has."""
    import pyarrow as pa

    names = dict.fromkeys(name for row in rows for name in row)
    if len(names) > MOST_COLUMNS:
        raise Refused(422, f"rows may have at most {MOST_COLUMNS} columns, got {len(names)}")
    if not names:
        raise Refused(422, "row 0: it has no column")
    found = {name: [row.get(name) for row in rows] for name in names}
    return pa.table({name: _arrow_column(name, values) for name, values in found.items()})


def _arrow_column(name: str, values: list[Any]) -> Any:
    """A column of which nothing is known yet: one of maps where any cell is an object."""
    import pyarrow as pa

    if any(isinstance(value, dict) for value in values):
        return pa.array(_entries(name, values, entries_of), pa.map_(pa.string(), pa.float64()))
    _require_plain(name, values)
    return column_of(values)


def _entries(column: str, values: Sequence[Any], entries: Callable[[Any], list[tuple[Any, float]]]) -> list[Any]:
    """The entries of each cell; `Refused` names the first row with a cell that has none."""
    found: list[Any] = []
    for at, value in enumerate(values):
        try:
            found.append(None if value is None else entries(value))
        except BadCell as error:
            raise _bad_row(at, column, error.what) from error
    return found


def gaps_of(encoder: Encoder, found: Sequence[Any]) -> NDArray[np.bool_] | None:
    """Which cells of the columns of numbers are missing; None for none."""
    numbers = [v for c, v in zip(encoder.plan.columns, found, strict=True) if c.is_number]
    if not numbers:
        return None
    gaps: NDArray[np.bool_] = np.isnan(np.stack(numbers, axis=1))
    return gaps if gaps.any() else None


def _quickly(column: Column, values: list[Any]) -> Any:
    """Cells of the expected kind; None where there are others among them."""
    if column.declared_as == "categories" and any(type(word) is str and len(word) > MOST_TEXT for word in values):
        return None
    return column.parse_values(values)


def _slowly(column: Column, values: list[Any]) -> Any:
    import pyarrow as pa

    try:
        cells = column.as_arrow(values)
    except BadCell as error:
        raise _bad_row(error.at, column.name, error.what) from error
    if cells is None:
        _require_plain(column.name, values, most=None if column.sparse else MOST_TEXT)
        cells = column_of(values)
    return _parse(column, pa.chunked_array([cells]))


def _require_plain(column: str, values: Sequence[Any], most: int | None = MOST_TEXT) -> None:
    for at, value in enumerate(values):
        if isinstance(value, dict | list):
            raise _bad_row(at, column, "a cell must be a number, a text, true, false or null")
        if most is not None and isinstance(value, str) and len(value) > most:
            raise _bad_row(at, column, f"a text may have at most {most} letters")


def _parse(column: Column, cells: Any) -> Any:
    import pyarrow as pa

    try:
        values, wrong = parsed(column, cells)
    except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
        what = f"values of type {cells.type} cannot be read: {' '.join(str(error).split())}"
        raise _bad_row(_first_unreadable(column, cells), column.name, what) from error
    if wrong:
        raise _bad_row(wrong[0][0], column.name, wrong[0][1])
    return values


def _first_unreadable(column: Column, cells: Any) -> int:
    """The place of the first cell that makes reading fail, by halves."""
    low, high = 0, len(cells)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            parsed(column, cells[low:middle])
            low = middle
        except Exception:
            high = middle
    return low


def _require_whole(encoder: Encoder, found: Sequence[Any]) -> None:
    for column, values in zip(encoder.plan.columns, found, strict=True):
        if not (encoder.missing == "error" or column.required):
            continue
        places = np.flatnonzero(column.missing(values))
        if len(places):
            what = f"the {column.kind if column.required else 'value'} is missing"
            raise _bad_row(int(places[0]), column.name, what)


def _bad_row(at: int, column: str, what: str) -> Refused:
    return Refused(422, f"row {at}, column {column!r}: {what}")


#: Rows that may wait before a follower takes them in.
_PATIENCE = 65_536


@dataclass(frozen=True)
class Encoded:
    """Rows as features, and what the encoder learned from them."""

    X: Features
    gaps: NDArray[np.bool_] | None
    categories: dict[str, list[str]]
    #: By column, the cells that features do not show.
    cells: dict[str, KeptCells]

    @classmethod
    def of_body(cls, body: PredictBody) -> Encoded:
        """The rows of a record, less those that were erased."""
        if not body.erased:
            return cls(body.X, body.gaps, body.categories or {}, body.cells)
        kept = np.delete(np.arange(len(body.X)), body.erased)
        X = stacked([body.X[row : row + 1] for row in kept.tolist()]) if len(kept) else body.X[:0]
        gaps = None if body.gaps is None else body.gaps[kept]
        cells = {name: part_of_cells(each, kept) for name, each in body.cells.items()}
        return cls(X, gaps, body.categories or {}, cells)


def encode(encoder: Encoder, found: Sequence[Any], rows: int, *, learn: bool = True) -> Encoded:
    """The features of parsed cells; the encoder remembers them, if it is to learn."""
    known = [len(column.categories) for column in encoder.plan.columns]
    gaps = gaps_of(encoder, found)
    X = encoder.features(found, rows, learn=learn)
    new = {
        column.name: list(column.categories)[before:]
        for column, before in zip(encoder.plan.columns, known, strict=True)
        if len(column.categories) > before
    }
    kept = {column.name: cells for column, cells in zip(encoder.plan.columns, found, strict=True) if column.is_kept}
    return Encoded(X if isinstance(X, np.ndarray) else CompressedRows.of(X), gaps, new, kept)


def gaps_together(parts: Sequence[tuple[Features, NDArray[np.bool_] | None]]) -> NDArray[np.bool_] | None:
    """The missing numbers of rows that came apart."""
    width = next((gaps.shape[1] for _, gaps in parts if gaps is not None), None)
    if width is None:
        return None
    return np.concatenate([np.zeros((len(X), width), np.bool_) if gaps is None else gaps for X, gaps in parts])


def read_back(plan: Plan, X: Features, gaps: NDArray[np.bool_] | None, kept: Mapping[str, Any]) -> list[Any]:
    """The parsed cells of recorded rows; None of columns of which only features are recorded."""
    named = X.first_features(len(plan.feature_names)) if isinstance(X, CompressedRows) else X
    found: list[Any] = []
    start = number = 0
    for column in plan.columns:
        found.append(kept.get(column.name))
        if column.is_number:
            values = named[:, start]
            found[-1] = values if gaps is None else np.where(gaps[:, number], np.nan, values)
            number += 1
        start += len(column.features)
    return found


class Follower:
    """An encoder that is behind another one, and can be brought to where that was after any record.

    It is given as it was after the last record that was followed, and belongs to the follower from now on.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._named = len(encoder.plan.feature_names)
        self._rows: list[tuple[NDArray[np.float64], NDArray[np.bool_] | None]] = []
        self._waiting = 0

    def follow(self, encoded: Encoded) -> None:
        """The other encoder has learned these rows; of sparse columns nothing is kept that features depend on."""
        X = encoded.X.first_features(self._named) if isinstance(encoded.X, CompressedRows) else encoded.X
        self._rows.append((X, encoded.gaps))
        for column in self._encoder.plan.columns:
            for category in encoded.categories.get(column.name, ()):
                column.categories[category] = len(column.categories)
        self._waiting += len(X)
        if self._waiting > _PATIENCE:
            self._settle()

    @property
    def plan(self) -> Plan:
        """What the columns are, which does not change."""
        return self._encoder.plan

    def feature_names(self) -> tuple[str, ...]:
        """All features, with the categories that were taken in by their names."""
        return self._encoder.feature_names()

    def encoder(self) -> Encoder:
        """The encoder, with all rows that were followed; to be read only."""
        self._settle()
        return self._encoder

    def _settle(self) -> None:
        if not self._rows:
            return
        X, gaps = np.concatenate([rows for rows, _ in self._rows]), gaps_together(self._rows)
        for column, values in zip(self.plan.columns, read_back(self.plan, X, gaps, {}), strict=True):
            if column.is_number:
                column.encode(values, np.empty((len(X), column.width)), learn=True)
        self._rows, self._waiting = [], 0
