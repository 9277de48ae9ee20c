"""Predictions that look at no column: the last target that has come, mean, median, the target one season ago."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.saved import Saved

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

#: Targets of which the running median is taken, at the most.
MEDIAN_WINDOW = 1000


class NumberBaselines(Saved):
    """The baselines of regression, for one target or several; they get a target when the model does.

    The running mean is that of all targets. The running median is the exact median of the last `MEDIAN_WINDOW` ones, so
    that memory stays constant; of an even number it is halfway between the middle two. No constant has a smaller
    absolute error than the median, as none has a smaller squared error than the mean.

    With ``season`` there is also the target so many rows ago. Where that has not come yet, the last one known at a
    multiple of as many rows ago, and the last value where there is none; of one target only.

    Examples
    --------
    >>> baselines = NumberBaselines(season=2)
    >>> order = np.array([0, ~0, 1, ~1, 2, ~2, 3, ~3])
    >>> predictions = baselines.follow(order, np.array([5.0, 1.0, 7.0, 9.0]), np.array([1, 2, 3, 4]))
    >>> for name, values in predictions.items():
    ...     print(name, values.tolist())
    last_value [nan, 5.0, 1.0, 7.0]
    running_mean [nan, 5.0, 3.0, 4.333333333333333]
    running_median [nan, 5.0, 3.0, 5.0]
    season [nan, 5.0, 5.0, 1.0]
    """

    _saved = ("_total", "_count", "_last", "_season", "_held")

    def __init__(self, season: int | None = None) -> None:
        self.names = ("last_value", "running_mean", "running_median", *(("season",) if season else ()))
        self._total: Any = 0.0
        self._last: Any = np.nan
        self._count = 0
        #: Of each target, once its first rows are there.
        self._medians: list[_WindowedMedian] = []
        #: By row number modulo the season: the last target, and the number of its row.
        self._season, self._held = np.full(season or 0, np.nan), np.zeros(season or 0, dtype=np.int64)

    def follow(self, order: Places, targets: Floats, number: Places) -> dict[str, Floats]:
        """What is predicted for each row, NaN before any target, in the order in which the model takes them."""
        asked = order >= 0
        learned = targets[~order[~asked]]
        before = np.cumsum(~asked)[asked]
        one = targets.shape[1:]
        totals = np.cumsum(np.concatenate([np.broadcast_to(self._total, (1, *one)), learned]), axis=0)
        lasts = np.concatenate([np.broadcast_to(self._last, (1, *one)), learned])
        counts = (self._count + before).reshape(-1, *[1] * len(one))
        predictions = {name: np.full(targets.shape, np.nan) for name in self.names}
        predictions["last_value"][order[asked]] = lasts[before]
        predictions["running_mean"][order[asked]] = np.where(counts > 0, totals[before] / np.maximum(counts, 1), np.nan)
        predictions["running_median"][order[asked]] = self._running_medians(learned)[before]
        if "season" in predictions:
            season = self._seasonal(order, targets, number)
            predictions["season"] = np.where(np.isnan(season), predictions["last_value"], season)
        self._total, self._count, self._last = totals[-1], self._count + len(learned), lasts[-1]
        return predictions

    def learn(self, targets: Floats) -> None:
        """Targets have come, of rows that nobody asked about."""
        self.follow(~np.arange(len(targets)), targets, np.zeros(len(targets), dtype=np.int64))

    def now(self) -> dict[str, float]:
        """What is predicted for a row that comes now; nothing before any target."""
        predictions = self.follow(np.zeros(1, dtype=np.int64), np.full(1, np.nan), np.zeros(1, dtype=np.int64))
        return {name: float(value) for name, [value] in predictions.items() if not np.isnan(value)}

    def _running_medians(self, learned: Floats) -> Floats:
        """Before the first of these targets, and after each."""
        width = int(np.prod(learned.shape[1:]))
        if not self._medians:
            self._medians = [_WindowedMedian() for _ in range(width)]
        columns = zip(self._medians, learned.reshape(len(learned), width).T.tolist(), strict=True)
        medians = np.array([median.before_and_after_each(values) for median, values in columns])
        return medians.T.reshape(-1, *learned.shape[1:])

    def _seasonal(self, order: Places, targets: Floats, number: Places) -> Floats:
        predictions = np.full(len(targets), np.nan)
        slots = (number % len(self._season)).tolist()
        for step in order.tolist():
            row = step if step >= 0 else ~step
            slot = slots[row]
            if step >= 0:
                predictions[row] = self._season[slot]
            elif number[row] > self._held[slot]:
                self._season[slot], self._held[slot] = targets[row], number[row]
        return predictions

    def state(self) -> dict[str, Any]:
        return super().state() | {"recent": [np.array(median.values) for median in self._medians]}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._medians = [_WindowedMedian(values.tolist()) for values in state["recent"]]


class _WindowedMedian:
    """The median of the last `MEDIAN_WINDOW` values, exactly; NaN before any. O(log window) comparisons a value."""

    def __init__(self, values: Iterable[float] = ()) -> None:
        #: The oldest first, and in ascending order.
        self.values = deque(values)
        self._ordered = sorted(self.values)

    def before_and_after_each(self, values: list[float]) -> list[float]:
        medians = [self._median()]
        for value in values:
            if len(self.values) == MEDIAN_WINDOW:
                del self._ordered[bisect_left(self._ordered, self.values.popleft())]
            self.values.append(value)
            insort(self._ordered, value)
            medians.append(self._median())
        return medians

    def _median(self) -> float:
        ordered, half = self._ordered, len(self._ordered) // 2
        if not ordered:
            return np.nan
        return ordered[half] if len(ordered) % 2 else 0.5 * ordered[half - 1] + 0.5 * ordered[half]
