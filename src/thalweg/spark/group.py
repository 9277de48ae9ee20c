"""One key, one batch: rows predicted and learned in one compiled call, labels joined to the rows that wait for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from thalweg.frames.frame import Floats, NamedRows
from thalweg.spark import model_cache
from thalweg.spark.late_labels import LabelJoin, in_time
from thalweg.spark.packing import (
    EVENTS,
    ID,
    PREDICTION,
    TARGET,
    TIME,
    KeyState,
    Layout,
    batch_from_bytes,
    batch_or_empty,
    batch_to_bytes,
    concatenated,
    features_of,
    remembered_of,
)
from thalweg.spark.tasks import LearningTask

_PREDICTED, _LEARNED, _EXPIRED, _DROPPED, _FORGOTTEN = range(len(EVENTS))
#: A watermark beyond every time.
_END = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Group:
    """How the rows of one key are learned, whatever the engine.

    A new key begins with the model ``start``. A row waits ``wait`` microseconds for its label, and a label for its row;
    with None labels come with their rows. A key is forgotten after ``ttl`` microseconds without a row or a label.
    ``task`` is what differs between labels and numbers.
    """

    start: bytes
    layout: Layout
    wait: int | None
    ttl: int | None
    task: LearningTask

    def take(
        self, state: KeyState | None, cells: Iterable[bytes], watermark: Callable[[int], int]
    ) -> tuple[KeyState, bytes]:
        """The state after these packed rows, and what has happened; ``watermark`` gives it by the key's newest time."""
        before = state or KeyState(self.start)
        came = concatenated([batch_from_bytes(cell, self.layout.incoming) for cell in cells], self.layout.incoming)
        newest = max(before.newest, int(came.column(TIME).to_numpy().max()))
        in_time_still, overdue = self._without_overdue(before, watermark(newest))
        at_once = self.wait is None and not came.column(TARGET).null_count
        after, happened = (self._at_once if at_once else self._in_turn)(in_time_still, came)
        after = replace(after, newest=newest)
        return replace(after, wake=self._wake(after)), self._all(overdue + happened)

    def wake(self, state: KeyState, watermark: int) -> tuple[KeyState | None, bytes]:
        """The state when its time has come though nothing came for it; None for a key that is forgotten."""
        forgotten = self.ttl is not None and state.newest + self.ttl < watermark
        after, events = self._without_overdue(state, _END if forgotten else watermark)
        if forgotten:
            return None, self._all([*events, self._events(_FORGOTTEN, pa.array([state.newest]))])
        return replace(after, wake=self._wake(after)), self._all(events)

    def require_begun(self, state: KeyState) -> None:
        """Refuse a state that another model began."""
        from thalweg.spark.model_cache import require_same_model
        from thalweg.store import loads

        require_same_model(loads(self.start), loads(state.model), "learn_stream", "the checkpoint")

    def _at_once(self, state: KeyState, came: pa.RecordBatch) -> tuple[KeyState, list[pa.RecordBatch]]:
        """Every row has its label: the whole group by `predict_then_learn`."""
        rows, labels = features_of(came), self.layout.target.array(came.column(TARGET))
        order = in_time(came.column(TIME).to_numpy(), *rows.T, labels)
        came, named, labels = came.take(pa.array(order)), NamedRows(rows[order], self.layout.features), labels[order]
        model = model_cache.model_to_learn(state.model)
        predictions, beside, _ = self.task.at_once(model, named, labels)
        events = self._events(
            _PREDICTED, came.column(TIME), came.column(ID), self._arrow(predictions), came.column(TARGET), beside
        )
        predicted, learned = state.predicted + len(rows), state.learned + len(rows)
        return replace(state, model=model_cache.model_bytes(model), predicted=predicted, learned=learned), [events]

    def _in_turn(self, state: KeyState, came: pa.RecordBatch) -> tuple[KeyState, list[pa.RecordBatch]]:
        """Rows with and without labels, and labels by themselves, each in its turn."""
        join = LabelJoin(self.layout, state, came, self.wait)
        model = model_cache.model_to_learn(state.model)
        given, beside, remembered = self.task.in_turn(model, join, self.layout.features, state.predicted)
        predictions, fresh = self._arrow(given), join.fresh
        now = [None if values is None else values[join.old :] for values in beside]
        learned = join.learned_late(predictions)
        then = () if remembered is None else self.task.beside_then(remembered[np.sort(join.late)])
        events = [
            self._events(
                _PREDICTED, fresh.column(TIME), fresh.column(ID), predictions.slice(join.old), fresh.column(TARGET), now
            ),
            self._events(_LEARNED, *learned, beside=then),
            self._dropped(join.too_late),
        ]
        waiting, early = join.waiting(predictions, remembered)
        after = replace(
            state,
            model=model_cache.model_bytes(model),
            predicted=state.predicted + len(fresh),
            learned=state.learned + join.learned,
            dropped=state.dropped + len(join.too_late),
            waiting=waiting,
            early=early,
        )
        return after, events

    def _without_overdue(self, state: KeyState, watermark: int) -> tuple[KeyState, list[pa.RecordBatch]]:
        """The state without rows and labels that have waited too long, and an event for each of them."""
        if self.wait is None or not (state.waiting or state.early):
            return state, []
        waiting = self.layout.waiting_rows(state.waiting)
        early = batch_or_empty(state.early, self.layout.incoming)
        over, lost = (rows.column(TIME).to_numpy() + self.wait < watermark for rows in (waiting, early))
        if not (over.any() or lost.any()):
            return state, []
        expired, dropped = waiting.filter(pa.array(over)), early.filter(pa.array(lost))
        after = replace(
            state,
            expired=state.expired + len(expired),
            dropped=state.dropped + len(dropped),
            waiting=batch_to_bytes(waiting.filter(pa.array(~over))),
            early=batch_to_bytes(early.filter(pa.array(~lost))),
        )
        events = [
            self._events(
                _EXPIRED,
                expired.column(TIME),
                expired.column(ID),
                expired.column(PREDICTION),
                beside=self.task.beside_then(remembered_of(expired)),
            ),
            self._dropped(dropped),
        ]
        return after, events

    def _wake(self, state: KeyState) -> int:
        """When the key must be woken, in milliseconds; 0 for never."""
        moments = [] if self.ttl is None else [state.newest + self.ttl]
        if self.wait is not None:
            kept = self.layout.waiting_rows(state.waiting), batch_or_empty(state.early, self.layout.incoming)
            moments += [int(rows.column(TIME).to_numpy().min()) + self.wait for rows in kept if len(rows)]
        return min(moments) // 1000 + 1 if moments else 0

    def _events(
        self,
        event: int,
        times: pa.Array,
        ids: pa.Array | None = None,
        predictions: pa.Array | None = None,
        targets: pa.Array | None = None,
        beside: Sequence[Floats | None] = (),
    ) -> pa.RecordBatch:
        rows, schema = len(times), self.layout.outgoing
        code = pa.array(np.full(rows, event, dtype=np.int8))
        numbers = [None if values is None else pa.array(values, from_pandas=True) for values in beside]
        given = (times, ids, code, predictions, targets, *(numbers or [None] * len(self.layout.beside)))
        columns = [
            pa.nulls(rows, field.type) if column is None else column
            for column, field in zip(given, schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _dropped(self, labels: pa.RecordBatch) -> pa.RecordBatch:
        return self._events(_DROPPED, labels.column(TIME), labels.column(ID), None, labels.column(TARGET))

    def _all(self, events: list[pa.RecordBatch]) -> bytes:
        return batch_to_bytes(concatenated(events, self.layout.outgoing))

    def _arrow(self, values: NDArray[Any]) -> pa.Array:
        return pa.array(values, type=self.layout.target.arrow, from_pandas=True)
