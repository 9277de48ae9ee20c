"""The intervals of a learner of numbers, calibrated by the predictions that it gave, however late their labels came.

A learner calibrates its own intervals while it learns, by predictions that nobody was given: at that moment it has
learned more than when it was asked. On a random walk with labels 200 rows late such intervals of 90 % hold 22 % of the
labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thalweg.run.late_intervals import LateIntervals
from thalweg.service.journal.records import LabelledRow
from thalweg.service.learning.regression_progress import Residuals

#: Labels of predictions given before which a learner's own intervals are the better guess.
_LEAST_LABELS = 30


class GivenIntervals:
    """They move with the learner when it is promoted; rows that were asked before ``since`` are not its own."""

    def __init__(self, coverage: float, since: int = 0) -> None:
        self.since = since
        self._intervals = LateIntervals(coverage)

    def half_width(self) -> float | None:
        """By how much the next interval reaches beyond its prediction; None before enough residuals are known."""
        *_, labels = self._intervals.state()
        return self._intervals.half_width() if labels >= _LEAST_LABELS else None

    def learn(self, labelled: Sequence[LabelledRow], outcome: Residuals, labels: int) -> None:
        """The labels of rows have come, after so many others."""
        scored = outcome.scored.tolist()
        for at, (row, (target, prediction, lower, upper, *_)) in enumerate(
            zip(labelled, outcome.rows.tolist(), strict=True)
        ):
            if scored[at] and row.rows.seq > self.since:
                lag = labels + at - row.rows.body.known
                self._intervals.learn(abs(target - prediction), not lower <= target <= upper, lag)

    def state(self) -> dict[str, Any]:
        return {"since": self.since, "tracked": self._intervals.state()}

    @classmethod
    def from_state(cls, coverage: float, state: dict[str, Any]) -> GivenIntervals:
        found = cls(coverage, state["since"])
        found._intervals.restore(state["tracked"])
        return found
