"""The rows every contestant gets: two normal classes with correlated features, in the form each of them takes."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray


class Rows:
    """Labelled rows of one width, as an array and as dicts.

    Parameters
    ----------
    features : int
        The width.
    seed : int
        Everything random.
    """

    #: Numbers in the array, and in all dicts together, which take some ten times the room.
    NUMBERS, NUMBERS_IN_DICTS = 1_500_000, 300_000

    def __init__(self, features: int, seed: int = 0) -> None:
        random = np.random.default_rng([seed, features])
        count = self.NUMBERS // features
        self.features = features
        self.names = [f"x{j}" for j in range(features)]
        self.y: NDArray[np.int64] = random.integers(0, 2, size=count)
        mixing = np.eye(features) + random.normal(scale=0.5 / np.sqrt(features), size=(features, features))
        # Classes two standard deviations apart at any width: every learner errs now and then, as on real streams.
        shift = random.normal(size=features)
        shift *= 2 / np.linalg.norm(shift)
        self.X: NDArray[np.float64] = (random.normal(size=(count, features)) + np.outer(self.y, shift)) @ mixing

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def dicts(self) -> list[dict[str, float]]:
        """The first rows as dicts."""
        return [dict(zip(self.names, row, strict=True)) for row in self._first.tolist()]

    @cached_property
    def arrays(self) -> list[NDArray[np.float64]]:
        """The same rows as arrays of one row each."""
        return list(self._first)

    @cached_property
    def labels(self) -> list[bool]:
        """Their labels, as River likes them."""
        return [bool(label) for label in self.y[: len(self._first)]]

    @property
    def _first(self) -> NDArray[np.float64]:
        return self.X[: self.NUMBERS_IN_DICTS // self.features]
