"""What Spark carries: the rows of one key packed into one row, since it hands Python a row at a time; and the state of
a key between two batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.frames.arrow_frame import ArrowFrame
from thalweg.frames.frame import Floats
from thalweg.spark.columns import ValueType

Batches: TypeAlias = Iterator[pa.RecordBatch]

KEY, ROWS = "key", "rows"
TIME, IS_LABEL, ID, TARGET, FEATURES = "time", "is_label", "id", "target", "features"
EVENT, PREDICTION, CONFIDENCE, LOWER, UPPER = "event", "prediction", "confidence", "lower", "upper"
REMEMBERED = "remembered"
#: What can happen, by its number in a packed batch.
EVENTS = ("predicted", "learned", "expired", "dropped", "forgotten")
#: Cells that are packed at a time: 32 MB of numbers.
_CELLS = 1 << 22


@dataclass(frozen=True)
class Layout:
    key: ValueType
    id: ValueType
    target: ValueType
    features: tuple[str, ...]
    #: Names of the numbers beside each prediction.
    beside: tuple[str, ...] = ()
    #: How many numbers are remembered of a row that waits.
    remembered: int = 0

    @cached_property
    def incoming(self) -> pa.Schema:
        """Rows to predict and labels to learn."""
        width = len(self.features)
        return pa.schema(
            [
                (TIME, pa.int64()),
                (IS_LABEL, pa.bool_()),
                (ID, self.id.arrow),
                (TARGET, self.target.arrow),
                (FEATURES, pa.list_(pa.float64(), width)),
            ]
        )

    @cached_property
    def outgoing(self) -> pa.Schema:
        """What has happened to them."""
        return pa.schema(
            [
                (TIME, pa.int64()),
                (ID, self.id.arrow),
                (EVENT, pa.int8()),
                (PREDICTION, self.target.arrow),
                (TARGET, self.target.arrow),
                *((name, pa.float64()) for name in self.beside),
            ]
        )

    @cached_property
    def waiting(self) -> pa.Schema:
        """Rows that wait: as they came, their predictions, and what is remembered of them."""
        predicted = self.incoming.append(pa.field(PREDICTION, self.target.arrow))
        if not self.remembered:
            return predicted
        return predicted.append(pa.field(REMEMBERED, pa.list_(pa.float64(), self.remembered)))

    def waiting_rows(self, cell: bytes) -> pa.RecordBatch:
        return batch_or_empty(cell, self.waiting)

    def remembered_list(self, values: Floats) -> pa.Array:
        flat = pa.array(np.ascontiguousarray(values).ravel())
        return pa.FixedSizeListArray.from_arrays(flat, self.remembered)

    @property
    def packed(self) -> str:
        return f"{KEY} {self.key.spark}, {ROWS} binary"

    @property
    def unpacked(self) -> str:
        of_target = self.target.spark
        return (
            f"{KEY} {self.key.spark}, {TIME} bigint, {ID} {self.id.spark}, {EVENT} string, {PREDICTION} {of_target}, "
            f"{TARGET} {of_target}{''.join(f', {name} double' for name in self.beside)}"
        )


def packer(layout: Layout) -> Callable[[Batches], Batches]:
    """For ``mapInArrow``: columns key, time, is_label, id, target and then the features, to a row for each key."""

    def pack(batches: Batches) -> Batches:
        for table in _gathered(batches, _CELLS // (len(layout.features) + 4)):
            for name in (KEY, TIME):
                if table.column(name).null_count:
                    raise InvalidInput(f"learn_stream: each row and each label needs a {name}, got null")
            keys, begins, order = _runs(table.column(KEY).combine_chunks())
            sorted_rows = _as_batch(table, layout, order)
            ends = [*begins[1:], len(order)]
            cells = [
                sorted_rows.slice(begin, end - begin).serialize().to_pybytes()
                for begin, end in zip(begins, ends, strict=True)
            ]
            yield pa.record_batch({KEY: keys, ROWS: pa.array(cells, pa.binary())})

    return pack


def unpacker(layout: Layout) -> Callable[[Batches], Batches]:
    """For ``mapInArrow``: a row for each key, to a row for each event."""

    def unpack(batches: Batches) -> Batches:
        schema, events = layout.outgoing, pa.array(EVENTS)
        for batch in batches:
            parts = [batch_from_bytes(cell, schema) for cell in batch.column(ROWS).to_pylist()]
            if not parts:
                continue
            table = pa.Table.from_batches(parts)
            owners = pa.array(np.repeat(np.arange(len(parts)), [part.num_rows for part in parts]))
            columns = {name: table.column(name).combine_chunks() for name in schema.names}
            columns[EVENT] = events.take(columns[EVENT])
            yield pa.record_batch({KEY: batch.column(KEY).take(owners), **columns})

    return unpack


def batch_from_bytes(cell: bytes, schema: pa.Schema) -> pa.RecordBatch:
    return pa.ipc.read_record_batch(pa.py_buffer(cell), schema)


def _gathered(batches: Batches, most: int) -> Iterator[pa.Table]:
    """Tables of about so many rows: the more there are, the more of them share a key."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= most:
            yield pa.Table.from_batches(held)
            held, rows = [], 0
    if rows:
        yield pa.Table.from_batches(held)


def _runs(keys: pa.Array) -> tuple[pa.Array, list[int], NDArray[np.int64]]:
    """The different keys, where the rows of each begin once they are in order, and that order."""
    encoded = keys.dictionary_encode(null_encoding="encode")
    codes: NDArray[np.int32] = encoded.indices.to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    begins = np.searchsorted(codes[order], np.arange(len(encoded.dictionary))).tolist()
    return encoded.dictionary, begins, order


def _as_batch(table: pa.Table, layout: Layout, order: NDArray[np.int64]) -> pa.RecordBatch:
    features: Sequence[str] = table.column_names[-len(layout.features) :]
    rows = ArrowFrame(table.select(features)).rows()[order]
    places = pa.array(order)
    columns = [table.column(name).combine_chunks().take(places) for name in (TIME, IS_LABEL, ID, TARGET)]
    lists = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), len(features))
    return pa.RecordBatch.from_arrays([*columns, lists], schema=layout.incoming)


def concatenated(parts: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """All rows, in order, of batches that may have none."""
    filled = [part for part in parts if part.num_rows]
    return filled[0] if len(filled) == 1 else pa.concat_batches([_empty(schema), *filled])


def batch_or_empty(cell: bytes, schema: pa.Schema) -> pa.RecordBatch:
    return batch_from_bytes(cell, schema) if cell else _empty(schema)


def batch_to_bytes(batch: pa.RecordBatch) -> bytes:
    """A batch as bytes without its schema; none where it has no rows."""
    return bytes(batch.serialize()) if batch.num_rows else b""


def features_of(batch: pa.RecordBatch) -> Floats:
    return _numbers(batch, FEATURES)


def remembered_of(batch: pa.RecordBatch) -> Floats:
    return _numbers(batch, REMEMBERED) if REMEMBERED in batch.schema.names else np.empty((len(batch), 0))


def _numbers(batch: pa.RecordBatch, name: str) -> Floats:
    lists = batch.column(name)
    values: Floats = lists.flatten().to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(values.reshape(len(batch), lists.type.list_size))


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], type=field.type) for field in schema], schema=schema)


#: As Spark keeps it; one field for each of `KeyState`, in order. A checkpoint is bound to these names.
SPARK_STATE = (
    "model binary, answered bigint, learned bigint, expired bigint, dropped bigint, newest bigint, wake bigint, "
    "waiting binary, early binary"
)
#: Where in Spark's state it is kept.
VARIABLE = "thalweg"


@dataclass(frozen=True)
class KeyState:
    """The state of a key between two batches.

    Attributes
    ----------
    model : bytes
        A model file.
    predicted, learned : int
        Rows so far.
    expired, dropped : int
        Rows whose label did not come in time, and labels for which no row waited.
    newest : int
        The latest time of a row or a label, in microseconds.
    wake : int
        When the key is to be looked at even if nothing comes for it, in milliseconds; 0 for never.
    waiting, early : bytes
        Rows without a label and labels without a row, as record batches of Arrow; empty for none.
    """

    model: bytes
    predicted: int = 0
    learned: int = 0
    expired: int = 0
    dropped: int = 0
    newest: int = 0
    wake: int = 0
    waiting: bytes = b""
    early: bytes = b""

    @classmethod
    def from_spark(cls, values: tuple[Any, ...]) -> KeyState:
        own: list[Any] = [value if isinstance(value, int) else bytes(value) for value in values]
        return cls(*own)

    def to_spark(self) -> tuple[Any, ...]:
        """The values of `SPARK_STATE`."""
        return tuple(vars(self).values())
