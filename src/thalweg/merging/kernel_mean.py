"""Merging of kernel mean machines: all rows of both, or the centroids of both within the budget.

Without a budget a machine is its rows, so that two are `fit` on the rows of both. With a budget the centroids of a
Floats: TypeAlias = NDArray[np.float64]


class are put together, those of the earlier machine faded by the rows of the later one, and the cheapest pairs are
merged until the budget is kept: weight, mean and whole scatter of each class are exact, and so is everything where the
budget leaves room. Machines that found a width or weights for themselves cannot be merged.

J. H. Ward, "Hierarchical grouping to optimize an objective function", Journal of the American Statistical Association
58, 1963. To merge i and j costs the scatter that is lost to sight, w_i w_j / (w_i + w_j) |z_i - z_j|^2
(``kernels/kernel_mean/centroids.hpp``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from thalweg.labels import Labels
from thalweg.merging.models import State, labels_of, places, refuse, union, with_state

Floats = NDArray[np.float64]

#: As in the kernel: a centroid that weighs less than this, where a row weighs 1, is dropped.
_LEAST_WEIGHT = 2.0**-60


@dataclass(frozen=True)
class Centroids:
    """Of one class: means of rows, what they weigh, and the scatter of the rows about them."""

    positions: Floats
    weights: Floats
    scatters: Floats

    def merge(self, later: Centroids) -> Centroids:
        ours, theirs = ((model.positions, model.weights, model.scatters) for model in (self, later))
        return Centroids(*map(np.concatenate, zip(ours, theirs, strict=True)))

    def faded(self, factor: float) -> Centroids:
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


def merge_rows(models: Sequence[Any]) -> Any:
    """The machine without a budget that was fitted to the rows of all."""
    states = [model._core.state() for model in models]
    names = [np.repeat(model.classes_, state["counts"]) for model, state in zip(models, states, strict=True)]
    new = clone(models[0]).fit(np.concatenate([state["rows"] for state in states]), np.concatenate(names))
    return with_state(new, new._core.state(), labels_of(new), like=models[0])


def merge_centroids(models: Sequence[Any], budget: int, forgetting: float) -> Any:
    """The machine with the centroids of all, the earliest first."""
    first = models[0]
    states = [model._core.state() for model in models]
    tuned = any((state["settled_weights"] >= 0).any() for state in states)
    why = "each found weights for its own rows, so give rho and bias, or learn by partial_fit"
    refuse(first, why if tuned else None)
    known = union([labels_of(model) for model in models])
    assert known is not None
    core = first._new_core(first.n_features_in_, known)
    teams, last_rows, rows = _together(models, states, known, forgetting)
    teams = [team.heavier_than(_LEAST_WEIGHT).at_most(budget) for team in teams]
    ones = np.ones((1, len(known)))
    state = core.state() | {
        "rows": np.array([rows]),
        "counts": np.array([len(team.weights) for team in teams], dtype=np.int64),
        "last_rows": last_rows,
        "units": ones,
        "class_weights": np.array([[team.weights.sum() for team in teams]]),
        "settled_weights": -ones,
        "settled_biases": 0 * ones,
        "centroids": np.concatenate([team.positions for team in teams]),
        "centroid_table": np.concatenate([_table(team) for team in teams]),
    }
    return with_state(first, state, known, like=first)


def _together(
    models: Sequence[Any], states: Sequence[State], known: Labels, forgetting: float
) -> tuple[list[Centroids], NDArray[np.int64], int]:
    """The centroids of each class as they weigh at its last row, the number of that row, and of the last of all."""
    features = models[0].n_features_in_
    none = Centroids(np.empty((0, features)), np.empty(0), np.empty(0))
    teams, last_rows, rows = [none] * len(known), np.zeros(len(known), dtype=np.int64), 0
    for model, state in zip(models, states, strict=True):
        edges = np.cumsum([0, *state["counts"]])
        for code, place in enumerate(places(model._labels, known).tolist()):
            if state["counts"][code] == 0:
                continue
            own = slice(edges[code], edges[code + 1])
            unit = state["units"][0, code]
            later = Centroids(state["centroids"][own], *(state["centroid_table"][own, :2] / unit).T)
            last = rows + int(state["last_rows"][code])
            earlier = teams[place].faded((1.0 - forgetting) ** (last - last_rows[place]))
            teams[place], last_rows[place] = earlier.merge(later), last
        rows += int(state["rows"].item())
    return teams, last_rows, rows


def _table(team: Centroids) -> Floats:
    """Weight, scatter, least price, the least of all others, and with whom: as the kernel keeps them."""
    count = len(team.weights)
    table = np.full((count, 5), np.inf)
    table[:, 0], table[:, 1], table[:, 4] = team.weights, team.scatters, -1
    if count > 1:
        prices = team.prices()
        partners = prices.argmin(axis=1)
        table[:, 2], table[:, 4] = prices.min(axis=1), partners
        prices[np.arange(count), partners] = np.inf
        table[:, 3] = prices.min(axis=1)
    return table
