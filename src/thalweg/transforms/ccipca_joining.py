"""Principal components that add up, to an approximation.

A model stands for the covariance that its axes explain, sum_i lambda_i w_i w_i'. With n the weights, m the means and
d = m_b - m_a, the covariance of both is

    (n_a C_a + n_b C_b + (n_a n_b / n) d d') / n        n = n_a + n_b,

of which the first axes are kept (ours). Without forgetting the mean is that of all rows. The axes are not those of one
model that learned all rows: what a model did not keep is lost, and the amnesic weights begin anew in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from thalweg.learners.adding import resumed
from thalweg.learners.summing import State

#: Of the largest variance: what is left of a direction that the others span.
_NOTHING = 1e-24


def joined_axes(models: Sequence[Any], forgetting: float) -> Any:
    """One model of all, the earliest first."""
    state = reduce(lambda one, other: _both(one, other, forgetting), [model._core.state() for model in models])
    return resumed(models[0], state, None, like=models[0])


def _both(one: State, other: State, forgetting: float) -> State:
    masses = [float(state["mass"].item()) for state in (one, other)]
    weights = np.array([_memory(mass, forgetting) for mass in masses])
    weights[0] *= (1.0 - forgetting) ** masses[1]
    shares = weights / weights.sum()
    apart = other["mean"][0] - one["mean"][0]
    between = np.sqrt(shares[0] * shares[1]) * apart
    halves = [
        np.sqrt(share * state["variances"][0])[:, np.newaxis] * state["axes"]
        for share, state in zip(shares, (one, other), strict=True)
    ]
    _, lengths, directions = np.linalg.svd(np.vstack([*halves, between]), full_matrices=False)
    kept = len(one["variances"][0])
    variances = np.zeros(kept)
    variances[: len(lengths)] = lengths[:kept] ** 2
    begun = int((variances > _NOTHING * variances[0]).sum())
    axes = np.zeros_like(one["axes"])
    axes[:begun] = directions[:begun]
    anchors = np.abs(axes).argmax(axis=1)
    axes *= np.where(axes[np.arange(kept), anchors] < 0, -1.0, 1.0)[:, np.newaxis]
    totals = np.array([one["total"].item(), other["total"].item()])
    ages = one["ages"] + other["ages"]
    ages[0, begun:] = variances[begun:] = 0.0
    return {
        "rows": one["rows"] + other["rows"],
        "begun": np.array([begun]),
        "total": np.array([shares @ totals + between @ between]),
        "mass": np.array([sum(masses)]),
        "first_mass": one["first_mass"],
        "mean": one["mean"] + shares[1] * apart,
        "axes": axes,
        "variances": variances[np.newaxis],
        "ages": np.maximum(ages, np.arange(kept) < begun),
        "anchors": anchors.astype(np.int64),
    }


def _memory(mass: float, forgetting: float) -> float:
    """What the rows of a model weigh together, where the last one weighs 1."""
    return mass if forgetting == 0 else min(mass, 1 / forgetting)
