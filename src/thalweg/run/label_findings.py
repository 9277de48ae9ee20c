"""What is found of labels as they come, in constant memory: whether they are a quantity, how late, when, and shares.

The first rows settle the task. Where they hold a few whole numbers, as those of a file sorted by its target do, later
rows may show that the target is a quantity: by the same rule, `quantity_among`, over all labels so far. A label that
comes later than others is underrepresented among the known labels of recent rows: of the flights of the last hours,
those that landed late are missing. The share of each label known at the time is a prediction without any column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.averages import HistoryPoints
from thalweg.evaluate.metrics import surprise
from thalweg.run.scoreboard import BlockMeans, add_in_order
from thalweg.saved import Saved
from thalweg.tables.clock import NEVER, Clock
from thalweg.tables.late_labels import Batch
from thalweg.tables.target import quantity_among

#: Classes beyond which a warning is given: the time of a row grows with their number.
_MANY = 200


class LabelCounts(Saved):
    """Counts of labels by their number, 0 standing for none.

    Examples
    --------
    >>> counts = LabelCounts()
    >>> counts.add(["0", "1"], np.array([1, 2, 2]))
    >>> counts.add(["0", "1", "0.5"], np.array([3, 0]))
    '3 different numbers'
    """

    _saved = ("_counts", "_open")

    def __init__(self) -> None:
        self._counts: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        #: Whether they may still turn out to be a quantity.
        self._open = True
        #: Whether they became very many with those added last.
        self.are_many_now = False

    def add(self, known: Sequence[str], labels: NDArray[Any]) -> str | None:
        """Take in the labels of some rows, by number; what they are, where it shows now that they are a quantity.

        ``known`` are all labels so far.
        """
        before = len(self._counts)
        self._counts = (
            np.pad(self._counts, (0, len(known) - before)) + np.bincount(labels, minlength=len(known) + 1)[1:]
        )
        self.are_many_now = before <= _MANY < len(known)
        if not self._open or len(known) == before:
            return None
        try:
            values = np.array(known, dtype=np.float64)
        except ValueError:
            values = np.full(len(known), np.nan)
        quantity = quantity_among(values, self._counts) if np.isfinite(values).all() else None
        self._open = quantity is None and bool(
            np.isfinite(values).all()
        )  # one that is no number makes all of them classes
        return quantity


Places = NDArray[np.int64]

#: Cells in which delays double; the widest are 2.2 % wide.
_PER_OCTAVE = 32
_CELLS = 64 * _PER_OCTAVE
#: Labels of a class before its median is compared, and the ratio of medians from which on they differ.
_LEAST_ROWS, _LEAST_RATIO = 50, 1.25
#: Standard errors of a median's rank.
_SURE = 3.0
_MICROSECONDS = 1e6


class LabelDelays(Saved):
    """Counts of rows by label and delay, each cell with its smallest and its largest delay.

    Delays are in microseconds, or in the steps of a counter. The delay of a label that came before its row is 0.

    Examples
    --------
    >>> delays = LabelDelays(counts=True)
    >>> delays.add(np.repeat([1, 2], 100), np.zeros(200, dtype=np.int64), np.repeat([10, 40], 100))
    >>> metrics = delays.metrics(["ok", "late"])
    >>> metrics["labels"], metrics["medians"], metrics["differ"]
    (['ok', 'late'], [10.0, 40.0], ['ok', 'late'])
    """

    _saved = ("counts", "_cells")

    def __init__(self, *, counts: bool = False) -> None:
        #: Whether times are those of a counter.
        self.counts = counts
        #: By label and cell: rows, the smallest and the largest delay.
        self._cells: dict[tuple[int, int], list[int]] = {}

    def add(self, labels: Places, now: Places, due: Places) -> None:
        """Take in rows with their labels by number, 0 for none, when they came, and when their labels come."""
        has = (labels > 0) & (due != NEVER) & (now != NEVER)
        delays = np.maximum(due[has] - now[has], 0)
        cells = np.zeros(len(delays), dtype=np.int64)
        cells[delays > 0] = 1 + np.floor(_PER_OCTAVE * np.log2(delays[delays > 0])).astype(np.int64)
        order = np.lexsort((delays, cells, labels[has]))
        keys, begins, rows = np.unique((labels[has] * _CELLS + cells)[order], return_index=True, return_counts=True)
        delays = delays[order]
        for key, count, least, most in zip(
            keys.tolist(), rows.tolist(), delays[begins].tolist(), delays[begins + rows - 1].tolist(), strict=True
        ):
            cell = self._cells.setdefault(divmod(key, _CELLS), [0, least, most])
            cell[:] = [cell[0] + count, min(cell[1], least), max(cell[2], most)]

    def metrics(self, known: Sequence[str]) -> dict[str, Any] | None:
        """For ``metrics.json``: the median of each label, and whether they differ; None before the first label."""
        cells: dict[int, list[list[int]]] = {}
        for (label, _), cell in sorted(self._cells.items()):
            cells.setdefault(label, []).append(cell)
        if not cells:
            return None
        rows = {label: sum(count for count, *_ in held) for label, held in cells.items()}
        medians = {label: _median(held) for label, held in cells.items()}
        many = sorted((label for label in rows if rows[label] >= _LEAST_ROWS), key=medians.__getitem__)
        return {
            "kind": "counter" if self.counts else "time",
            "labels": [known[label - 1] for label in cells],
            "rows": list(rows.values()),
            "medians": [median / (1 if self.counts else _MICROSECONDS) for median in medians.values()],
            "differ": [known[label - 1] for label in (many[0], many[-1])]
            if many and _differ(cells[many[0]], cells[many[-1]])
            else None,
        }


def _median(cells: Sequence[Sequence[int]], errors: float = 0.0) -> float:
    """The median to half the width of a cell, or the delay so many standard errors of its rank away."""
    ends = np.cumsum([count for count, *_ in cells])
    rank = (ends[-1] - 1 + errors * math.sqrt(ends[-1])) / 2
    _, least, most = cells[int(np.searchsorted(ends, np.clip(rank, 0, ends[-1] - 1), side="right"))]
    return (least + most) / 2


def _differ(first: Sequence[Sequence[int]], last: Sequence[Sequence[int]]) -> bool:
    """Whether the last median is larger than the first, beyond chance and by a ratio that matters."""
    beyond_chance = _median(last, -_SURE) > _median(first, _SURE)
    return beyond_chance and _median(last) >= _LEAST_RATIO * _median(first)


Floats = NDArray[np.float64]


class LabelShares(Saved):
    """Running shares of labels, learned when the model learns them, and their log-loss beside the model's.

    Examples
    --------
    >>> from thalweg.tables.late_labels import LateLabels
    >>> labels = np.array([1, 2, 1, 1])
    >>> batch = LateLabels(delay=1).plan(np.zeros((4, 1)), labels, labels > 0, np.arange(1, 5))
    >>> LabelShares().of_truth(batch).tolist()
    [nan, nan, 1.0, 0.5]
    """

    _saved = ("_counts", "_surprise", "_blocks")

    def __init__(self) -> None:
        #: How often each label was learned, by number; the first stands for none.
        self._counts = np.zeros(1, dtype=np.int64)
        self._surprise = 0.0
        self._blocks = BlockMeans()

    def of_truth(self, batch: Batch) -> Floats:
        """For each row predicted now, the share of its own label just before; NaN before any label, and for others."""
        learned, fresh = batch.labels[batch.learned], np.arange(batch.carried, len(batch.labels))
        own = batch.labels[fresh]
        before = np.cumsum(batch.order < 0)[batch.order >= 0]  # labels learned before each of the predictions
        self._counts = np.pad(self._counts, (0, max(0, int(batch.labels.max(initial=0)) + 1 - len(self._counts))))
        # Sorted by label, then by place: a label came before a place as often as it lies behind the label's first one.
        span = len(learned) + 1
        places = np.sort(learned * span + np.arange(len(learned)))
        earlier = np.searchsorted(places, own * span + before) - np.searchsorted(places, own * span)
        total = self._counts.sum() + before
        probabilities = np.full(len(batch.labels), np.nan)
        probabilities[fresh] = np.where(total > 0, (self._counts[own] + earlier) / np.maximum(total, 1), np.nan)
        self._counts += np.bincount(learned, minlength=len(self._counts))
        return probabilities

    def add(self, share: Floats, model: Floats) -> None:
        """Take in rows whose label has come: the share of it and the model's probability, NaN without one.

        Rows with a label that was new then are left out: both give it no probability.
        """
        known = ~np.isnan(model) & (share > 0)
        own, others = surprise(share[known]), surprise(model[known])
        self._surprise = add_in_order(self._surprise, own)
        self._blocks.add(others - own)

    def metrics(self) -> dict[str, Any] | None:
        """Log-losses of the shares and of the model, and their difference with an interval; None without one."""
        rows = self._blocks.rows
        if not rows:
            return None
        log_loss = self._surprise / rows
        difference = self._blocks.interval(least=-log_loss)
        return {
            "rows": rows,
            "log_loss": log_loss,
            "model": log_loss + difference["difference"],
            "difference": difference,
        }


MOST_POINTS = 1000
#: Share of rows behind the latest time before them, up to which rows count as being in time order.
_MOST_BEHIND = 0.02
_BEFORE_ALL = int(np.iinfo(np.int64).min)


class RowTimes(Saved):
    """When rows and labels came, of a run with ``--time``, at some hundred points: for the dates of a report.

    A point is the time of the latest row at which so many labels had come and so many rows had been read.
    """

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
