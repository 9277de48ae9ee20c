"""`TableRegressor`: numbers for rows as they are in a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from thalweg.errors import InvalidInput
from thalweg.learners.auto_regressor import AutoRegressor
from thalweg.learners.base.intervals import Interval
from thalweg.learners.base.kept_predictions import steps_of
from thalweg.learners.base.regressor import PredictionsWithIntervals, StreamRegressor, as_targets
from thalweg.table_model.model import TableModel, _learner_has
from thalweg.tables.plan import Plan


class TableRegressor(RegressorMixin, TableModel):
    """A regressor for rows as they are in a table: numbers, categories, text, times and gaps in named columns.

    It is the model that `thalweg run` leaves where the target is a number. Rows, rules, parameters and attributes are
    those of `TableClassifier`, with `AutoRegressor()` as the default.

    Parameters
    ----------
    learner : regressor of thalweg, optional
        What learns the encoded rows; by default `AutoRegressor()`.
    head, categorical, numeric, text, drop, time, key, na, decimal, keep_sentinels, missing, misfits, ngrams, hash_bits
        As those of `TableClassifier`.

    Attributes
    ----------
    learner_ : regressor of thalweg
        What has learned; it takes encoded rows, as `encode` gives them.
    encoder_ : Encoder
        ``encoder_.plan`` says what each column is, ``encoder_.feature_names()`` what the features are.
    columns_ : list of (name, kind, treatment)
        What was decided of each column; printed as a table.

    Examples
    --------
    >>> import pandas as pd
    >>> from thalweg import OnlineLinearRegression, TableRegressor
    >>> rows = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0, 5.0], "garden": ["no", "yes", "no", "yes", "no"]})
    >>> model = TableRegressor(OnlineLinearRegression(solver="rls")).partial_fit(rows, [10.0, 25.0, 30.0, 45.0, 50.0])
    >>> round(model.predict_one({"garden": "yes", "size": 6}), 1)
    65.0
    """

    learner_: StreamRegressor
    _usual_learner = AutoRegressor
    _kind_of_learner = StreamRegressor

    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn these rows in order, as the run would have. A call that is refused changes nothing."""
        self._learn("partial_fit", X, y, sample_weight=sample_weight)
        return self

    def predict_then_learn(self, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> NDArray[Any]:
        """Predict each row before its target is seen, then learn it: the whole table in one call."""
        predictions: NDArray[Any] = self._learn("predict_then_learn", X, y, sample_weight=sample_weight)
        return predictions

    @available_if(_learner_has("predict_interval_then_learn"))  # type: ignore[untyped-decorator]
    def predict_interval_then_learn(
        self, X: Any, y: ArrayLike, coverage: float | None = None
    ) -> PredictionsWithIntervals:
        """The same with intervals; see the learner for the coverages it has."""
        predictions: PredictionsWithIntervals = self._learn("predict_interval_then_learn", X, y, coverage=coverage)
        return predictions

    def follow(self, X: Any, y: ArrayLike, order: ArrayLike, *, coverage: float | None = None) -> Any:
        """Predict and learn rows in any order, in one call: ``i`` predicts row i, ``~i`` learns it.

        The encoder remembers all rows as they stand. The target of a row that is not learned is not looked at.
        """
        return self._learn("follow", X, y, order, coverage=coverage)

    @available_if(_learner_has("predict_interval"))  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Any, coverage: float | None = None) -> Interval:
        """The lower and the upper end of the interval of each row; see the learner for the coverages it has."""
        asked = {} if coverage is None else {"coverage": coverage}
        learner: Any = self.learner_
        intervals = [learner.predict_interval(self._named(rows), **asked) for rows in self._encoded(X)]
        ends = map(np.concatenate, zip(*intervals, strict=True)) if intervals else (np.empty(0), np.empty(0))
        return Interval(*ends)

    @available_if(_learner_has("predict_interval"))  # type: ignore[untyped-decorator]
    def predict_interval_one(self, x: Mapping[str, Any], coverage: float | None = None) -> tuple[Any, Any] | None:
        """The ends of the interval of one row, a dict of column name to cell; None before any row was learned."""
        if not self.__sklearn_is_fitted__():
            return None
        asked = {} if coverage is None else {"coverage": coverage}
        learner: Any = self.learner_
        lower, upper = learner.predict_interval(self._encoded_one(x), **asked)
        return lower[0].tolist(), upper[0].tolist()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._learner_now.__sklearn_tags__().target_tags.multi_output
        return tags

    def _of_task(self, plan: Plan, target: str) -> Plan:
        columns = tuple(column.for_numbers() for column in plan.columns)
        return replace(plan, columns=columns, left_out=plan.left_out | {target: "the target"})

    def _targets(self, y: Any, rows: int, order: Any = None) -> Any:
        if order is None:
            targets, columns = as_targets(y, rows, type(self).__name__)
            return targets[:, 0] if columns is None else targets
        targets = np.array([np.nan if value is None else value for value in y], dtype=np.float64)
        if len(targets) != rows:
            raise InvalidInput(f"y must have a target for each of the {rows} rows of X, got {len(targets)}")
        targets[~steps_of(order, rows)[1]] = np.nan
        return targets

    def _target(self, y: Any) -> Any:
        return y
