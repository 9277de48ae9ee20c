"""Discriminants that are known only up to what all classes share, such as the choice of an origin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax

from thalweg.learners.contract import WithProbabilities
from thalweg.learners.rows import Floats


class WithLogPosteriors(WithProbabilities):
    """More than two discriminants are given as logarithms of probabilities, which no such choice can change."""

    def decision_function(self: Any, X: ArrayLike) -> Floats:
        """The logarithm of each class's probability; for two classes the second's minus the first's."""
        scores = super().decision_function(X)  # type: ignore[misc]
        return np.asarray(scores if scores.ndim == 1 else log_softmax(scores, axis=1))
