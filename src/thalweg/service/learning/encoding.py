"""From rows of JSON or Arrow to cells to features; a row that cannot be used is named, with its column."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.client.protocol import MOST_COLUMNS, MOST_TEXT
from thalweg.history.history import History
from thalweg.history.inputs import Inputs
from thalweg.history.planning import encoder_from
from thalweg.service.commands import Refused
from thalweg.service.journal.compressed_rows import CompressedRows, Features, stacked
from thalweg.service.journal.records import LabelledRow, PredictBody
from thalweg.tables.cells import BadCell, KeptCells, parsed, part_of_cells
from thalweg.tables.columns.column import Column
from thalweg.tables.columns.map import entries_of
from thalweg.tables.encoder import Encoder
from thalweg.tables.ndjson_rows import column_of
from thalweg.tables.plan import Plan

Row = dict[str, Any]


@dataclass(frozen=True)
class Parsed:
    """Rows that can be used."""

    rows: int
    #: By column of the plan the cells, parsed; None of those that are made of earlier rows.
    cells: list[Any]
    #: The cells that features from earlier rows read, and what they take of them.
    read: Mapping[str, Any] = field(default_factory=dict)
    inputs: Inputs | None = None


def of_rows(rows: Sequence[Row], encoder: Encoder) -> Parsed:
    """The cells of each column; `Refused` names the first row that cannot be used."""
    known, learned = _known_columns(encoder)
    for at, row in enumerate(rows):
        if not row.keys() <= known:
            raise _bad_row(at, min(row.keys() - known), "the model has no such column")
        if learned.isdisjoint(row):
            raise Refused(422, f"row {at}: it has none of the columns that the model learns from")
    cells: list[Any] = []
    for column in encoder.plan.columns:
        name = column.name
        if name not in known:
            cells.append(None)
            continue
        values = [row.get(name, column.default) for row in rows]
        try:
            quick = _quickly(column, values)
        except BadCell as error:
            raise _bad_row(error.at, name, error.what) from error
        cells.append(_slowly(column, values) if quick is None else quick)
    if encoder.history is None:
        return _whole(encoder, cells, len(rows), {})
    read = {name: [row.get(name) for row in rows] for name in encoder.history.sources}
    return _whole(encoder, cells, len(rows), {name: _arrow_column(name, values) for name, values in read.items()})


def of_table(table: Any, encoder: Encoder) -> Parsed:
    """The same of a table of Arrow."""
    names, (known, learned) = table.column_names, _known_columns(encoder)
    if strange := set(names) - known:
        raise Refused(422, f"column {min(strange)!r}: the model has no such column")
    if len(table) and learned.isdisjoint(names):
        raise Refused(422, "the table has none of the columns that the model learns from")
    read = [
        _parse(column, table.column(column.name) if column.name in names else column.absent(len(table)))
        if column.name in known
        else None
        for column in encoder.plan.columns
    ]
    sources = () if encoder.history is None else encoder.history.sources
    return _whole(encoder, read, len(table), {name: table.column(name) for name in sources if name in names})


def _known_columns(encoder: Encoder) -> tuple[set[str], set[str]]:
    """Those that rows may have, and those of which they must have one."""
    known = set(encoder.accepted)
    return known, known - {column.name for column in encoder.plan.columns if column.required}


def as_table(rows: Sequence[Row]) -> Any:
    """Rows of JSON as a table of Arrow, with the columns that any of them has."""
    import pyarrow as pa

    names = dict.fromkeys(name for row in rows for name in row)
    if len(names) > MOST_COLUMNS:
        raise Refused(422, f"rows may have at most {MOST_COLUMNS} columns, got {len(names)}")
    if not names:
        raise Refused(422, "row 0: it has no column")
    columns = {name: [row.get(name) for row in rows] for name in names}
    return pa.table({name: _arrow_column(name, values) for name, values in columns.items()})


def _arrow_column(name: str, values: list[Any]) -> Any:
    """A column of which nothing is known yet: one of maps where any cell is an object."""
    import pyarrow as pa

    if any(isinstance(value, dict) for value in values):
        return pa.array(_entries(name, values, entries_of), pa.map_(pa.string(), pa.float64()))
    _require_plain(name, values)
    return column_of(values)


def _entries(column: str, values: Sequence[Any], entries: Callable[[Any], list[tuple[Any, float]]]) -> list[Any]:
    """The entries of each cell; `Refused` names the first row with a cell that has none."""
    read: list[Any] = []
    for at, value in enumerate(values):
        try:
            read.append(None if value is None else entries(value))
        except BadCell as error:
            raise _bad_row(at, column, error.what) from error
    return read


def gaps_of(encoder: Encoder, columns: Sequence[Any]) -> NDArray[np.bool_] | None:
    """Which cells of the columns of numbers are missing; None for none."""
    numbers = [v for c, v in zip(encoder.plan.columns, columns, strict=True) if c.is_number]
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


def _whole(encoder: Encoder, cells: list[Any], rows: int, read: Mapping[str, Any]) -> Parsed:
    _require_whole(encoder, cells)
    if encoder.history is None:
        return Parsed(rows, cells)
    import pyarrow as pa

    try:
        chunks = {
            name: values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
            for name, values in read.items()
        }
        return Parsed(rows, cells, chunks, encoder.history.inputs(chunks, rows))
    except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
        what = " ".join(str(error).split())
        raise Refused(422, f"columns that features from earlier rows read cannot be read: {what}") from error


def _require_whole(encoder: Encoder, columns: Sequence[Any]) -> None:
    for column, values in zip(encoder.plan.columns, columns, strict=True):
        if values is None or not (encoder.missing == "error" or column.required):
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
    #: What features from earlier rows took of these, and the last record whose labels they knew.
    inputs: Inputs | None = None
    known: int = 0

    @classmethod
    def of_body(cls, body: PredictBody) -> Encoded:
        """The rows of a record, less those that were erased."""
        if not body.erased:
            return cls(body.X, body.gaps, body.categories or {}, body.cells, body.inputs, body.known)
        kept = np.delete(np.arange(len(body.X)), body.erased)
        X = stacked([body.X[row : row + 1] for row in kept.tolist()]) if len(kept) else body.X[:0]
        gaps = None if body.gaps is None else body.gaps[kept]
        cells = {name: part_of_cells(values, kept) for name, values in body.cells.items()}
        inputs = None if body.inputs is None else body.inputs.part(kept)
        return cls(X, gaps, body.categories or {}, cells, inputs, body.known)


#: Labels that have become known: their record, and what features from earlier rows take of them.
KnownLabels = tuple[int, Inputs]


def encode(encoder: Encoder, parsed: Parsed, labels: Sequence[KnownLabels] = (), *, learn: bool = True) -> Encoded:
    """The features of parsed cells; the encoder remembers them, if it is to learn.

    Features from earlier rows know those of these labels that they did not know before. `Refused` changes nothing.
    """
    with nullcontext() if learn else encoder.passing():
        columns = _with_made(encoder, parsed, labels)
        through = 0 if encoder.history is None else encoder.history.known
    known = [len(column.categories) for column in encoder.plan.columns]
    gaps = gaps_of(encoder, columns)
    X = encoder.features(columns, parsed.rows, learn=learn)
    new = {
        column.name: list(column.categories)[before:]
        for column, before in zip(encoder.plan.columns, known, strict=True)
        if len(column.categories) > before
    }
    kept = {column.name: cells for column, cells in zip(encoder.plan.columns, columns, strict=True) if column.is_kept}
    rows = X if isinstance(X, np.ndarray) else CompressedRows.of(X)
    return Encoded(rows, gaps, new, kept, parsed.inputs, through)


def _with_made(encoder: Encoder, parsed: Parsed, labels: Sequence[KnownLabels]) -> list[Any]:
    """The cells of all columns of the plan, those that are made of earlier rows among them."""
    if encoder.history is None or parsed.inputs is None:
        return parsed.cells
    history, marks = encoder.history, encoder.history.mark() if encoder.missing == "error" else None
    take_labels(history, labels)
    made = history.columns(history.remember(parsed.inputs), parsed.read, parsed.rows)
    columns = [
        _parse(column, made[column.name]) if cells is None else cells
        for column, cells in zip(encoder.plan.columns, parsed.cells, strict=True)
    ]
    try:
        _require_whole(encoder, columns)
    except Refused:
        history.undo(marks)
        raise
    return columns


def take_labels(history: History, labels: Sequence[KnownLabels], through: int | None = None) -> None:
    """Let features from earlier rows know labels, up to a record, that they did not know before."""
    for seq, inputs in labels[bisect_right(labels, history.known, key=_record) :]:
        if through is not None and seq > through:
            break
        history.know(inputs)
        history.known = seq


_record = itemgetter(0)


def gaps_together(parts: Sequence[tuple[Features, NDArray[np.bool_] | None]]) -> NDArray[np.bool_] | None:
    """The missing numbers of rows that came apart."""
    width = next((gaps.shape[1] for _, gaps in parts if gaps is not None), None)
    if width is None:
        return None
    return np.concatenate([np.zeros((len(X), width), np.bool_) if gaps is None else gaps for X, gaps in parts])


def read_back(plan: Plan, X: Features, gaps: NDArray[np.bool_] | None, kept: Mapping[str, Any]) -> list[Any]:
    """The parsed cells of recorded rows; None of columns of which only features are recorded."""
    named = X.first_features(len(plan.feature_names)) if isinstance(X, CompressedRows) else X
    columns: list[Any] = []
    start = number = 0
    for column in plan.columns:
        columns.append(kept.get(column.name))
        if column.is_number:
            values = named[:, start]
            columns[-1] = values if gaps is None else np.where(gaps[:, number], np.nan, values)
            number += 1
        start += len(column.features)
    return columns


def copied(encoder: Encoder, labels: Sequence[KnownLabels] = ()) -> Encoder:
    """An encoder apart, with all that it remembers, and knows these labels."""
    history = encoder.history
    twin = encoder_from(encoder.to_json(), None if history is None else history.arrays())
    if history is not None:
        take_labels(twin.history, labels)
    return twin


class Follower:
    """An encoder that is behind another one, and can be brought to where that was after any record.

    It is given as it was after the last record that was followed, and belongs to the follower from now on.
    """

    def __init__(self, encoder: Encoder, labels: Sequence[KnownLabels] = ()) -> None:
        self._encoder = encoder
        #: Labels that no row has known yet. Others read it meanwhile: it only grows, or is replaced.
        self.labels = list(labels)
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
        if (history := self._encoder.history) is not None and encoded.inputs is not None:
            with history.lock:
                take_labels(history, self.labels, encoded.known)
                history.remember(encoded.inputs)
            if self.labels and self.labels[0][0] <= history.known:
                self.labels = self.labels[bisect_right(self.labels, history.known, key=_record) :]

    def past(self) -> dict[str, Any] | None:
        """What features from earlier rows remember, and the labels that no row has known yet; None without any."""
        history = self._encoder.history
        if history is None:
            return None
        labels = [
            [seq, inputs.numbers, [[at, *words] for at, words in inputs.words.items()]] for seq, inputs in self.labels
        ]
        return {"history": history.state(), "labels": labels}

    def remember(self, past: Mapping[str, Any]) -> None:
        """Continue from what `past` gave."""
        self._encoder.history.restore(past["history"])
        self.labels = [
            (seq, Inputs(numbers, {at: (places, names) for at, places, names in words}))
            for seq, numbers, words in past["labels"]
        ]

    def label(self, seq: int, rows: Sequence[LabelledRow]) -> None:
        """These labels came in a record; rows that are asked later may know them."""
        if (history := self._encoder.history) is not None and history.reads_target:
            known = [(row.rows.body.inputs, row.row) for row in rows if row.rows.body.inputs is not None]
            if known:
                own = [row.label for row in rows if row.rows.body.inputs is not None]
                self.labels.append((seq, history.with_targets(known, own)))

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
