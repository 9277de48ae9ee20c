"""Merging of scalers, by moments of rows (exact), and of principal components (approximate)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from thalweg.merging.models import Merging, ModelMoments, State, with_state
from thalweg.merging.moments import Moments


@dataclass(frozen=True)
class ColumnMoments(ModelMoments):
    """Moments of rows, and what all of them counted for, forgotten or not."""

    mass: float


class ScalerMerging(Merging):
    diagonal = True

    def __init__(self, forgetting: float, *, robust: bool = False) -> None:
        self.forget(forgetting)
        if robust:
            self.why_not_merged = "a robust scaler cuts values by what came before them, so that their order counts"
        elif forgetting > 0:
            self.why_not_merged = (
                "with forgetting the later model's first rows weigh alike, as they would not after other rows; "
                "sum the later rows up by a Part(model, later=True) and add that"
            )

    def rows_first(self, state: State | None) -> int:
        """Until the memory is full."""
        if self.forgetting == 0:
            return 0
        return max(0, math.ceil(1 / self.forgetting - (0.0 if state is None else state["rows"].item())))

    def moments_of(self, state: State) -> ColumnMoments:
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
        return ColumnMoments(moments, mass)

    def fitted(self, moments: Moments) -> ColumnMoments:
        return ColumnMoments(moments, moments.weight)

    def merge(self, model: ColumnMoments, later: Any) -> ColumnMoments:
        rows: Moments = later.moments
        mass = model.mass + (rows.weight if self.forgetting == 0 else rows.fade / math.log1p(-self.forgetting))
        whole = float(round(mass))
        return ColumnMoments(model.moments.merge(rows), whole if math.isclose(mass, whole) else mass)

    def subtract(self, model: ColumnMoments, other: ModelMoments, owner: str) -> ColumnMoments:
        left = model.moments.subtract(other.moments, owner)
        return ColumnMoments(left, left.weight)

    def state_of(self, model: ColumnMoments, fresh: State) -> State:
        moments = model.moments
        return fresh | {
            "rows": np.array([model.mass]),
            "mean": moments.means + moments.origin,
            "variance": np.maximum(moments.scatter / moments.weight, 0.0)[np.newaxis],
        }


#: Of the largest variance: what is left of a direction that the others span.
_NOTHING = 1e-24


def merge_axes(models: Sequence[Any], forgetting: float) -> Any:
    state = reduce(lambda one, other: _both(one, other, forgetting), [model._core.state() for model in models])
    return with_state(models[0], state, None, like=models[0])


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
