"""A trial measures candidates on one data set by one protocol; what every protocol gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

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


class Trial(ABC):
    """One data set and its protocol."""

    @property
    @abstractmethod
    def work(self) -> float:
        """Rows answered to measure one candidate, to weigh progress by."""

    @abstractmethod
    def measure(self, candidates: Sequence[Candidate], workers: int, finished: Callable[[float], None]) -> Measured:
        """Measure all candidates on the same rows, telling ``finished`` the share done."""
