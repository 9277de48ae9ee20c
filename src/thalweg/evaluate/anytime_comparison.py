"""Champion against challenger on the same rows, with an interval that may be looked at after every label."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.saved import Saved

Floats = NDArray[np.float64]

LEVEL = 0.95
#: Fewer labels than this decide nothing, whatever the interval says.
LEAST_LABELS = 100


class Comparison(Saved, ABC):
    """The losses of two models on the same rows.

    Only rows that were asked after the record ``since`` are compared: both models predicted them in the roles they have
    now.
    """

    def __init__(self, since: int = 0) -> None:
        self.since = since
        self.labels = 0

    @abstractmethod
    def add(self, champion: NDArray[Any], challenger: NDArray[Any]) -> None:
        """Take in the losses of the two, label by label."""

    @property
    @abstractmethod
    def difference(self) -> float | None:
        """The champion's mean loss less the challenger's."""

    @abstractmethod
    def interval(self) -> tuple[float, float] | None:
        """Where the mean difference is, at `LEVEL`, however often one looks."""

    def winner(self) -> str | None:
        """Which of the two is significantly better, "champion" or "challenger"; None while it is open."""
        interval = self.interval()
        if interval is None or self.labels < LEAST_LABELS or interval[0] <= 0.0 <= interval[1]:
            return None
        return "challenger" if interval[0] > 0.0 else "champion"


#: A grid of λ, from the eager to the patient, with the same weight each.
_LAMBDAS = 0.9 * 2.0 ** (-np.arange(24) / 2)
_PRICES = -np.log1p(-_LAMBDAS) - _LAMBDAS


class MistakeComparison(Comparison):
    """Of mistakes: the interval for the difference of two errors holds at every label (anytime-valid).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> compared = MistakeComparison()
    >>> compared.add(rng.random(4000) < 0.30, rng.random(4000) < 0.20)
    >>> low, high = compared.interval()
    >>> print(f"{compared.difference:.2f}, between {low:.2f} and {high:.2f}")
    0.11, between 0.08 and 0.15
    """

    _saved = ("since", "labels", "_sum", "_spread")

    def __init__(self, since: int = 0) -> None:
        super().__init__(since)
        self._sum = 0  # of the differences, in whole mistakes
        self._spread = 0.0  # the sum of (x_i − x̂_i)²

    def add(self, champion: NDArray[np.bool_], challenger: NDArray[np.bool_]) -> None:
        """Take in whether each of the two was wrong, label by label."""
        if len(champion) == 0:
            return
        differences = champion.astype(np.int64) - challenger
        sums = self._sum + np.concatenate([[0], np.cumsum(differences)])
        # The guess is the mean so far, drawn towards 0 by one label.
        guesses = sums[:-1] / (2.0 * np.arange(self.labels + 1, self.labels + 1 + len(differences)))
        spreads = np.square(differences / 2.0 - guesses)
        # cumsum adds one by one, so that it does not matter how the labels came
        self._spread = float(np.cumsum(np.concatenate([[self._spread], spreads]))[-1])
        self._sum = int(sums[-1])
        self.labels += len(differences)

    @property
    def difference(self) -> float | None:
        """The champion's error less the challenger's."""
        return self._sum / self.labels if self.labels else None

    def interval(self) -> tuple[float, float] | None:
        """Where the difference of the two errors is."""
        if self.labels == 0:
            return None
        half = 2.0 * self._deviation() / self.labels
        centre = self._sum / self.labels
        return max(-1.0, centre - half), min(1.0, centre + half)

    def _deviation(self) -> float:
        """The largest s for which the mean of exp(λ s − ψ(λ) V) is at most 2/α: ours, by halving."""
        limit = math.log(2.0 / (1.0 - LEVEL))
        low, high = 0.0, float(self.labels) + limit / _LAMBDAS[0] + 1.0
        for _ in range(60):
            middle = (low + high) / 2
            exponents = _LAMBDAS * middle - _PRICES * self._spread
            top = float(exponents.max())
            mean = top + math.log(float(np.exp(exponents - top).mean()))
            low, high = (middle, high) if mean <= limit else (low, middle)
        return float(high)


#: After so many labels the interval is as narrow as it can be for one that holds at all of them.
_NARROWEST = 1000
_ALPHA = 1.0 - LEVEL
_RHO_SQUARED = (-2.0 * math.log(_ALPHA) + math.log(1.0 - 2.0 * math.log(_ALPHA))) / _NARROWEST


class SquaredErrorComparison(Comparison):
    """Of squared errors, which have no bound: the interval holds at all labels together once there are many.

    I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy, A. Ramdas, "Time-uniform central limit theory and asymptotic
    confidence sequences", Annals of Statistics 52 (2024), theorem 2.2, with the standard deviation as estimated.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> compared = SquaredErrorComparison()
    >>> compared.add(rng.normal(size=4000) ** 2, (0.8 * rng.normal(size=4000)) ** 2)
    >>> low, high = compared.interval()
    >>> print(f"{compared.difference:.2f}, between {low:.2f} and {high:.2f}")
    0.38, between 0.29 and 0.46
    """

    _saved = ("since", "labels", "_mean", "_squares")

    def __init__(self, since: int = 0) -> None:
        super().__init__(since)
        self._mean = self._squares = 0.0  # of the differences: their mean, and the squared distances from it

    def add(self, champion: Floats, challenger: Floats) -> None:
        """Take in the squared error of each of the two, label by label."""
        for difference in (champion - challenger).tolist():
            self.labels += 1
            away = difference - self._mean
            self._mean += away / self.labels
            self._squares += away * (difference - self._mean)

    @property
    def difference(self) -> float | None:
        """The champion's mean squared error less the challenger's."""
        return self._mean if self.labels else None

    def interval(self) -> tuple[float, float] | None:
        """Where the mean difference of the squared errors is; None before the second label."""
        if self.labels < 2:
            return None
        scaled = self.labels * _RHO_SQUARED
        factor = 2.0 * (scaled + 1.0) / (self.labels * scaled) * math.log(math.sqrt(scaled + 1.0) / _ALPHA)
        half = math.sqrt(self._squares / self.labels * factor)
        return self._mean - half, self._mean + half
