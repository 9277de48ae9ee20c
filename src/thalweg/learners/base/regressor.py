"""The base class of stream regressors, over a compiled core that holds the state; targets are checked here."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array

from thalweg.errors import Diverging, InvalidInput, InvalidParameter
from thalweg.frames.reading import as_array, as_plain, frame_of
from thalweg.kernels import compiled
from thalweg.labels import missing_hint
from thalweg.learners.base.estimator import StreamEstimator
from thalweg.learners.base.kept_predictions import KeptPredictions, steps_of
from thalweg.learners.base.rows import Floats, Row, clearer_error, names_of, rows_for, shown, width_for_core
from thalweg.learners.base.sparse_rows import sparse_weights

if TYPE_CHECKING:
    from thalweg.kernels._base import RegressionCore


def as_targets(y: ArrayLike | None, rows: int, owner: str) -> tuple[Floats, int | None]:
    """The targets in rows, and how many columns they came in; None for a one-dimensional y.

    Examples
    --------
    >>> as_targets([1, 2], 2, "OnlineLinearRegression")
    (array([[1.],
           [2.]]), None)
    """
    if y is None:
        raise InvalidInput(f"{owner} requires y to be passed, but the target y is None")
    targets = _as_numbers(y)
    columns = None if targets.ndim == 1 else targets.shape[1]
    targets = targets.reshape(len(targets), 1 if columns is None else columns)
    if columns == 0:
        raise InvalidInput("y must have at least one column, got none")
    if len(targets) != rows:
        raise InvalidInput(f"y must have a target for each of the {rows} rows of X, got {len(targets)}")
    at, _ = compiled.first_bad(targets)
    if at >= 0:
        bad = next(value for value in targets[at].tolist() if not abs(value) <= compiled.largest_value)
        raise no_target(bad, at)
    return targets, columns


def no_target(value: Any, row: int) -> InvalidInput:
    """The refusal of a target that is no finite number, or too large."""
    return InvalidInput(
        f"y must hold finite numbers within ±{compiled.largest_value:g}, got {shown(value)} at row {row}"
        f"{missing_hint(value)}"
    )


def _as_numbers(y: ArrayLike) -> Floats:
    if type(y) is np.ndarray and y.dtype.kind in "iuf" and y.ndim in (1, 2) and y.size > 0:
        return np.ascontiguousarray(y, dtype=np.float64)  # scikit-learn's check takes longer than learning many rows
    frame = None if isinstance(y, np.ndarray) else frame_of(y)
    values = as_array(y) if frame is None else frame.rows("y")
    try:
        numbers: Floats = check_array(
            as_plain(values, "y"), dtype=np.float64, order="C", ensure_2d=False, ensure_all_finite=False, input_name="y"
        )
    except InvalidInput:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"y must be a one- or two-dimensional array of numbers: {error}") from error
    return numbers


def as_target(y: Any) -> tuple[Floats, int | None]:
    """The same for a single row: a number, or a sequence of them."""
    target = np.asarray(y)
    if target.dtype.kind not in "biuf" or target.ndim > 1 or target.size == 0:
        raise InvalidInput(f"y must be a number or a sequence of numbers, got {y!r}")
    values = np.ascontiguousarray(target, dtype=np.float64).reshape(-1)
    if compiled.first_bad(values[np.newaxis])[0] >= 0:
        raise InvalidInput(f"y must be finite and within ±{compiled.largest_value:g}, got {y!r}")
    return values, None if target.ndim == 0 else len(values)


class LinearPredictions(NamedTuple):
    """What `predict_then_learn` gives when asked for the model on the way; one entry per row.

    Attributes
    ----------
    predictions : array shaped like y
        From before each row's target was seen.
    coef, intercept : arrays of shape (rows, [outputs,] features) and (rows, [outputs])
        The linear model after each row.
    """

    predictions: Floats
    coef: Floats
    intercept: Floats


class PredictionsWithIntervals(NamedTuple):
    """Of each row the prediction and the ends of its interval, from before its target was seen."""

    predictions: Floats
    lower: Floats
    upper: Floats


class StreamRegressor(RegressorMixin, StreamEstimator, abstract=True):
    """A regressor that learns a stream row by row, in constant memory, with one target or several.

    Before any row `predict_one` gives None, `predict` raises `NotFittedError` and `predict_then_learn` predicts 0 for
    its first row. One thread may learn while others predict.

    Attributes
    ----------
    n_features_in_ : int
        The width of a row.
    feature_names_in_ : ndarray of str
        The names of the features, where the first rows had names.
    """

    #: Whether it predicts by a linear model, which can be asked for.
    _has_coefficients: bool = False
    _core: RegressionCore
    _columns: int | None

    def _make_core(self, features: int) -> RegressionCore:
        raise NotImplementedError

    def _learned_core(self) -> RegressionCore:
        core: RegressionCore = super()._learned_core()
        return core

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and start from these rows; `partial_fit` continues from there.

        ``sample_weight`` is how much each row counts: 1, or None, is an ordinary row, 0 is none, and more than 1 counts
        for more: as so many copies, or by a step so many times as large (the documentation's page on weights).
        """
        rows, targets, columns = self._take(X, y, anew=True)
        masses = self._masses(sample_weight, len(rows), first=True)
        core = self._make_core(width_for_core(rows))
        core.widen(targets.shape[1])
        core.begin(rows, targets, **masses)
        self._commit(core, columns, self._remember_columns(X))
        self._keep_first(rows, targets)
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn these rows in order; ``sample_weight`` is how many rows each row counts for."""
        core, rows, targets, masses = self._take_to_learn(X, y, sample_weight)
        self._run(core, rows, targets, **masses)
        return self

    def _take_to_learn(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[RegressionCore, Floats, Floats, dict[str, Floats]]:
        rows, targets, columns = self._take(X, y)
        masses = self._masses(sample_weight, len(rows), first=not self.__sklearn_is_fitted__())
        return self._ready(X, rows, columns), rows, targets, masses

    def follow(
        self,
        X: ArrayLike,
        y: ArrayLike,
        order: ArrayLike,
        *,
        coverage: float | None = None,
        kept: KeptPredictions | None = None,
        predicted: int = 0,
    ) -> PredictionsWithIntervals:
        """Predict and learn rows in any order, in one compiled call: what late targets need.

        A model with intervals judges these and its members by what was predicted for a row, not by what it would
        predict when the target comes.

        Parameters
        ----------
        X, y : array of shape (rows, features), array of shape (rows,) or (rows, targets)
            The rows, and their targets; the target of a row that is not learned is not looked at.
        order : array of int
            The steps: ``i`` predicts row i, ``~i`` learns it.
        coverage : float, optional
            The share of rows whose interval is to hold the target, of a model with intervals.
        kept : KeptPredictions, optional
            Of rows that were predicted in an earlier call. Those of rows that are predicted now are written there.
        predicted : int
            How many rows were predicted before this call, from which it follows how late a target is.

        Returns
        -------
        PredictionsWithIntervals
            NaN for rows that were not predicted now, or before any target; the ends are NaN where an interval has no
            width.

        Examples
        --------
        >>> from thalweg import AutoRegressor
        >>> model = AutoRegressor()
        >>> model.follow([[0.0], [1.0], [2.0], [3.0]], [7.0] * 4, [0, 1, ~0, 2, ~1, 3]).predictions.tolist()
        [nan, nan, 7.0, 7.0]
        """
        rows, steps, targets, columns = self._take_steps(X, y, order)
        if kept is not None and len(kept) != len(targets):
            raise InvalidInput(
                f"kept must hold what was predicted for each of the {len(targets)} rows, got {len(kept)}"
            )
        predictions = np.full((3, *targets.shape), np.nan)
        is_fitted, learned = self.__sklearn_is_fitted__(), np.flatnonzero(steps < 0)
        first = 0 if is_fitted else int(learned[0]) if len(learned) else len(steps)
        if not (is_fitted and hasattr(self, "predict_interval")):
            self._require_tracked(coverage)
        if first < len(steps):
            core = self._ready(X, rows, columns)
        else:
            core = self._make_core(width_for_core(rows))
            core.widen(targets.shape[1])
        self._follow(core, rows, targets, steps, first, predictions, coverage, kept, predicted)
        return PredictionsWithIntervals(*(predictions[..., 0] if columns is None else predictions))

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
        """Write what is predicted from the first step on, before which nothing is known, to ``out``."""
        for part in np.split(steps[first:], np.flatnonzero(np.diff(steps[first:] < 0)) + 1):
            if len(part) and part[0] < 0:
                self._run(core, rows[~part], targets[~part])
            elif len(part):
                given = np.empty((len(part), core.n_outputs))
                core.answers(rows[part], given)
                out[0][part] = given

    def _require_tracked(self, coverage: float | None) -> None:
        """Refuse a coverage before anything is learned."""
        if coverage is not None:
            rule = "be None for a model without intervals, which PredictionIntervals puts around any regressor"
            raise InvalidParameter.of(type(self).__name__, "coverage", rule, coverage)

    def _take_steps(
        self, X: ArrayLike, y: ArrayLike, order: ArrayLike
    ) -> tuple[Floats, NDArray[np.int64], Floats, int | None]:
        """Rows, steps, targets of rows that are learned, and how many columns they came in."""
        rows: Floats = rows_for(X, self, "X")
        given = _as_numbers(y)
        if len(given) != rows.shape[0]:
            raise InvalidInput(f"y must have a target for each of the {rows.shape[0]} rows of X, got {len(given)}")
        steps, taught = steps_of(order, len(given))
        columns = None if given.ndim == 1 else given.shape[1]
        targets = np.full((len(given), 1 if columns is None else columns), np.nan)
        if taught.any():
            targets[taught], columns = as_targets(given[taught], int(taught.sum()), type(self).__name__)
        return rows, steps, targets, columns

    def learn_one(self, x: Row, y: float | Sequence[float] | Floats) -> Self:
        """Learn one row: an array, a sequence of numbers, or a dict of feature name to number."""
        core: RegressionCore | None = self.__dict__.get("_core")
        target: float | Floats
        if core is not None and isinstance(y, float):
            target = y
        else:
            core, target = self._meet(x, y)
        try:
            cut = core.learn_one(x, target)
        except InvalidInput as error:
            raise clearer_error(error, x, self) from None
        if cut:
            self._warn_of_cuts(core, stacklevel=3)
        return self

    def _meet(self, x: Row, y: Any) -> tuple[RegressionCore, Floats]:
        """Before a first row, or for a target that is not a float: check both, then make room."""
        target, columns = as_target(y)
        core: RegressionCore | None = self.__dict__.get("_core")
        if core is None:
            core = self._core_for_row(x)
            core.check_one(x)
            core.widen(len(target))
            self._commit(core, columns, names_of(x))
        return core, target

    def predict(self, X: ArrayLike) -> Floats:
        """Predict each row; nothing is learned."""
        rows = self._rows_to_predict(X)
        predictions = np.empty((len(rows), self._core.n_outputs))
        self._core.answers(rows, predictions)
        return self._shaped(predictions)

    def predict_one(self, x: Row) -> float | Floats | None:
        """Predict one row; None from a model that has learned nothing yet."""
        core: RegressionCore | None = self.__dict__.get("_core")
        if core is None:
            return None
        try:
            return core.answer_number(x) if self._columns is None else core.answer_one(x)
        except InvalidInput as error:
            raise clearer_error(error, x, self) from None

    def _take(self, X: ArrayLike, y: ArrayLike, *, anew: bool = False) -> tuple[Floats, Floats, int | None]:
        rows: Floats = rows_for(X, self, "X", anew=anew)
        return rows, *as_targets(y, len(rows), type(self).__name__)

    def _ready(self, X: ArrayLike, rows: Floats, columns: int | None) -> RegressionCore:
        """The core, with room for these targets."""
        if not self.__sklearn_is_fitted__():
            core = self._make_core(width_for_core(rows))
            core.widen(1 if columns is None else columns)
            self._commit(core, columns, self._remember_columns(X))
            return core
        self._require_same_parameters()
        self._require_same_columns(X)
        if columns != self._columns:
            was, now = (
                "one-dimensional" if count is None else f"of {count} column{'s' * (count > 1)}"
                for count in (self._columns, columns)
            )
            raise InvalidInput(f"y must be {was} like the targets learned so far, got one that is {now}")
        return self._core

    def _run(self, core: RegressionCore, *arrays: Any, **options: Any) -> None:
        untroubled = core.cuts[0] == 0
        core.run(*arrays, **options)
        self._keep_recent(*arrays[:2])
        if untroubled and core.cuts[0] > 0:
            self._warn_of_cuts(core, stacklevel=4)

    def _warn_of_cuts(self, core: RegressionCore, stacklevel: int) -> None:
        _, row, square = core.cuts
        warnings.warn(
            f"{type(self).__name__} cut the step of row {row}, which would have thrown its prediction beyond ten times "
            f"every target so far: the rate is too large for a row of squared length {square:.3g}. The model stays "
            "finite, and further cuts are only counted, in cut_steps_. Scale the features, lower the rate, or use "
            "solver='rls'.",
            Diverging,
            stacklevel=stacklevel,
        )

    def _commit(self, core: RegressionCore, columns: int | None, names: tuple[str, ...] | None) -> None:
        self._begin_with(core, names)
        self._columns = columns

    def _shaped(self, values: Floats) -> Floats:
        """Without the axis of the outputs where y had none."""
        return values[:, 0] if self._columns is None else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _header(self) -> dict[str, Any]:
        return {"targets": {"columns": self._columns}}

    def _attributes_from(self, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        columns = header["targets"]["columns"]
        if columns is not None and not isinstance(columns, int):
            raise ValueError("the number of target columns is not a number")
        if arrays["n_outputs"].tolist() != [1 if columns is None else columns]:
            raise ValueError("the targets and the state disagree")
        return {"_columns": columns}


class LinearRegressor(StreamRegressor, abstract=True):
    """A regressor that predicts by a linear model.

    Attributes
    ----------
    coef_ : ndarray of shape (features,) or (outputs, features)
        The weights that predict; of a model of sparse rows a `scipy.sparse.csr_array` of shape (outputs, features).
    intercept_ : float or ndarray of shape (outputs,)
        Their constant term.
    """

    _has_coefficients = True

    def predict_then_learn(
        self, X: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None, with_coef: bool = False
    ) -> Floats | LinearPredictions:
        """Predict each row before its target is seen, then learn it: the whole stream in one compiled call.

        ``sample_weight`` is how many rows each row counts for; one of weight 0 is only predicted.

        Returns
        -------
        ndarray or LinearPredictions
            The predictions, shaped like y; with ``with_coef`` also the linear model after each row.
        """
        core, rows, targets, masses = self._take_to_learn(X, y, sample_weight)
        predictions = np.empty_like(targets)
        if not with_coef:
            self._run(core, rows, targets, predictions, **masses)
            return self._shaped(predictions)
        if getattr(core, "is_sparse", False):
            raise InvalidInput("with_coef needs dense rows: of sparse ones the features come on the way")
        width = core.coefficients()[0].shape[1]
        weights, intercepts = np.empty((*targets.shape, width)), np.empty_like(targets)
        self._run(core, rows, targets, predictions, weights, intercepts, **masses)
        return LinearPredictions(self._shaped(predictions), self._shaped(weights), self._shaped(intercepts))

    @property
    def coef_(self) -> Any:
        """The weights that predict."""
        core = self._learned_core()
        weights = core.coefficients()[0]
        if getattr(core, "is_sparse", False):
            dense = sparse_weights(core.state()["feature_ids"], weights, self.n_features_in_)
            if not self._has_open_names:
                return dense
            weights = dense.toarray()  # the width is that of the features met
        return weights[0] if self._columns is None else weights

    @property
    def intercept_(self) -> float | Floats:
        """The constant term of the prediction."""
        intercepts = self._learned_core().coefficients()[1]
        return float(intercepts[0]) if self._columns is None else intercepts
