"""A running mean and variance as sums of rows, and back.

Without forgetting the model is the batch estimate of its rows. With forgetting it weighs its rows alike until its
memory is full, 1 / forgetting rows, and from then on is a sum of rows that fade: later rows can follow it from there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.learners.summing import Learned, State, Sums
from thalweg.sums.moments import Moments


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
