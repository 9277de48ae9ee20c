"""Weighted centroids, merged by Ward's price until there are few enough.

J. H. Ward, "Hierarchical grouping to optimize an objective function", Journal of the American Statistical Association
58, 1963. A merger of i and j costs the scatter that is lost to sight, w_i w_j / (w_i + w_j) |z_i - z_j|^2; weight, mean
and whole scatter stay exact (``kernels/kernel_mean/centroids.hpp``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Centroids:
    """Of one class: means of rows, what they weigh, and the scatter of the rows about them."""

    positions: Floats
    weights: Floats
    scatters: Floats

    @classmethod
    def together(cls, parts: list[Centroids]) -> Centroids:
        """All of several."""
        each = ((part.positions, part.weights, part.scatters) for part in parts)
        positions, weights, scatters = (np.concatenate(arrays) for arrays in zip(*each, strict=True))
        return cls(positions, weights, scatters)

    def faded(self, factor: float) -> Centroids:
        """The same, weighing less."""
        return Centroids(self.positions, factor * self.weights, factor * self.scatters)

    def heavier_than(self, least: float) -> Centroids:
        """Without those that weigh next to nothing."""
        kept = self.weights >= least
        return Centroids(self.positions[kept], self.weights[kept], self.scatters[kept])

    def at_most(self, budget: int) -> Centroids:
        """So many, the cheapest pair merged again and again."""
        if len(self.weights) <= budget:
            return self
        positions, weights, scatters = self.positions.copy(), self.weights.copy(), self.scatters.copy()
        prices = self.prices()
        partners = prices.argmin(axis=1)
        least = prices[np.arange(len(prices)), partners]
        for _ in range(len(weights) - budget):
            i = int(least.argmin())
            j = int(partners[i])
            scatters[i] += scatters[j] + least[i]
            positions[i] += weights[j] / (weights[i] + weights[j]) * (positions[j] - positions[i])
            weights[i] += weights[j]
            weights[j] = 0.0
            prices[j] = prices[:, j] = least[j] = np.inf
            prices[i] = prices[:, i] = _prices(positions[i], weights[i], positions, weights, i)
            stale = np.flatnonzero((partners == i) | (partners == j) | (prices[i] < least))
            stale = np.union1d(stale[weights[stale] > 0], [i])
            partners[stale] = prices[stale].argmin(axis=1)
            least[stale] = prices[stale, partners[stale]]
        kept = weights > 0
        return Centroids(positions[kept], weights[kept], scatters[kept])

    def prices(self) -> Floats:
        """Of a merger of each with each; infinite with itself."""
        rows = [
            _prices(position, weight, self.positions, self.weights, at)
            for at, (position, weight) in enumerate(zip(self.positions, self.weights, strict=True))
        ]
        return np.array(rows).reshape(len(rows), len(rows))


def _prices(position: Floats, weight: float, positions: Floats, weights: Floats, own: int) -> Floats:
    squares = ((positions - position) ** 2).sum(axis=1)
    prices = np.where(weights > 0, weight * weights / (weight + weights) * squares, np.inf)
    prices[own] = np.inf
    return np.asarray(prices)
