"""A regressor of ours as River's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from river import base

from thalweg.errors import UnknownFeature
from thalweg.interop.open_learner import Features, OpenSupervisedLearner
from thalweg.learners.linear_regression import OnlineLinearRegression


class RiverRegressor(OpenSupervisedLearner, base.MiniBatchRegressor):
    """A stream regressor over rows that are dicts, with one target; `to_river` makes one.

    Parameters
    ----------
    model : regressor of thalweg
        The template.
    missing : {"zero", "mean"}, default "zero"
        What a feature is in a row that lacks it.

    Examples
    --------
    >>> from thalweg import OnlineLinearRegression
    >>> from thalweg.interop import to_river
    >>> model = to_river(OnlineLinearRegression(solver="rls"))
    >>> for x in range(20):
    ...     model.learn_one({"x": float(x)}, 2.0 * x + 1.0)
    >>> round(model.predict_one({"x": 100.0}), 6)
    201.0
    """

    def predict_one(self, x: Features) -> float:
        """The answer to one row; 0 before any."""
        try:
            answer = self.learner_.predict_one(x)
        except UnknownFeature:
            answer = self.learner_.predict_one(self._familiar(x))
        return 0.0 if answer is None else answer

    def predict_many(self, X: Any) -> Any:
        """The answer to each row of a frame, as a series."""
        import pandas as pd

        known = self._vocabulary is not None and len(X)
        answers = self.learner_.predict(self._rows_to_answer(X)) if known else np.zeros(len(X))
        return pd.Series(answers, index=X.index)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": OnlineLinearRegression(solver="rls")}
