"""Trials: candidates (a model at a rate) measured on one data set by one protocol, and what was measured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import paired_t_test
from thalweg.papers.registry import ci95
from thalweg.rates import Rate
from thalweg.streams.stream import Rows


class Learner(Protocol):
    def fit(self, X: Any, y: Any) -> Any:
        """Start from these rows."""

    def learn_then_test(self, X: Any, y: Any, X_test: Any, y_test: Any) -> NDArray[np.int64]:
        """Mistakes on each step's own test rows, after learning the step's row."""

    def predict_then_learn(self, X: Any, y: Any) -> Any:
        """Each row's prediction, made before its label is learned."""


class Model(NamedTuple):
    """A model of the paper: its printed name, its rate's symbol, and how to make one."""

    name: str
    symbol: str
    #: Makes a fresh learner from a rate (none for baselines) and a seed.
    make: Callable[[Any, int], Learner]


class Candidate(NamedTuple):
    """A model at a fixed or adaptive rate; a baseline has none."""

    model: Model
    rate: float | Rate | None

    def learner(self, seed: int) -> Learner:
        return self.model.make(self.rate, seed)


def mistakes_held_out(candidates: Sequence[Candidate], seed: int, start: Rows, rows: Rows, tests: Rows) -> NDArray[Any]:
    """Mistakes by candidate and step, on test rows of the step, after learning the start and the rows so far."""
    learners = [candidate.learner(seed).fit(*start) for candidate in candidates]
    return np.stack([learner.learn_then_test(*rows, *tests) for learner in learners])


SIGNIFICANT = 0.05


class Measured(ABC):
    """Errors of several candidates, by their places, on the same data; here in several independent runs."""

    @abstractmethod
    def means(self, place: int) -> NDArray[np.float64]:
        """Mean errors whose spread gives the interval: of each run."""

    @abstractmethod
    def error(self, place: int) -> float:
        """Mean error over the whole stream and all runs."""

    @abstractmethod
    def times(self) -> NDArray[np.int64]:
        """Rows learned at each point of the curves."""

    @abstractmethod
    def curve(self, place: int) -> NDArray[np.float64]:
        """Error at each point of time."""

    @property
    def runs(self) -> int:
        """Runs the errors are averaged over."""
        return len(self.means(0))

    def ci95(self, place: int) -> float | None:
        """Half-width of the error's 95 % interval; None for a single run."""
        return ci95(self.means(place))

    def differs(self, place: int, reference: int) -> bool | None:
        """Whether two candidates' errors differ at p < 0.05, by a paired t test; None where it cannot be tested."""
        if self.runs < 2 or place == reference:
            return None
        return paired_t_test(self.means(place), self.means(reference)).p_value < SIGNIFICANT


Measurement = TypeVar("Measurement", bound=Measured, covariant=True)


class Batch(NamedTuple, Generic[Measurement]):
    """Candidates and what was measured of them, place by place."""

    candidates: tuple[Candidate, ...]
    measured: Measurement

    def place(self, model: Model, rate: float | Rate | None = None) -> int:
        """The place of a model, at a rate if it was tried at several."""
        return next(
            place
            for place, candidate in enumerate(self.candidates)
            if candidate.model is model and rate in (None, candidate.rate)
        )

    def errors(self, model: Model) -> dict[float, float]:
        return {
            candidate.rate: self.measured.error(place)
            for place, candidate in enumerate(self.candidates)
            if candidate.model is model and isinstance(candidate.rate, float)
        }
