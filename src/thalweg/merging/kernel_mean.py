"""Kernel mean machines that add up: all rows of both, or the centroids of both within the budget.

Without a budget a machine is its rows, so that two are `fit` on the rows of both. With a budget the centroids of a
class are put together, those of the earlier machine faded by the rows of the later one, and the cheapest pairs are
merged until the budget is kept: weight, mean and whole scatter of each class are exact, and so is everything where the
budget leaves room. A width or weights that a machine found for itself have no sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from thalweg.learners.base.labels import Labels
from thalweg.learners.base.rows import Floats
from thalweg.merging.addable import labels_of, places, refuse, resumed, united
from thalweg.merging.centroids import Centroids
from thalweg.merging.summable import State

#: As in the kernel: a centroid that weighs less than this, where a row weighs 1, is dropped.
_LEAST_WEIGHT = 2.0**-60


def joined_rows(models: Sequence[Any]) -> Any:
    """The machine without a budget that was fitted to the rows of all."""
    states = [model._core.state() for model in models]
    names = [np.repeat(model.classes_, state["counts"]) for model, state in zip(models, states, strict=True)]
    new = clone(models[0]).fit(np.concatenate([state["rows"] for state in states]), np.concatenate(names))
    return resumed(new, new._core.state(), labels_of(new), like=models[0])


def joined_centroids(models: Sequence[Any], budget: int, forgetting: float) -> Any:
    """The machine with the centroids of all, the earliest first."""
    first = models[0]
    states = [model._core.state() for model in models]
    found = any((state["settled_weights"] >= 0).any() for state in states)
    refuse(
        first, "each found weights for its own rows, so give rho and bias, or learn by partial_fit" if found else None
    )
    known = united([labels_of(model) for model in models])
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
    return resumed(first, state, known, like=first)


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
            teams[place], last_rows[place] = Centroids.together([earlier, later]), last
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
