"""Trials: candidates (a model at a rate) measured on one data set by one protocol, and what was measured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import mean_interval, paired_t_test
from thalweg.rates import Rate


class Learner(Protocol):
    def fit(self, X: Any, y: Any) -> Any:
        """Start from these rows."""

    def learn_then_test(self, X: Any, y: Any, X_test: Any, y_test: Any) -> NDArray[np.int64]:
        """Mistakes on each step's own test rows, after learning the step's row."""

    def predict_then_learn(self, X: Any, y: Any) -> Any:
        """Each row's prediction, made before its label is learned."""


@dataclass(frozen=True)
class Model:
    """A model of the paper: its printed name, its rate's symbol, and how to make one."""

    name: str
    symbol: str
    #: Makes a fresh learner from a rate (none for baselines) and a seed.
    make: Callable[[Any, int], Learner]


@dataclass(frozen=True)
class Candidate:
    """A model at a fixed or adaptive rate; a baseline has none."""

    model: Model
    rate: float | Rate | None

    def learner(self, seed: int) -> Learner:
        return self.model.make(self.rate, seed)


SIGNIFICANT = 0.05


class Measured(ABC):
    """Errors of several candidates, by their places, on the same data."""

    @property
    @abstractmethod
    def runs(self) -> int:
        """Runs the errors are averaged over."""

    @abstractmethod
    def error(self, place: int) -> float:
        """Mean error over the whole stream and all runs."""

    @abstractmethod
    def ci95(self, place: int) -> float | None:
        """Half-width of the error's 95 % interval; None for a single run."""

    @abstractmethod
    def differs(self, place: int, reference: int) -> bool | None:
        """Whether two candidates' errors differ at p < 0.05; None where it cannot be tested."""

    @abstractmethod
    def times(self) -> NDArray[np.int64]:
        """Rows learned at each point of the curves."""

    @abstractmethod
    def curve(self, place: int) -> NDArray[np.float64]:
        """Error at each point of time."""


class OverRuns(Measured):
    """Measured in several independent runs, whose spread gives the intervals."""

    @abstractmethod
    def run_means(self, place: int) -> NDArray[np.float64]:
        """Mean error of each run."""

    @property
    def runs(self) -> int:
        return len(self.run_means(0))

    def ci95(self, place: int) -> float | None:
        """From the spread of the runs' means."""
        return None if self.runs < 2 else mean_interval(self.run_means(place)).halfwidth

    def differs(self, place: int, reference: int) -> bool | None:
        """By a paired t test over runs."""
        if self.runs < 2 or place == reference:
            return None
        return paired_t_test(self.run_means(place), self.run_means(reference)).p_value < SIGNIFICANT


class Trial(ABC):
    """One data set and its protocol."""

    @property
    @abstractmethod
    def work(self) -> float:
        """Rows predicted to measure one candidate, the unit of progress."""

    @abstractmethod
    def measure(self, candidates: Sequence[Candidate], workers: int, finished: Callable[[float], None]) -> Measured:
        """Measure all candidates on the same rows; ``finished`` is called with the share done."""


Measurement = TypeVar("Measurement", bound=Measured, covariant=True)


@dataclass(frozen=True)
class Batch(Generic[Measurement]):
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
