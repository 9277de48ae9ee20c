"""Rows that wait for their labels and labels that wait for their rows, joined by id, in the order of their times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thalweg.frames.frame import Floats
from thalweg.spark.packing import (
    ID,
    IS_LABEL,
    PREDICTION,
    TARGET,
    TIME,
    KeyState,
    Layout,
    batch_or_empty,
    batch_to_bytes,
    concatenated,
    features_of,
    remembered_of,
)
from thalweg.tables.late_labels import Places, interleave, learning_places


def in_time(times: NDArray[np.int64], *ties: NDArray[Any]) -> Places:
    """The order of rows by time; equal times by the other columns, so that no shuffle can change it.

    Examples
    --------
    >>> in_time(np.array([3, 1, 2])).tolist(), in_time(np.array([1, 1]), np.array(["b", "a"])).tolist()
    ([1, 2, 0], [1, 0])
    """
    order = np.argsort(times, kind="stable")
    sorted_times = times[order]
    if (sorted_times[1:] != sorted_times[:-1]).all():
        return order
    return np.lexsort((*(column for column in reversed(ties)), times))


def joined(labels: pa.Array, rows: pa.Array) -> Places:
    """For each label the first row with its id, -1 where there is none.

    Examples
    --------
    >>> joined(pa.array(["b", "x", "b"]), pa.array(["a", "b", "b"])).tolist()
    [1, -1, 1]
    """
    known = rows.filter(rows.is_valid())
    owners = np.flatnonzero(rows.is_valid().to_numpy(zero_copy_only=False))
    places: Places = pc.fill_null(pc.index_in(labels, value_set=known), -1).to_numpy(zero_copy_only=False)
    return np.where(places >= 0, owners[places] if len(owners) else -1, -1).astype(np.int64)


def firsts(places: Places) -> NDArray[np.bool_]:
    """Which of these places are there for the first time.

    Examples
    --------
    >>> firsts(np.array([1, 3, 1])).tolist()
    [True, True, False]
    """
    is_first = np.zeros(len(places), dtype=np.bool_)
    is_first[np.unique(places, return_index=True)[1]] = True
    return is_first


class LabelJoin:
    """The rows of a key in hand, those that waited first, and the labels that are known of them.

    Parameters
    ----------
    layout : Layout
        What rows hold.
    state : KeyState
        With what waits.
    came : RecordBatch
        Rows, and labels by themselves.
    wait : int or None
        Microseconds after its row that a label may come. It goes by their times alone, so that it does not matter how
        the stream is cut into batches.

    Attributes
    ----------
    old : int
        Rows that were predicted before.
    fresh : RecordBatch
        Those to predict, in order of time.
    rows, truth : ndarray
        The features and the labels of all rows; the label of a row that is not learned is not looked at.
    late : ndarray
        Rows that learn from a label that came by itself.
    too_late : RecordBatch
        Labels that came when their row no longer waited.
    order : ndarray
        What to do, as `follow` takes it.
    remembered_before : ndarray
        What is remembered of the rows that were predicted before.
    """

    def __init__(self, layout: Layout, state: KeyState, came: pa.RecordBatch, wait: int | None) -> None:
        self._layout = layout
        waiting = layout.waiting_rows(state.waiting)
        early = batch_or_empty(state.early, layout.incoming)
        alone: NDArray[np.bool_] = came.column(IS_LABEL).to_numpy(zero_copy_only=False)
        self.fresh = self._in_time(came.filter(pa.array(~alone)))
        labels = self._in_time(concatenated([early, came.filter(pa.array(alone))], layout.incoming))
        self.old = len(waiting)
        self._predictions_before = waiting.column(PREDICTION)
        self.remembered_before = remembered_of(waiting)
        self._every = concatenated([waiting.select(layout.incoming.names), self.fresh], layout.incoming)
        self._without = ~self._every.column(TARGET).is_valid().to_numpy(zero_copy_only=False)
        candidates = np.flatnonzero(self._without)
        places = joined(labels.column(ID), self._every.column(ID).take(pa.array(candidates)))
        times, label_times = self._every.column(TIME).to_numpy(), labels.column(TIME).to_numpy()
        named = places >= 0
        matched = named.copy()
        if wait is not None:
            matched[named] = label_times[named] <= times[candidates[places[named]]] + wait
        too_late = named & ~matched & ~np.isin(places, places[matched])
        matched[matched] = firsts(places[matched])  # a second label waits for another row of that name
        self.late = candidates[places[matched]]
        self.too_late = labels.filter(pa.array(too_late))
        self._labels_left = labels.filter(pa.array(~(matched | too_late)))
        self.rows: Floats = features_of(self._every)
        self.truth = self._truth(layout.target.array(labels.column(TARGET))[matched])
        own = np.flatnonzero(~self._without)
        known_at = np.concatenate([times[own], label_times[matched]])
        learned, fresh_times = np.concatenate([own, self.late]), times[self.old :]
        place = learning_places(self.old, fresh_times, learned, known_at)
        self.order = interleave(self.old, len(fresh_times), learned, known_at, place)
        self.learned = len(learned)

    def _in_time(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        layout = self._layout
        ties = (layout.id.array(batch.column(ID)), *features_of(batch).T, layout.target.array(batch.column(TARGET)))
        return batch.take(pa.array(in_time(batch.column(TIME).to_numpy(), *ties)))

    def _truth(self, of_late: NDArray[Any]) -> NDArray[Any]:
        truth = self._layout.target.array(self._every.column(TARGET))
        truth = truth.astype(np.result_type(truth, of_late))  # words may be longer than those so far
        truth[self.late] = of_late
        return truth

    def learned_late(self, predictions: pa.Array) -> tuple[pa.Array, pa.Array, pa.Array, pa.Array]:
        """Times, ids, predictions and labels of the rows that learned from a label that came by itself."""
        places = pa.array(np.sort(self.late))
        labels = pa.array(self.truth, type=self._layout.target.arrow)
        times, ids = self._every.column(TIME).take(places), self._every.column(ID).take(places)
        return times, ids, self._given(predictions).take(places), labels.take(places)

    def waiting(self, predictions: pa.Array, remembered: Floats | None) -> tuple[bytes, bytes]:
        """Rows and labels that keep waiting; a row without an id waits for nothing."""
        waits = self._without & self._every.column(ID).is_valid().to_numpy(zero_copy_only=False)
        waits[self.late] = False
        columns = [*self._every.columns, self._given(predictions)]
        if remembered is not None:
            columns.append(self._layout.remembered_list(remembered))
        every = pa.RecordBatch.from_arrays(columns, schema=self._layout.waiting)
        return batch_to_bytes(every.filter(pa.array(waits))), batch_to_bytes(self._labels_left)

    def _given(self, predictions: pa.Array) -> pa.Array:
        return pa.concat_arrays([self._predictions_before, predictions.slice(self.old)])
