"""Regressors that predict with intervals, which hold the target in a given share of the rows through any drift."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.errors import InvalidParameter
from thalweg.learners.base.kept_predictions import OF_NUMBERS, KeptPredictions, ends_with_width
from thalweg.learners.base.regressor import PredictionsWithIntervals, StreamRegressor
from thalweg.learners.base.rows import Floats

if TYPE_CHECKING:
    from thalweg.kernels._base import RegressionCore

#: By how much a miss moves the reach of an interval, in mean absolute residuals.
INTERVAL_STEP = 0.05


class Interval(NamedTuple):
    """The lower and the upper end of the interval of each row, shaped like the targets."""

    lower: Floats
    upper: Floats


class WithIntervals(StreamRegressor, abstract=True):
    """A regressor that tracks by its own residuals how far targets lie from its predictions."""

    @property
    def _usual_coverage(self) -> float:
        return 0.9

    def predict_then_learn(self, X: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Floats:
        """Predict each row before its target is seen, then learn it: the whole stream in one compiled call.

        ``sample_weight`` is how many rows each row counts for; one of weight 0 is only predicted.
        """
        core, rows, targets, masses = self._take_to_learn(X, y, sample_weight)
        predictions = np.empty_like(targets)
        self._run(core, rows, targets, predictions, **masses)
        return self._shaped(predictions)

    def predict_interval(self, X: ArrayLike, coverage: float | None = None) -> Interval:
        """The interval of each row, which holds its target in this share of the rows. Nothing is learned.

        ``coverage`` is one of those that are tracked: 0.5, 0.8, 0.9 (the default), 0.95 or 0.99. The width follows the
        last residuals and, with ``local_widths``, those of rows alike; it is zero until two rows are learned.
        """
        rows = self._rows_to_predict(X)
        place = self._place_of(self._core, coverage)
        predictions, half = np.empty((2, len(rows), self._core.n_outputs))
        self._core.answers(rows, predictions)
        self._core.half_widths_of(rows, half, place)
        return Interval(self._shaped(predictions - half), self._shaped(predictions + half))

    def predict_interval_then_learn(
        self, X: ArrayLike, y: ArrayLike, coverage: float | None = None, *, sample_weight: ArrayLike | None = None
    ) -> PredictionsWithIntervals:
        """Predict each row with its interval before its target is seen, then learn it (test-then-train)."""
        if not self.__sklearn_is_fitted__():
            self._require_tracked(coverage)
        core, rows, targets, masses = self._take_to_learn(X, y, sample_weight)
        place = self._place_of(core, coverage)
        predictions, half = np.empty_like(targets), np.empty_like(targets)
        self._run(core, rows, targets, predictions, **masses, half_widths=half, coverage=place)
        return PredictionsWithIntervals(*map(self._shaped, (predictions, predictions - half, predictions + half)))

    def _follow(
        self,
        core: RegressionCore,
        rows: Floats,
        targets: Floats,
        steps: NDArray[np.int64],
        first: int,
        out: Floats,
        coverage: float | None,
        kept: KeptPredictions | None,
        predicted: int,
    ) -> None:
        place, untroubled, rows_in_hand = self._place_of(core, coverage), core.cuts[0] == 0, len(targets)
        answer, lower, upper = given = np.full((3, *targets.shape), np.nan)
        members = np.full((rows_in_hand, targets.shape[1] * core.n_opinions), np.nan, dtype=np.float32)
        number = np.full(rows_in_hand, predicted)
        of_rows = None if kept is None else kept.of_numbers(core.n_outputs, core.n_opinions)
        if of_rows is not None:
            known = of_rows["number"] > 0
            for name, values in zip(OF_NUMBERS, (number, *given, members), strict=True):
                values[known] = of_rows[name][known]
        asked = steps[steps >= 0]
        number[asked] = predicted + 1 + np.arange(len(asked))
        newest = predicted + int((steps[:first] >= 0).sum())
        core.follow(rows, targets, steps[first:], number, newest, answer, lower, upper, members, place)
        if of_rows is not None:
            known[asked] = True
            for name, values in zip(OF_NUMBERS, (number, *given, members), strict=True):
                of_rows[name][known] = values[known]
        out[0, asked] = answer[asked]
        out[1, asked], out[2, asked] = ends_with_width(lower[asked], upper[asked])
        learned = np.flatnonzero(~np.isnan(targets[:, 0]))
        if len(learned):
            self._keep_recent(rows[learned], targets[learned])
        if untroubled and core.cuts[0] > 0:
            self._warn_of_cuts(core, stacklevel=4)

    def _require_tracked(self, coverage: float | None) -> None:
        self._place_of(self._make_core(1), coverage)

    def _place_of(self, core: RegressionCore, coverage: float | None) -> int:
        asked = self._usual_coverage if coverage is None else coverage
        tracked = core.coverages
        if isinstance(asked, bool) or asked not in tracked:
            *others, last = map(str, tracked)
            rule = f"be {', '.join(others)} or {last}, which are tracked" if others else f"be {last}, which is tracked"
            raise InvalidParameter.of(type(self).__name__, "coverage", rule, asked)
        return tracked.index(asked)
