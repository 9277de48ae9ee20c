"""The mean loss over all rows, estimated from those whose labels were asked for.

Each asked row stands for 1 / p rows, p being its probability of being asked (D. G. Horvitz, D. J. Thompson, JASA 1952;
divided by the sum of these weights, after Hájek). The interval is that of weighted sums of counts by M. P. Fay and
E. J. Feuer ("Confidence Intervals for Directly Standardized Rates", Statistics in Medicine 1997): two quantiles of
gamma distributions, the upper one as if one more loss of the largest weight had come. It holds with few mistakes or
none, where that of a normal distribution does not, and is rather too wide than too narrow.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.saved import Saved

Floats = NDArray[np.float64]


class Estimate(NamedTuple):
    """A mean loss with its interval; None before any row was asked."""

    value: float | None
    lower: float | None
    upper: float | None


class ErrorEstimate(Saved):
    """Weighted sums, in constant memory; ``most`` is the largest loss there can be, 0 where only losses say that.

    Examples
    --------
    >>> estimate = ErrorEstimate(1.0)
    >>> estimate.add(np.array([0.0, 1.0, 0.0]), np.array([0.5, 1.0, 0.25]))
    >>> round(estimate.interval().value, 4), estimate.rows
    (0.1429, 3)
    """

    _saved: ClassVar[tuple[str, ...]] = ("rows", "_weights", "_squares", "_largest", "_most")

    def __init__(self, most: float) -> None:
        #: Asked rows whose label has come.
        self.rows = 0
        #: Sums of the weights, and of these times the loss; of their squares times the loss to the power 0, 1, 2.
        self._weights, self._squares = np.zeros(2), np.zeros(3)
        self._largest, self._most = 0.0, most

    def add(self, losses: Floats, probabilities: Floats) -> None:
        """Take in asked rows, one after the other."""
        for loss, probability in zip(losses.tolist(), probabilities.tolist(), strict=True):
            weight = 1.0 / probability
            square = weight * (weight - 1.0)
            self._weights += (weight, weight * loss)
            self._squares += (square, square * loss, square * loss * loss)
            self._largest, self._most = max(self._largest, weight), max(self._most, abs(loss))
            self.rows += 1

    def interval(self, coverage: float = 0.95) -> Estimate:
        """The estimate of the mean loss, and the interval that holds it in this share of cases."""
        if self.rows == 0:
            return Estimate(None, None, None)
        from scipy.special import gammaincinv

        total, losses = self._weights.tolist()
        value, tail = losses / total, (1.0 - coverage) / 2
        none, one, two = self._squares.tolist()
        variance = max(two - 2 * value * one + value * value * none, 0.0) / total**2
        if self._largest <= 1.0:  # every row was asked
            return Estimate(value, value, value)
        extra = self._largest * self._most / total
        lower = 0.0
        if value > 0.0:
            lower = value if variance == 0 else float(variance / value * gammaincinv(value**2 / variance, tail))
        raised, spread = value + extra, variance + extra**2
        upper = value if raised == 0 else float(spread / raised * gammaincinv(raised**2 / spread, 1.0 - tail))
        return Estimate(value, lower, upper)
