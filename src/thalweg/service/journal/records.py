"""What the journal holds: records, their bodies as few bytes, and records as events, ready to be applied to a model.

A predict record keeps the rows as features, dense or compressed, not as they were sent: what was predicted is what will
be learned, whatever the encoder has seen by then. Missing cells and new categories are kept beside them, so that the
encoder can be rebuilt, and the cells of times and categories, which features do not show, so that these are watched.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from thalweg.errors import JournalDamaged
from thalweg.history.inputs import Inputs
from thalweg.service.journal.compressed_rows import CompressedRows, Features
from thalweg.tables.cells import KeptCells, part_of_cells

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

#: The part with what features from earlier rows remember of them.
EARLIER_ROWS = ".earlier"

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
#: Text of a classifier, a number of a regression model.
LabelValue = str | float
#: A prediction before any label was known.
NO_PREDICTION = -1


#: What stands for an erased value, by the kind of its array.
_NOTHING: Mapping[str, Any] = {"i": NO_PREDICTION, "u": 0, "b": False, "f": math.nan, "M": np.datetime64("NaT")}


def _erased(values: NDArray[Any], rows: Sequence[int], nothing: Any = None) -> NDArray[Any]:
    cleared = values.copy()
    cleared[list(rows)] = _NOTHING[values.dtype.kind] if nothing is None else nothing
    return cleared


@dataclass(slots=True)
class Predicted:
    """What one model predicted, as columns of a value for each row.

    ``prediction`` is a number, NaN for none, or the place of a label among those that the model knew, `NO_PREDICTION`
    for none; ``lower`` and ``upper`` are the ends of the interval of a number; ``of_positive`` is P(positive), where
    the model has a positive label and probabilities; ``kept`` is what the prediction is judged by when its label comes
    (`KeptPredictions`). Columns that begin with ``ask`` say whether the label was asked for, and by what; erasing a row
    leaves them.
    """

    columns: dict[str, NDArray[Any]]
    #: None where predictions are numbers.
    labels: list[str] | None = None

    def asked(self, row: int) -> dict[str, Any]:
        """Whether the label of a row is asked for, and how probable that was; nothing where labels are not limited."""
        return {name: values[row].item() for name, values in self.all_asked().items()}

    def all_asked(self) -> dict[str, NDArray[Any]]:
        """The same of all rows."""
        return {name: self.columns[name] for name in ("ask", "ask_probability") if name in self.columns}

    def part(self, rows: slice) -> Predicted:
        """The predictions for some of the rows."""
        return Predicted({name: values[rows] for name, values in self.columns.items()}, self.labels)

    def without(self, rows: Sequence[int]) -> Predicted:
        """The same with no predictions for some of the rows."""
        return Predicted(
            {
                name: values if name.startswith("ask") else _erased(values, rows)
                for name, values in self.columns.items()
            },
            self.labels,
        )

    def __getitem__(self, row: int) -> str | float | None:
        value = self.columns["prediction"][row]
        if self.labels is not None:
            return None if value == NO_PREDICTION else self.labels[value]
        return None if math.isnan(value) else float(value)


def _without_cells(cells: KeptCells, rows: Sequence[int]) -> KeptCells:
    """The same with missing cells in some of the rows."""
    if isinstance(cells, tuple):
        return part_of_cells((_erased(cells[0], rows), cells[1]), slice(None))
    return _erased(cells, rows)


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
    #: What features from earlier rows took of these, and the last record whose labels they knew.
    inputs: Inputs | None = None
    known: int = 0

    def without(self, rows: Collection[int]) -> PredictBody:
        """The same after some of the rows were erased; they keep their places."""
        gone = sorted(rows)
        X = self.X.without_values(gone) if isinstance(self.X, CompressedRows) else _erased(self.X, gone, 0.0)
        gaps = None if self.gaps is None else _erased(self.gaps, gone)
        predictions = {name: predicted.without(gone) for name, predicted in self.predictions.items()}
        erased = tuple(sorted({*self.erased, *gone}))
        cells = {name: _without_cells(values, gone) for name, values in self.cells.items()}
        inputs = None if self.inputs is None else self.inputs.without(gone)
        return replace(self, X=X, predictions=predictions, gaps=gaps, erased=erased, cells=cells, inputs=inputs)

    def to_bytes(self) -> bytes:
        header: dict[str, Any] = {"last": self.last, "version": self.version}
        arrays: dict[str, NDArray[Any]] = {}
        if isinstance(self.X, CompressedRows):
            header["width"] = self.X.width
            arrays |= {"indptr": self.X.indptr, "indices": self.X.indices, "values": self.X.values}
        else:
            arrays["X"] = self.X
        header["labels"] = {name: predicted.labels for name, predicted in self.predictions.items()}
        for model, predicted in self.predictions.items():
            arrays |= {f"{model}/{name}": values for name, values in predicted.columns.items()}
        if None in header["labels"].values():
            header |= {"baselines": self.baselines, "before": self.before}
        if self.categories:
            header["categories"] = self.categories
        if self.erased:
            header["erased"] = self.erased
        if names := {name: cells[1] for name, cells in self.cells.items() if isinstance(cells, tuple)}:
            header["names"] = names
        for name, cells in self.cells.items():  # what is no cell has no blank before its name
            arrays[f" {name}"] = (
                cells[0].astype(np.int32) if isinstance(cells, tuple) else cells.astype("datetime64[us]")
            )
        if self.gaps is not None:
            header["gaps"] = self.gaps.shape
            arrays["gaps"] = np.packbits(self.gaps)
        if self.inputs is not None:
            header |= {"known": self.known, "words": {str(at): words for at, (_, words) in self.inputs.words.items()}}
            arrays["inputs"] = self.inputs.numbers
            arrays |= {f"words {at}": places.astype(np.int32) for at, (places, _) in self.inputs.words.items()}
        return _with_header(header, arrays)

    @classmethod
    def from_bytes(cls, body: bytes) -> PredictBody:
        header, arrays = _header(body)
        X: Features
        if "width" in header:
            X = CompressedRows.checked(arrays["indptr"], arrays["indices"], arrays["values"], header["width"])
        else:
            X = arrays["X"]
        columns: dict[str, dict[str, NDArray[Any]]] = {name: {} for name in header["labels"]}
        names, cells = header.get("names", {}), dict[str, KeptCells]()
        for key, values in arrays.items():
            if key.startswith(" "):
                name = key[1:]
                cells[name] = (values.astype(np.int64), names[name]) if name in names else values
            elif "/" in key:
                model, _, name = key.partition("/")
                columns[model][name] = values
        gaps = None
        if "gaps" in header:
            shape = header["gaps"]
            gaps = np.unpackbits(arrays["gaps"], count=shape[0] * shape[1]).astype(np.bool_).reshape(shape)
        inputs = None
        if "inputs" in arrays:
            words = {int(at): (arrays[f"words {at}"].astype(np.int64), texts) for at, texts in header["words"].items()}
            inputs = Inputs.checked(arrays["inputs"], words, len(X))
        return cls(
            X,
            {name: Predicted(columns[name], labels) for name, labels in header["labels"].items()},
            header["last"],
            header["version"],
            gaps,
            header.get("categories"),
            header.get("baselines", {}),
            header.get("before", 0),
            tuple(header.get("erased", ())),
            cells,
            inputs,
            header.get("known", 0),
        )


@dataclass(frozen=True, slots=True)
class LabelBody:
    """Labels of rows, each by the seq of its predict record and its place there; None for one that was erased."""

    #: asked, row, label: labels that came for the first time, in the order in which they are learned.
    learned: list[tuple[int, int, LabelValue | None]]
    #: asked, row, label, seq of its first label record: labels that take the place of others. Of a "void" record the
    #: label means nothing but whether it was erased, and the seq is 0 of rows without a label.
    revised: list[tuple[int, int, LabelValue | None, int]]
    #: asked, row: rows that were erased with it.
    erased: list[tuple[int, int]] = field(default_factory=list)

    def without(self, rows: Collection[tuple[int, int]]) -> LabelBody:
        """The same without the labels of some rows, each by its predict record and its place."""
        return LabelBody(
            [(asked, row, None if (asked, row) in rows else label) for asked, row, label in self.learned],
            [
                (asked, row, None if first and (asked, row) in rows else label, first)
                for asked, row, label, first in self.revised
            ],
            self.erased,
        )

    def settled(self) -> Counter[int]:
        """By predict record, how many of its rows no longer wait for a label."""
        counts = Counter(asked for asked, _, _ in self.learned)
        for asked, _, _, first in self.revised:
            counts[asked] += first == 0
        return counts

    def to_bytes(self) -> bytes:
        labels = list(dict.fromkeys([row[2] for row in self.learned] + [row[2] for row in self.revised]))
        code = {label: at for at, label in enumerate(labels)}
        learned = [(asked, row, code[label]) for asked, row, label in self.learned]
        revised = [(asked, row, code[label], at) for asked, row, label, at in self.revised]
        arrays = {"learned": np.array(learned, dtype=np.int64), "revised": np.array(revised, dtype=np.int64)}
        return _with_header({"labels": labels} | ({"erased": self.erased} if self.erased else {}), arrays)

    @classmethod
    def from_bytes(cls, body: bytes) -> LabelBody:
        header, arrays = _header(body)
        labels = header["labels"]
        return cls(
            [(asked, row, labels[code]) for asked, row, code in arrays["learned"].tolist()],
            [(asked, row, labels[code], first) for asked, row, code, first in arrays["revised"].tolist()],
            [(asked, row) for asked, row in header.get("erased", ())],
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
    #: Rows that are withdrawn, without a label, and the record in which the first one came, or 0 for none.
    voided: list[tuple[LabelledRow, int]] = field(default_factory=list)
    #: Predict record and place of rows that are erased.
    erased: list[tuple[int, int]] = field(default_factory=list)

    def body(self) -> LabelBody:
        return LabelBody(
            [(row.rows.seq, row.row, row.label) for row in self.learned],
            [(row.rows.seq, row.row, row.label, first) for row, first in (*self.revised, *self.voided)],
            self.erased,
        )

    @property
    def reaches_back(self) -> bool:
        """Whether what was learned before is changed."""
        return bool(self.revised or self.erased) or any(first for _, first in self.voided)


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
    #: Predict record and place of rows that it withdraws or erases.
    withdrawn: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """Any other record, with its body as JSON."""

    seq: int
    kind: str
    time: int
    body: dict[str, Any]


Event = PredictedRows | LabelsArrived | Decision


def _with_header(header: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays behind JSON that has their types and shapes; the widest numbers come first, so that all are aligned."""
    ordered = dict(sorted(arrays.items(), key=lambda item: -item[1].itemsize))
    text = orjson.dumps(header | {"arrays": {name: [array.dtype.str, *array.shape] for name, array in ordered.items()}})
    text += b" " * (-(len(text) + 4) % 8)
    return b"".join([len(text).to_bytes(4, "little"), text, *(array.tobytes() for array in ordered.values())])


def _header(body: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    at = 4 + int.from_bytes(body[:4], "little")
    header, arrays = orjson.loads(body[4:at]), {}
    for name, (kind, *shape) in header["arrays"].items():
        if min(shape) < 0:
            raise ValueError("a size is negative")
        arrays[name] = np.frombuffer(body, kind, math.prod(shape), at).reshape(shape)
        at += arrays[name].nbytes
    return header, arrays
