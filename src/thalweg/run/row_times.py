"""When rows and labels came: the times of a run with ``--time`` at some hundred points, for the dates of a report."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.averages import HistoryPoints
from thalweg.evaluate.late_labels import Batch
from thalweg.saved import Saved
from thalweg.tables.clock import NEVER, Clock

MOST_POINTS = 1000
#: Share of rows behind the latest time before them, up to which rows count as being in time order.
_MOST_BEHIND = 0.02
_BEFORE_ALL = int(np.iinfo(np.int64).min)


class RowTimes(Saved):
    """The time of the latest row at which so many labels had come and so many rows had been read."""

    _saved = ("_history", "_labels", "_rows", "_behind", "_first", "_clock")

    def __init__(self) -> None:
        #: Labels, rows, and the time.
        self._history = HistoryPoints[list[int]](MOST_POINTS)
        self._labels = self._rows = self._behind = 0
        self._first: int | None = None
        self._clock = _BEFORE_ALL

    def add(self, batch: Batch, now: NDArray[np.int64]) -> None:
        """Take in the times of the fresh rows of a batch."""
        known = np.where(now == NEVER, _BEFORE_ALL, now)
        clock = np.maximum.accumulate(np.concatenate([[self._clock], known]))
        self._behind += int(((known < clock[:-1]) & (now != NEVER)).sum())
        if self._first is None and (now != NEVER).any():
            self._first = int(now[now != NEVER][0])
        at = self._history.due_among(self._labels, len(batch.learned))
        rows = np.flatnonzero(batch.order < 0)[at] - at  # of the fresh rows, those that were predicted before
        for point in np.stack([self._labels + at + 1, self._rows + rows, clock[rows]], axis=1).tolist():
            self._history.add(point)
        self._labels += len(batch.learned)
        self._rows += len(now)
        self._clock = int(clock[-1])

    def metrics(self, column: str, clock: Clock) -> dict[str, Any] | None:
        """For ``metrics.json``, in seconds or as a counter counts; None of rows that are not in time order."""
        if self._first is None or self._behind > _MOST_BEHIND * self._rows:
            return None
        points = [[1, 1, self._first], *self._history.points, [self._labels, self._rows, self._clock]]
        labels, rows, times = zip(*(point for point in points if point[2] != _BEFORE_ALL), strict=True)
        return {
            "column": column,
            "kind": "time" if clock.kind == "times" else "counter",
            "labels": list(labels),
            "rows": list(rows),
            "times": [time / clock.per_unit if time % clock.per_unit else time // clock.per_unit for time in times],
        }
