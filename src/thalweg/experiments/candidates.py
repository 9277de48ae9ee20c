"""What an experiment tries: a model at a rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from thalweg.rates import Rate


class Learner(Protocol):
    """What a learner must be able to do to be measured here."""

    def fit(self, X: Any, y: Any) -> Any:
        """Start from these rows."""

    def learn_then_test(self, X: Any, y: Any, X_test: Any, y_test: Any) -> NDArray[np.int64]:
        """Mistakes on each step's own test rows, after learning the step's row."""

    def predict_then_learn(self, X: Any, y: Any) -> Any:
        """Each row's answer, given before its label was learned."""


@dataclass(frozen=True)
class Model:
    """A model of the paper: its printed name, its rate's symbol, and how to make one."""

    name: str
    symbol: str
    #: Makes a fresh learner from a rate (none for baselines) and a seed.
    make: Callable[[Any, int], Learner]


@dataclass(frozen=True)
class Candidate:
    """A model at a rate, fixed or adapting itself; a baseline has none."""

    model: Model
    rate: float | Rate | None

    def learner(self, seed: int) -> Learner:
        """A fresh learner."""
        return self.model.make(self.rate, seed)
