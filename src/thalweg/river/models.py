"""Our classifiers, regressors and transformers as subclasses of River's base classes; River must be installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, overload

import numpy as np
from river import base
from river.conf.interval import Interval
from sklearn.base import OneToOneFeatureMixin, clone

from thalweg.errors import UnknownFeature
from thalweg.kernels import compiled
from thalweg.learners.linear_regression import OnlineLinearRegression
from thalweg.learners.online_ldc import OnlineLDC
from thalweg.pipeline.pipeline import TransformerPipeline, named
from thalweg.river.open_learner import Features, OpenLearner, OpenSupervisedLearner, in_order, values_of
from thalweg.transforms.standard_scaler import StandardScaler


class RiverClassifier(OpenSupervisedLearner, base.MiniBatchClassifier):
    """A stream classifier over rows that are dicts, of any number of classes; `to_river` makes one.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.river import to_river
    >>> model = to_river(OnlineLDC())
    >>> for x, y in [(0.0, "low"), (1.0, "low"), (4.0, "high"), (5.0, "high")]:
    ...     model.learn_one({"level": x}, y)
    >>> model.predict_one({"level": 4.5})
    'high'
    >>> {label: round(p, 2) for label, p in model.predict_proba_one({"level": 2.5}).items()}
    {'high': 0.5, 'low': 0.5}
    """

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        """The prediction for one row; None before any label."""
        try:
            return self._learner.predict_one(x)
        except UnknownFeature:
            return self._learner.predict_one(self._familiar(x))

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        """The probability of each label met so far; a learner that has none raises NotImplementedError."""
        if not hasattr(self.model, "predict_proba"):
            raise NotImplementedError(f"{self} has no probabilities")
        learner = self._learner
        if not self._has_begun:
            return {}
        try:
            given = learner._probabilities_one(x)
        except UnknownFeature:
            given = learner._probabilities_one(self._familiar(x))
        return dict(zip(learner._labels.codes, given, strict=True))

    def predict_many(self, X: Any) -> Any:
        import pandas as pd

        if not self._has_begun or not len(X):
            return pd.Series([None] * len(X), index=X.index, dtype=object)
        return pd.Series(self.learner_.predict(self._rows_to_predict(X)), index=X.index)

    def predict_proba_many(self, X: Any) -> Any:
        """The probability of each label, a column each."""
        import pandas as pd

        if not hasattr(self.model, "predict_proba"):
            raise NotImplementedError(f"{self} has no probabilities")
        if not self._has_begun or not len(X):
            return pd.DataFrame(index=X.index)
        given = self.learner_.predict_proba(self._rows_to_predict(X))
        return pd.DataFrame(given, index=X.index, columns=self._learner.classes_.tolist())

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": OnlineLDC()}


class RiverRegressor(OpenSupervisedLearner, base.MiniBatchRegressor):
    """A stream regressor over rows that are dicts, with one target; `to_river` makes one.

    Examples
    --------
    >>> from thalweg import OnlineLinearRegression
    >>> from thalweg.river import to_river
    >>> model = to_river(OnlineLinearRegression(solver="rls"))
    >>> for x in range(20):
    ...     model.learn_one({"x": float(x)}, 2.0 * x + 1.0)
    >>> round(model.predict_one({"x": 100.0}), 6)
    201.0
    """

    @overload
    def predict_one(self, x: Features, *, with_interval: Literal[False] = False) -> float: ...
    @overload
    def predict_one(self, x: Features, *, with_interval: Literal[True]) -> Interval: ...
    def predict_one(self, x: Features, *, with_interval: bool = False) -> float | Interval:
        """The prediction for one row; 0 before any.

        With ``with_interval`` the interval around it, as `river.conf` gives them, of a learner that has intervals;
        another one raises NotImplementedError.
        """
        if with_interval:
            return self._interval(x)
        try:
            predicted = self._learner.predict_one(x)
        except UnknownFeature:
            predicted = self._learner.predict_one(self._familiar(x))
        return 0.0 if predicted is None else predicted

    def _interval(self, x: Features) -> Interval:
        if not hasattr(self.model, "predict_interval"):
            raise NotImplementedError(f"{self} has no intervals")
        if self._vocabulary is None:
            return Interval(0.0, 0.0)
        names = tuple(name for name in self.feature_names_ if name in x)
        rows = self._columns(names, values_of(x, names)[np.newaxis])
        lower, upper = self._learner.predict_interval(rows)
        return Interval(float(lower[0]), float(upper[0]))

    def predict_many(self, X: Any) -> Any:
        import pandas as pd

        known = self._has_begun and len(X)
        predicted = self.learner_.predict(self._rows_to_predict(X)) if known else np.zeros(len(X))
        return pd.Series(predicted, index=X.index)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": OnlineLinearRegression(solver="rls")}


class RiverTransformer(OpenLearner, base.MiniBatchTransformer):
    """A stream transformer over rows that are dicts; `to_river` makes one.

    A scaler gives out the features of the row, by their names; any other transformer names what it makes itself.

    Examples
    --------
    >>> from thalweg import CCIPCA, StandardScaler
    >>> from thalweg.river import to_river
    >>> scale, turn = to_river(StandardScaler()), to_river(CCIPCA(1))
    >>> for x in (1.0, 2.0, 3.0):
    ...     scale.learn_one({"x": x})
    ...     turn.learn_one({"x": x, "y": -x})
    >>> scale.transform_one({"x": 2.0}), round(turn.transform_one({"x": 3.0, "y": -3.0})["ccipca0"], 3)
    ({'x': 0.0}, 1.414)
    """

    def __init__(self, model: Any, missing: str = "zero") -> None:
        super().__init__(model, missing)
        self._keeps_features = _keeps_features(model)
        self._made: tuple[Any, ...] | None = None

    def learn_one(self, x: Features) -> None:
        self._learn(x)

    def transform_one(self, x: Features) -> Features:
        """One row transformed by what is known now."""
        if self._vocabulary is None:
            return self._untaught(x)
        transform = self._learner._core.transform_named
        names = self._names_out(self.feature_names_)
        try:
            out: Features = transform(x, names)
        except UnknownFeature:
            out = transform(self._familiar(x), names)
            if self._keeps_features:
                out |= self._untaught({name: x[name] for name in x if name not in out})
        if self._keeps_features and len(out) > len(x):
            return {name: out[name] for name in x}
        return out

    def learn_many(self, X: Any) -> None:
        self._learn_frame(X)

    def transform_many(self, X: Any) -> Any:
        """Each row of a frame transformed by what is known now, as a frame."""
        import pandas as pd

        if self._vocabulary is None or (self._keeps_features and set(X.columns) - set(self.feature_names_)):
            return pd.DataFrame([self.transform_one(row) for row in X.to_dict("records")], index=X.index)
        names = list(self._names_out(self.feature_names_))
        out = pd.DataFrame(self._learner.transform(self._rows_to_predict(X)), index=X.index, columns=names)
        return out[list(X.columns)] if self._keeps_features else out

    def _untaught(self, x: Features) -> Features:
        """Features as they are given out before any row was learned."""
        if not x:
            return {}
        names = in_order(x)
        core = self._learner._make_core(len(names))
        core.name_features(compiled.Vocabulary(names, False))
        out: Features = core.transform_named(x, self._names_out(names))
        return out

    def _names_out(self, names: tuple[Any, ...]) -> tuple[Any, ...]:
        if self._keeps_features:
            return names
        if self._made is None:
            probe = clone(self.model).partial_fit(np.zeros((1, len(names))))
            self._made = tuple(probe.get_feature_names_out().tolist())
        return self._made

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": StandardScaler()}


def _keeps_features(model: Any) -> bool:
    """Whether what is given out are the features that came in."""
    if isinstance(model, TransformerPipeline):
        return all(_keeps_features(step) for _, step in named(model.steps))
    return isinstance(model, OneToOneFeatureMixin)
