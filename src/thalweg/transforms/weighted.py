"""The methods of transformers that weigh rows; what a weight means to each is told in ``learners/weights.py``."""

from __future__ import annotations

from typing import Self

from numpy.typing import ArrayLike

from thalweg.learners.rows import Floats
from thalweg.transforms.contract import StreamTransformer


class WithRowWeights(StreamTransformer):
    """A transformer that learns rows by their weights."""

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and learn these rows; `partial_fit` goes on from there. ``y`` is not looked at.

        ``sample_weight`` is how much each row counts: 1, or None, is an ordinary row, 0 is none, and more than 1 counts
        for more: as so many copies, or by a step so many times as large (the documentation's page on weights).
        """
        return self._fit(X, sample_weight)

    def partial_fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn these rows in order; ``sample_weight`` is how many rows each counts for. ``y`` is not looked at."""
        return self._partial_fit(X, sample_weight)

    def transform_then_learn(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Floats:
        """Each row as transformed by what was known before it, which is then learned: one compiled call.

        ``sample_weight`` is how many rows each row counts for; one of weight 0 is only transformed.
        """
        return self._transform_then_learn(X, sample_weight)
