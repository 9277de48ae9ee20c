"""A classifier of ours as River's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from river import base

from thalweg.errors import UnknownFeature
from thalweg.interop.open_learner import Features, OpenSupervisedLearner
from thalweg.learners.online_ldc import OnlineLDC


class RiverClassifier(OpenSupervisedLearner, base.MiniBatchClassifier):
    """A stream classifier over rows that are dicts, of any number of classes; `to_river` makes one.

    Parameters
    ----------
    model : classifier of thalweg
        The template.
    missing : {"zero", "mean"}, default "zero"
        What a feature is in a row that lacks it.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.interop import to_river
    >>> model = to_river(OnlineLDC())
    >>> for x, y in [(0.0, "low"), (1.0, "low"), (4.0, "high"), (5.0, "high")]:
    ...     model.learn_one({"level": x}, y)
    >>> model.predict_one({"level": 4.5})
    'high'
    >>> {label: round(p, 2) for label, p in model.predict_proba_one({"level": 2.5}).items()}
    {'high': 0.5, 'low': 0.5}
    """

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        """The answer to one row; None before any label."""
        try:
            return self.learner_.predict_one(x)
        except UnknownFeature:
            return self.learner_.predict_one(self._familiar(x))

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        """The probability of each label met so far; a learner that has none raises NotImplementedError."""
        if not hasattr(self.model, "predict_proba"):
            raise NotImplementedError(f"{self} has no probabilities")
        learner = self.learner_
        if self._vocabulary is None:
            return {}
        try:
            given = learner._core.probabilities_one(x)
        except UnknownFeature:
            given = learner._core.probabilities_one(self._familiar(x))
        return dict(zip(learner._labels.codes, given, strict=True))

    def predict_many(self, X: Any) -> Any:
        """The answer to each row of a frame, as a series."""
        import pandas as pd

        if self._vocabulary is None or not len(X):
            return pd.Series([None] * len(X), index=X.index, dtype=object)
        return pd.Series(self.learner_.predict(self._rows_to_answer(X)), index=X.index)

    def predict_proba_many(self, X: Any) -> Any:
        """The probability of each label, a column each."""
        import pandas as pd

        if not hasattr(self.model, "predict_proba"):
            raise NotImplementedError(f"{self} has no probabilities")
        if self._vocabulary is None or not len(X):
            return pd.DataFrame(index=X.index)
        given = self.learner_.predict_proba(self._rows_to_answer(X))
        return pd.DataFrame(given, index=X.index, columns=self.learner_.classes_.tolist())

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": OnlineLDC()}
