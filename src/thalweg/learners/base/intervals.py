"""Regressors that answer with intervals, which hold the target in a given share of the rows through any drift."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from thalweg.errors import InvalidParameter
from thalweg.kernels._base import RegressionCore
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.learners.base.rows import Floats

#: The coverages that are tracked side by side.
COVERAGES = (0.5, 0.8, 0.9, 0.95, 0.99)
#: By how much a miss moves the reach of an interval, in mean absolute residuals.
INTERVAL_STEP = 0.05


class Interval(NamedTuple):
    """The lower and the upper end of the interval of each row, shaped like the targets."""

    lower: Floats
    upper: Floats


class AnswersWithIntervals(NamedTuple):
    """Of each row the answer and the ends of its interval, from before its target was seen."""

    answers: Floats
    lower: Floats
    upper: Floats


class WithIntervals(StreamRegressor, abstract=True):
    """A regressor that tracks by its own residuals how far targets lie from its answers."""

    def predict_then_learn(self, X: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Floats:
        """Answer each row before its target is seen, then learn it: the whole stream in one compiled call.

        ``sample_weight`` is how many rows each row counts for; one of weight 0 is only answered.
        """
        core, rows, targets, masses = self._take_to_learn(X, y, sample_weight)
        answers = np.empty_like(targets)
        self._run(core, rows, targets, answers, **masses)
        return self._shaped(answers)

    def predict_interval(self, X: ArrayLike, coverage: float = 0.9) -> Interval:
        """The interval of each row, which holds its target in this share of the rows. Nothing is learned.

        ``coverage`` is one of those that are tracked: 0.5, 0.8, 0.9, 0.95 or 0.99. The width is the same for every row
        and follows the last residuals; it is zero until two rows are learned.
        """
        answers = self.predict(X)
        place = self._place_of(self._core, coverage)
        half = self._core.half_widths()[:, place]
        reach = half[0] if self._columns is None else half
        return Interval(answers - reach, answers + reach)

    def predict_interval_then_learn(
        self, X: ArrayLike, y: ArrayLike, coverage: float = 0.9, *, sample_weight: ArrayLike | None = None
    ) -> AnswersWithIntervals:
        """Answer and interval of each row before its target is seen; then the row is learned (test-then-train)."""
        if not self.__sklearn_is_fitted__():
            self._place_of(self._make_core(1), coverage)  # refused before anything is learned
        core, rows, targets, masses = self._take_to_learn(X, y, sample_weight)
        place = self._place_of(core, coverage)
        answers, half = np.empty_like(targets), np.empty_like(targets)
        self._run(core, rows, targets, answers, **masses, half_widths=half, coverage=place)
        return AnswersWithIntervals(*map(self._shaped, (answers, answers - half, answers + half)))

    def _place_of(self, core: RegressionCore, coverage: float) -> int:
        tracked = core.coverages
        if isinstance(coverage, bool) or coverage not in tracked:
            *others, last = map(str, tracked)
            rule = f"be {', '.join(others)} or {last}, which are tracked" if others else f"be {last}, which is tracked"
            raise InvalidParameter.of(type(self).__name__, "coverage", rule, coverage)
        return tracked.index(coverage)
