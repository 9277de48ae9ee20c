"""Intervals around predictions whose targets come late: a miss is counted by the interval that was given.

The rule is that of the regressors' own intervals (`thalweg.PredictionIntervals`): an interval reaches by q s to either
side, s being the mean absolute residual of the last rows, and q <- q + step (1[missed] - alpha). A regressor tracks it
while it learns, by the model of that moment, which has learned more than the one that predicted, so that under a delay
its intervals are too narrow where targets drift. Here residual and miss are those of the prediction that was given, and
the share of misses tends to alpha whatever the delay. A target that comes ``lag`` rows late moves q and s by
50 / (50 + lag) as much: the later the feedback, the smaller its steps must be, or q swings.
"""

from __future__ import annotations

from typing import Any

from thalweg.learners.base.intervals import INTERVAL_STEP

#: Rows over which residuals are averaged where there is no lag.
_MEMORY = 50
_FARTHEST = 1000.0


class LateIntervals:
    """
    Examples
    --------
    >>> intervals = LateIntervals(0.9)
    >>> intervals.half_width() is None
    True
    >>> intervals.learn(2.0, None, lag=5)
    >>> intervals.half_width() > 2.0
    True
    """

    def __init__(self, coverage: float) -> None:
        from scipy.special import erfinv

        self._alpha = 1.0 - coverage
        #: Where normal residuals would have it, in mean absolute residuals.
        self._reach = float(erfinv(coverage)) * 3.141592653589793**0.5
        self._size = 0.0
        self._rows = 0

    def half_width(self) -> float | None:
        """By how much the next interval reaches beyond its prediction; None before any residual is known."""
        return max(0.0, self._reach) * self._size if self._rows else None

    def learn(self, residual: float, missed: bool | None, lag: int) -> None:
        """The target of a row has come: its absolute residual, and whether its interval, if it had one, missed it."""
        share = _MEMORY / (_MEMORY + lag)
        if missed is not None:
            moved = self._reach + INTERVAL_STEP * share * (missed - self._alpha)
            self._reach = min(max(moved, -_FARTHEST), _FARTHEST)
        self._rows += 1
        self._size += max(1.0 / self._rows, share / _MEMORY) * (residual - self._size)

    def state(self) -> list[Any]:
        return [self._reach, self._size, self._rows]

    def restore(self, state: list[Any]) -> None:
        self._reach, self._size, self._rows = float(state[0]), float(state[1]), int(state[2])
