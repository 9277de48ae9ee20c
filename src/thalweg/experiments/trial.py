"""A trial measures candidates on one data set by one protocol; what every protocol gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import mean_interval, paired_t_test
from thalweg.experiments.candidates import Candidate

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
        """Half-width of the error's 95 % interval; none where there is too little to tell."""

    @abstractmethod
    def differs(self, place: int, reference: int) -> bool | None:
        """Whether two candidates' errors differ at p < 0.05; none where it cannot be told."""

    @abstractmethod
    def times(self) -> NDArray[np.int64]:
        """Rows learned at each point of the curves."""

    @abstractmethod
    def curve(self, place: int) -> NDArray[np.float64]:
        """Error at each point of time."""


class OverRuns(Measured):
    """Measured in several independent runs, whose means tell how sure a mean is."""

    @abstractmethod
    def run_means(self, place: int) -> NDArray[np.float64]:
        """Mean error of each run."""

    @property
    def runs(self) -> int:
        """Runs the errors are averaged over."""
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
        """Rows answered to measure one candidate, to weigh progress by."""

    @abstractmethod
    def measure(self, candidates: Sequence[Candidate], workers: int, finished: Callable[[float], None]) -> Measured:
        """Measure all candidates on the same rows, telling ``finished`` the share done."""
