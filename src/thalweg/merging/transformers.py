"""The scaler as sums of rows (exact), and principal components that add up (approximate)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from thalweg.merging.addable import resumed
from thalweg.merging.moments import Moments
from thalweg.merging.summable import Learned, State, Sums


@dataclass(frozen=True)
class LearnedColumns(Learned):
    """Sums of rows, and what all of them counted for, forgotten or not."""

    mass: float


class ScalerSums(Sums):
    """The sums of scalers with this forgetting."""

    diagonal = True

    def __init__(self, forgetting: float) -> None:
        self.forgetting = forgetting

    def why_not_models(self) -> str | None:
        """The start of the later one weighs its rows in another way than the earlier one would."""
        if self.forgetting == 0:
            return None
        return (
            "with forgetting the later model's first rows weigh alike, as they would not after other rows; "
            "sum the later rows up by a Part(model, later=True) and add that"
        )

    def rows_first(self, state: State | None) -> int:
        """Until the memory is full."""
        if self.forgetting == 0:
            return 0
        return max(0, math.ceil(1 / self.forgetting - (0.0 if state is None else state["rows"].item())))

    def learned(self, state: State) -> LearnedColumns:
        """What a core knows."""
        mass = float(state["rows"].item())
        weight = mass if self.forgetting == 0 else 1 / self.forgetting
        moments = Moments(
            rows=math.ceil(mass),
            fade=0.0,
            last=0,
            origin=state["mean"][0],
            weights=np.array([weight]),
            means=np.zeros_like(state["mean"]),
            scatter=weight * state["variance"][0],
        )
        return LearnedColumns(moments, mass)

    def begun(self, moments: Moments) -> LearnedColumns:
        """What a core knows that began with these rows."""
        return LearnedColumns(moments, moments.weight)

    def then(self, known: LearnedColumns, later: Any) -> LearnedColumns:
        """What a core knows that learned both."""
        rows: Moments = later.moments
        mass = known.mass + (rows.weight if self.forgetting == 0 else rows.fade / math.log1p(-self.forgetting))
        whole = float(round(mass))
        return LearnedColumns(known.moments.then(rows), whole if math.isclose(mass, whole) else mass)

    def without(self, known: LearnedColumns, part: Moments, owner: str) -> LearnedColumns:
        """What a core knows that never learned these rows of its own."""
        left = known.moments.without(part, owner)
        return LearnedColumns(left, left.weight)

    def state(self, known: LearnedColumns, fresh: State) -> State:
        """The state of a core that knows this."""
        moments = known.moments
        return fresh | {
            "rows": np.array([known.mass]),
            "mean": moments.means + moments.origin,
            "variance": np.maximum(moments.scatter / moments.weight, 0.0)[np.newaxis],
        }


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
