"""Regressors that predict with intervals, which hold the target in a given share of the rows through any drift."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.learners.base.kept_predictions import OF_NUMBERS, KeptPredictions, ends_with_width
from thalweg.learners.base.regressor import PredictionsWithIntervals, StreamRegressor
from thalweg.learners.base.rows import Floats, width_for_core
from thalweg.parameters import at_least

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

    def member_predictions(self, X: ArrayLike) -> Floats:
        """What each member predicts for each row, (rows, members) or (rows, outputs, members). Nothing is learned.

        Behind the members come mixtures of them, which `learn_late` judges, too. A regressor that is no mixture has no
        members.
        """
        predictions: Floats = self._core.opinions(self._rows_to_predict(X))
        return predictions[:, 0] if self._columns is None else predictions

    def learn_late(
        self,
        X: ArrayLike,
        y: ArrayLike,
        interval: tuple[ArrayLike, ArrayLike],
        coverage: float | None = None,
        *,
        delay: int,
        member_predictions: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn rows whose targets came late, and judge what was predicted for them then: intervals and members.

        `partial_fit` would judge what the model says now, which knows the rows in between: where the stream drifts
        intervals would be too narrow, and members that do well one row ahead would carry the mixture.

        Parameters
        ----------
        X, y : array-like
            The rows and their targets, in the order in which the targets came.
        interval : tuple of two arrays shaped like y
            Lower and upper ends as they were given; NaN for rows that were not predicted.
        coverage : float, optional
            The coverage that they were asked for.
        delay : int >= 0
            How many rows were learned between the prediction of a row and its target, roughly.
        member_predictions : array, optional
            What `member_predictions` gave when the rows were predicted; NaN for rows that were not. Without it a
            mixture judges its members by what they predict now.
        sample_weight : array-like of shape (rows,), optional
            How many rows each row counts for.

        Examples
        --------
        >>> import numpy as np
        >>> from thalweg import AutoRegressor
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.normal(size=(5000, 2)), np.cumsum(rng.normal(size=5000))
        >>> model, inside, waiting = AutoRegressor(curved=False).partial_fit(X[:50], y[:50]), [], []
        >>> for start in range(50, 5000, 50):  # targets come 50 rows late
        ...     now = X[start : start + 50], y[start : start + 50]
        ...     lower, upper = model.predict_interval(now[0])
        ...     inside.append(np.mean((lower <= now[1]) & (now[1] <= upper)))
        ...     waiting.append((*now, (lower, upper)))
        ...     if len(waiting) > 1:
        ...         _ = model.learn_late(*waiting.pop(0), delay=50)
        >>> bool(abs(np.mean(inside) - 0.9) < 0.02)  # 0.16 with partial_fit
        True
        """
        at_least(0).check(type(self).__name__, "delay", delay)
        if not self.__sklearn_is_fitted__():
            self._require_tracked(coverage)
        rows, targets, columns = self._take(X, y)
        lower, upper = _as_ends(interval, targets.shape, columns)
        opinions = (
            None
            if member_predictions is None
            else self._as_opinions(member_predictions, targets.shape, width_for_core(rows))
        )
        masses = self._masses(sample_weight, len(rows), first=not self.__sklearn_is_fitted__())
        core = self._ready(X, rows, columns)
        place = self._place_of(core, coverage)
        self._run(core, rows, targets, lower, upper, place, float(delay), opinions, late=True, **masses)
        return self

    def _follow(
        self,
        core: RegressionCore,
        rows: Floats,
        targets: Floats,
        steps: NDArray[np.int64],
        first: int,
        found: Floats,
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
        found[0, asked] = answer[asked]
        found[1, asked], found[2, asked] = ends_with_width(lower[asked], upper[asked])
        learned = np.flatnonzero(~np.isnan(targets[:, 0]))
        if len(learned):
            self._keep_recent(rows[learned], targets[learned])
        if untroubled and core.cuts[0] > 0:
            self._warn_of_cuts(core, stacklevel=4)

    def _as_opinions(self, given: ArrayLike, shape: tuple[int, ...], features: int) -> Floats | None:
        """Predictions of members in rows, those of all targets side by side: numbers, or NaN in the whole of a row."""
        core = self._core if self.__sklearn_is_fitted__() else self._make_core(features)
        wide = shape[1] * core.n_opinions
        if wide == 0:
            return None
        try:
            opinions = np.ascontiguousarray(np.asarray(given, dtype=np.float64).reshape(shape[0], wide))
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"member_predictions must hold {wide} numbers for each of the {shape[0]} rows: {error}"
            ) from None
        unknown = np.isnan(opinions)
        if (unknown.any(axis=1) != unknown.all(axis=1)).any() or np.isinf(opinions).any():
            raise InvalidInput("member_predictions must be finite, or NaN in the whole of a row that was not predicted")
        return opinions

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


def _as_ends(interval: tuple[ArrayLike, ArrayLike], shape: tuple[int, ...], columns: int | None) -> list[Floats]:
    """Lower and upper ends in rows: numbers, or NaN in the whole of a row."""
    wanted = shape[:1] if columns is None else shape
    try:
        ends = [np.asarray(end, dtype=np.float64) for end in interval]
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"interval must hold two arrays of numbers: {error}") from None
    if [end.shape for end in ends] != [wanted, wanted]:
        shapes = " and ".join(str(end.shape) for end in ends)
        raise InvalidInput(f"interval must hold two arrays shaped like y, {wanted}, got {shapes}")
    lower, upper = (np.ascontiguousarray(end.reshape(shape)) for end in ends)
    unknown = np.isnan(lower)
    if (unknown != np.isnan(upper)).any() or (unknown.any(axis=1) != unknown.all(axis=1)).any():
        raise InvalidInput("interval must be NaN at both ends of a row that was not predicted, and nowhere else")
    if np.isinf(lower).any() or np.isinf(upper).any() or (lower > upper).any():
        raise InvalidInput("interval must hold finite ends of which the upper one is not below the lower one")
    return [lower, upper]
