"""The rows every contestant gets: normal classes with correlated features, in the form each of them takes."""

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
    classes : int
        How many classes.
    numbers : int
        Numbers in the array.
    """

    NUMBERS = 1_500_000
    #: Numbers in all dicts together, which take some ten times the room.
    NUMBERS_IN_DICTS = 300_000

    def __init__(self, features: int, classes: int = 2, numbers: int = NUMBERS) -> None:
        random = np.random.default_rng([0, features])
        count = numbers // features
        self.features = features
        self.names = [f"x{j}" for j in range(features)]
        self.y: NDArray[np.int64] = random.integers(0, classes, size=count)
        mixing = np.eye(features) + random.normal(scale=0.5 / np.sqrt(features), size=(features, features))
        # Two classes are some two standard deviations apart at any width: every learner errs now and then.
        shifts = random.normal(size=(classes, features))
        shifts *= np.sqrt(2) / np.linalg.norm(shifts, axis=1, keepdims=True)
        self.X: NDArray[np.float64] = (random.normal(size=(count, features)) + shifts[self.y]) @ mixing

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
