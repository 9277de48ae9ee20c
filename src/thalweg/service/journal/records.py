"""What the journal holds: records, their bodies as few bytes, and records as events, ready to be applied to a model.

A predict record keeps the rows as features, dense or compressed, not as they were sent: what was predicted is what will
be learned, whatever the encoder has seen by then. Missing cells and new categories are kept beside them, so that the
encoder can be rebuilt, and the cells of times and categories, which features do not show, so that these are watched.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, overload

import numpy as np
import orjson
from numpy.typing import NDArray

from thalweg.errors import JournalDamaged
from thalweg.service.journal.compressed_rows import CompressedRows, Features

#: What may happen to a model. A "revise" is a label request that also changes labels given before; a "void" withdraws
#: rows, with or without a label. A "version" names the state at its record; a "rollback" holds the older state.
#: "columns" adds, retires or renames some, and holds the learners of wider rows.
Kind = Literal[
    "create",
    "challenge",
    "schema",
    "columns",
    "predict",
    "label",
    "revise",
    "void",
    "expire",
    "promote",
    "archive",
    "restore",
    "version",
    "rollback",
]


@dataclass(slots=True)
class Record:
    """One accepted request, or one decision of the service itself."""

    #: From 1, without gaps, in the order in which things happened.
    seq: int
    #: The name that clients ask; of a challenger, that of the model it challenges.
    model: str
    kind: Kind
    #: In microseconds since 1970; never before that of the record before.
    time: int
    #: How many rows were predicted, or labels learned for the first time.
    rows: int
    body: bytes
    #: As it is in the journal; empty before it is written.
    checksum: bytes = b""


@dataclass(frozen=True, slots=True)
class LabelLink:
    """A label record speaks of rows of a predict record: the way from a row to its labels."""

    #: The predict record.
    asked: int
    #: The label record.
    seq: int
    #: How many of its rows got their first label there.
    rows: int


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """The response to a request that came with an idempotency key."""

    key: str
    #: SHA-256 over what was asked.
    request: bytes
    status: int
    media: str
    body: bytes
    #: The record that the request became; None where it was only read.
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a snapshot: a model by its name, or under the empty name what the service remembers beside it."""

    model: str
    seq: int
    name: str
    sha256: bytes
    body: bytes


#: The part of a snapshot with what is watched of the columns, rows among it; no model can have this name.
WATCHED_COLUMNS = ".columns"

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
#: Text of a classifier, a number of a regression model.
LabelValue = str | float
#: A prediction before any label was known.
NO_PREDICTION = -1


@dataclass(slots=True)
class PredictedLabels:
    """What one model predicted: the labels it knew, and the place of each prediction among them."""

    labels: list[str]
    codes: NDArray[np.int16]
    #: P(positive), where the model has a positive label and probabilities; NaN before any label was known.
    of_positive: Floats | None = None
    #: Of a committee: what its members predicted, by which they are judged when the label comes (`KeptPredictions`).
    members: NDArray[np.uint8] | None = None

    def part(self, rows: slice) -> PredictedLabels:
        """The predictions for some of the rows."""
        of_positive = None if self.of_positive is None else self.of_positive[rows]
        members = None if self.members is None else self.members[rows]
        return PredictedLabels(self.labels, self.codes[rows], of_positive, members)

    def without(self, rows: Sequence[int]) -> PredictedLabels:
        """The same with no predictions for some of the rows."""
        codes = self.codes.copy()
        codes[list(rows)] = NO_PREDICTION
        members = None if self.members is None else self.members.copy()
        if members is not None:
            members[list(rows)] = 0
        return PredictedLabels(self.labels, codes, _with_nan(self.of_positive, rows), members)

    def __getitem__(self, row: int) -> str | None:
        code = self.codes[row]
        return None if code == NO_PREDICTION else self.labels[code]


@dataclass(slots=True)
class PredictedNumbers:
    """What one regression model predicted for each row: a number within an interval; NaN before any label was known."""

    values: Floats
    lower: Floats
    upper: Floats
    #: Rows x members: what each member of a mixture said, by which it is judged when the label comes.
    members: Floats

    def part(self, rows: slice) -> PredictedNumbers:
        """The predictions for some of the rows."""
        return PredictedNumbers(self.values[rows], self.lower[rows], self.upper[rows], self.members[rows])

    def without(self, rows: Sequence[int]) -> PredictedNumbers:
        """The same with no predictions for some of the rows."""
        return PredictedNumbers(
            *(_with_nan(each, rows) for each in (self.values, self.lower, self.upper, self.members))
        )

    def __getitem__(self, row: int) -> float | None:
        value = float(self.values[row])
        return None if math.isnan(value) else value


Predicted = PredictedLabels | PredictedNumbers
#: Cells of a column: times, or the place of each among distinct names, -1 for a missing one.
KeptCells = NDArray[np.datetime64] | tuple[NDArray[np.int64], list[str]]


def part_of_cells(cells: KeptCells, rows: slice | NDArray[np.int64]) -> KeptCells:
    """The cells of some rows, with the names of no others.

    Examples
    --------
    >>> part_of_cells((np.array([0, 1, -1, 1]), ["wet", "dry"]), slice(1, 3))
    (array([ 0, -1]), ['dry'])
    """
    if not isinstance(cells, tuple):
        return cells[rows]
    places, names = cells[0][rows], cells[1]
    used = np.unique(places[places >= 0])
    if len(used) == len(names):
        return places, names
    codes = np.full(len(names) + 1, -1)
    codes[used] = np.arange(len(used))
    return codes[places], [names[at] for at in used.tolist()]


@overload
def _with_nan(values: Floats, rows: Sequence[int]) -> Floats: ...
@overload
def _with_nan(values: None, rows: Sequence[int]) -> None: ...
def _with_nan(values: Floats | None, rows: Sequence[int]) -> Floats | None:
    if values is None:
        return None
    found = values.copy()
    found[list(rows)] = math.nan
    return found


def _without_cells(cells: KeptCells, rows: Sequence[int]) -> KeptCells:
    """The same with missing cells in some of the rows."""
    if isinstance(cells, tuple):
        places = cells[0].copy()
        places[list(rows)] = -1
        return part_of_cells((places, cells[1]), slice(None))
    found = cells.copy()
    found[list(rows)] = np.datetime64("NaT")
    return found


@dataclass(slots=True)
class PredictBody:
    """Rows that were predicted."""

    X: Features
    #: By model, the champion under the name that clients ask.
    predictions: Mapping[str, Predicted]
    #: The last label known to the model that predicted: what no-change would have said.
    last: LabelValue | None
    #: Seq of the last label record that it had learned.
    version: int
    #: Which cells of columns of numbers were missing; None for none of them.
    gaps: Flags | None = None
    #: By column, the categories that were new.
    categories: dict[str, list[str]] | None = None
    #: Where labels are numbers, what baselines predicted, by those known by then.
    baselines: Mapping[str, float] = field(default_factory=dict)
    #: How many rows were predicted before these.
    before: int = 0
    #: Rows whose values, predictions and labels were erased.
    erased: tuple[int, ...] = ()
    #: By column, the cells that features do not show.
    cells: dict[str, KeptCells] = field(default_factory=dict)

    def without(self, rows: Collection[int]) -> PredictBody:
        """The same after some of the rows were erased; they keep their places."""
        gone = sorted(rows)
        if isinstance(self.X, CompressedRows):
            X: Features = self.X.without_values(gone)
        else:
            X = self.X.copy()
            X[gone] = 0.0
        gaps = None if self.gaps is None else self.gaps.copy()
        if gaps is not None:
            gaps[gone] = False
        predictions = {name: each.without(gone) for name, each in self.predictions.items()}
        erased = tuple(sorted({*self.erased, *gone}))
        cells = {name: _without_cells(each, gone) for name, each in self.cells.items()}
        return replace(self, X=X, predictions=predictions, gaps=gaps, erased=erased, cells=cells)

    def to_bytes(self) -> bytes:
        header: dict[str, Any] = {
            "shape": (len(self.X), self.X.width) if isinstance(self.X, CompressedRows) else self.X.shape,
            "last": self.last,
            "version": self.version,
        }
        if isinstance(self.X, CompressedRows):
            header["entries"] = len(self.X.values)
        labels = {name: each for name, each in self.predictions.items() if isinstance(each, PredictedLabels)}
        numbers = {name: each for name, each in self.predictions.items() if isinstance(each, PredictedNumbers)}
        header["labels"] = {name: each.labels for name, each in labels.items()}
        if numbers:
            widths = {name: each.members.shape[1] for name, each in numbers.items()}
            header |= {"numbers": widths, "baselines": self.baselines, "before": self.before}
        if self.categories:
            header["categories"] = self.categories
        if self.erased:
            header["erased"] = self.erased
        scores = {name: each.of_positive for name, each in labels.items() if each.of_positive is not None}
        if scores:
            header["of_positive"] = list(scores)
        named = {name: each for name, each in self.cells.items() if isinstance(each, tuple)}
        times = {name: each for name, each in self.cells.items() if not isinstance(each, tuple)}
        if self.cells:
            header |= {"times": list(times), "names": {name: names for name, (_, names) in named.items()}}
        members = {name: each.members for name, each in labels.items() if each.members is not None}
        if members:
            header["members"] = {name: each.shape[1] for name, each in members.items()}
        arrays = [
            self.X.to_bytes() if isinstance(self.X, CompressedRows) else self.X.tobytes(),
            *(
                part.tobytes()
                for each in numbers.values()
                for part in (each.values, each.lower, each.upper, each.members)
            ),
            *(each.tobytes() for each in scores.values()),
            *(each.astype("datetime64[us]").tobytes() for each in times.values()),
            *(places.astype(np.int32).tobytes() for places, _ in named.values()),
            *(each.codes.tobytes() for each in labels.values()),
            *(each.tobytes() for each in members.values()),
        ]
        if self.gaps is not None:
            header["gaps"] = self.gaps.shape
            arrays.append(np.packbits(self.gaps).tobytes())
        return _with_header(header, arrays)

    @classmethod
    def from_bytes(cls, body: bytes) -> PredictBody:
        header, at = _header(body)
        rows, features = header["shape"]
        X: Features
        if "entries" in header:
            X, at = CompressedRows.from_bytes(body, at, header["shape"], header["entries"])
        else:
            X = np.frombuffer(body, np.float64, rows * features, at).reshape(rows, features)
            at += X.nbytes
        predictions: dict[str, Predicted] = {}
        for name, members in header.get("numbers", {}).items():
            values = np.frombuffer(body, np.float64, (3 + members) * rows, at)
            given, lower, upper = values[: 3 * rows].reshape(3, rows)
            predictions[name] = PredictedNumbers(given, lower, upper, values[3 * rows :].reshape(rows, members))
            at += values.nbytes
        scores = {}
        for name in header.get("of_positive", ()):
            scores[name] = np.frombuffer(body, np.float64, rows, at)
            at += 8 * rows
        cells: dict[str, KeptCells] = {}
        for name in header.get("times", ()):
            cells[name] = np.frombuffer(body, "datetime64[us]", rows, at)
            at += 8 * rows
        for name, names in header.get("names", {}).items():
            cells[name] = np.frombuffer(body, np.int32, rows, at).astype(np.int64), names
            at += 4 * rows
        for name, labels in header["labels"].items():
            predictions[name] = PredictedLabels(labels, np.frombuffer(body, np.int16, rows, at), scores.get(name))
            at += 2 * rows
        for name, width in header.get("members", {}).items():
            given_labels = predictions[name]
            assert isinstance(given_labels, PredictedLabels)
            given_labels.members = np.frombuffer(body, np.uint8, width * rows, at).reshape(rows, width)
            at += width * rows
        gaps = None
        if "gaps" in header:
            shape = header["gaps"]
            bits = np.unpackbits(np.frombuffer(body, np.uint8, -1, at), count=shape[0] * shape[1])
            gaps = bits.astype(np.bool_).reshape(shape)
        baselines = header.get("baselines", {}), header.get("before", 0)
        erased = tuple(header.get("erased", ()))
        new = header.get("categories")
        return cls(X, predictions, header["last"], header["version"], gaps, new, *baselines, erased, cells)


@dataclass(frozen=True, slots=True)
class LabelBody:
    """Labels of rows, each by the seq of its predict record and its place there; None for one that was erased."""

    #: asked, row, label: labels that came for the first time, in the order in which they are learned.
    learned: list[tuple[int, int, LabelValue | None]]
    #: asked, row, label, seq of its first label record: labels that take the place of others. Of a "void" record the
    #: label means nothing but whether it was erased, and the seq is 0 of rows without a label.
    revised: list[tuple[int, int, LabelValue | None, int]]
    #: Whether rows were erased with it.
    erases: bool = False

    def without(self, rows: Collection[tuple[int, int]]) -> LabelBody:
        """The same without the labels of some rows, each by its predict record and its place."""
        return LabelBody(
            [(asked, row, None if (asked, row) in rows else label) for asked, row, label in self.learned],
            [
                (asked, row, None if first and (asked, row) in rows else label, first)
                for asked, row, label, first in self.revised
            ],
            self.erases,
        )

    def to_bytes(self) -> bytes:
        labels = list(dict.fromkeys([each[2] for each in self.learned] + [each[2] for each in self.revised]))
        code = {label: at for at, label in enumerate(labels)}
        learned = np.array([(asked, row, code[label]) for asked, row, label in self.learned], dtype=np.int64)
        revised = np.array([(asked, row, code[label], at) for asked, row, label, at in self.revised], dtype=np.int64)
        counts = {"learned": len(self.learned), "revised": len(self.revised)}
        header = {"labels": labels, "erases": self.erases, **counts}
        return _with_header(header, [learned.tobytes(), revised.tobytes()])

    @classmethod
    def from_bytes(cls, body: bytes) -> LabelBody:
        header, at = _header(body)
        labels = header["labels"]
        learned = np.frombuffer(body, np.int64, 3 * header["learned"], at).reshape(-1, 3)
        revised = np.frombuffer(body, np.int64, 4 * header["revised"], at + learned.nbytes).reshape(-1, 4)
        return cls(
            [(asked, row, labels[code]) for asked, row, code in learned.tolist()],
            [(asked, row, labels[code], first) for asked, row, code, first in revised.tolist()],
            header["erases"],
        )


def row_id(seq: int, row: int) -> str:
    """The id of a row.

    Examples
    --------
    >>> row_id(12, 0)
    '12-0'
    """
    return f"{seq}-{row}"


@dataclass
class LabelOutcome:
    """What becomes of the labels of a request."""

    learned: list[LabelledRow] = field(default_factory=list)
    #: With the record in which the first label came.
    revised: list[tuple[LabelledRow, int]] = field(default_factory=list)
    repeated: int = 0
    unknown: list[str] = field(default_factory=list)
    expired: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    #: Labels that the model did not know, where labels are classes.
    new_labels: list[str] = field(default_factory=list)
    #: Rows that are withdrawn, with the record in which the first label came, or 0 for none.
    voided: list[tuple[PredictedRows, int, int]] = field(default_factory=list)
    #: Predict record and place of rows that are erased.
    erased: list[tuple[int, int]] = field(default_factory=list)

    def body(self) -> LabelBody:
        return LabelBody(
            [(each.rows.seq, each.row, each.label) for each in self.learned],
            [
                *((each.rows.seq, each.row, each.label, first) for each, first in self.revised),
                *((rows.seq, row, "", first) for rows, row, first in self.voided),
            ],
            bool(self.erased),
        )

    @property
    def reaches_back(self) -> bool:
        """Whether what was learned before is changed."""
        return bool(self.revised) or any(first for _, _, first in self.voided)


Body = TypeVar("Body", PredictBody, LabelBody)


def body_of(record: Record, kind: type[Body]) -> Body:
    """The body of a record; `JournalDamaged` where it makes no sense."""
    try:
        return kind.from_bytes(record.body)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise JournalDamaged(f"record {record.seq} of the journal is damaged: {error}") from error


@dataclass(slots=True)
class PredictedRows:
    """A predict record, ready to be learned from."""

    seq: int
    model: str
    time: int
    body: PredictBody
    #: By row, its label as it is now, and the record in which the first one came. A row that was withdrawn has None for
    #: a label, and 0 for the record if it never had one.
    labels: dict[int, tuple[LabelValue | None, int]]

    def __len__(self) -> int:
        return len(self.body.X)


@dataclass(frozen=True, slots=True)
class LabelledRow:
    rows: PredictedRows
    row: int
    label: LabelValue


@dataclass(frozen=True, slots=True)
class LabelsArrived:
    """A label record: what is to be learned, in order."""

    seq: int
    time: int
    labelled: list[LabelledRow]
    #: Whether it also changes or withdraws labels that were learned before.
    revises: bool = False
    #: How many rows it withdraws.
    voided: int = 0
    #: Whether rows are erased, so that no value may be kept.
    erases: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Any other record, with its body as JSON."""

    seq: int
    kind: str
    time: int
    body: dict[str, Any]


Event = PredictedRows | LabelsArrived | Decision


def _with_header(header: dict[str, Any], arrays: Sequence[bytes]) -> bytes:
    """Padded, so that numbers begin at a multiple of eight bytes."""
    text = orjson.dumps(header)
    text += b" " * (-(len(text) + 4) % 8)
    return b"".join([len(text).to_bytes(4, "little"), text, *arrays])


def _header(body: bytes) -> tuple[dict[str, Any], int]:
    end = 4 + int.from_bytes(body[:4], "little")
    return orjson.loads(body[4:end]), end
