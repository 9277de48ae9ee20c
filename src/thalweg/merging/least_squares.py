"""Recursive least squares as sums of rows, and back.

The rows and their targets are summed side by side: X'X and X'y about the means, or about zero without an intercept. The
model is w = P X'y with P = (X'X + penalty + next to nothing)^-1, so that X'y = P^-1 w. The sums hold neither the
penalty nor the next to nothing: these belong to a model once, however many it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.learners.base.rows import Floats
from thalweg.merging.factor import Factor
from thalweg.merging.moments import Moments
from thalweg.merging.summable import Learned, State, Sums

#: As in the kernel: of a typical square, what stands for "nothing is known of this direction"; and the least square
#: that says anything.
_NOTHING_KNOWN, _LEAST_SQUARE = 1e-13, 1e-80


@dataclass(frozen=True)
class LearnedTargets(Learned):
    """Sums of rows and targets, and the typical square of each feature's deviation, 0 for one that never deviated."""

    scale: Floats


class LeastSquaresSums(Sums):
    """The sums of least squares with these parameters."""

    def __init__(self, *, intercept: bool, penalty: float, forgetting: float) -> None:
        self.centred, self._penalty, self.forgetting = intercept, penalty, forgetting

    def why_not_followed(self) -> str | None:
        """Forgetting eats the penalty."""
        if self._penalty > 0 and self.forgetting > 0:
            return "with forgetting its penalty is topped up feature by feature, row by row"
        return None

    def columns(self, features: int, outputs: int) -> int:
        """Rows and targets."""
        return features + outputs

    def learned(self, state: State) -> LearnedTargets:
        """What a core knows."""
        scale, weight = state["scale"][0], float(state["weight"].item())
        features, awake = len(scale), scale > 0
        informed = Factor(state["factor_rows"], state["factor_diagonal"][0]).covariance()
        columns = features + int(state["n_outputs"].item())
        scatter = np.zeros((columns, columns))
        scatter[:features, features:] = informed @ state["weights"].T
        informed[np.diag_indices(features)] -= state["penalty_held"][0]
        if self.forgetting == 0:
            informed[np.diag_indices(features)] -= _NOTHING_KNOWN * scale
        scatter[:features, :features] = np.where(awake[:, np.newaxis] & awake, informed, 0.0)
        moments = Moments(
            rows=int(state["rows"].item()),
            fade=self._fade(weight),
            last=0 if weight > 0 else -1,
            origin=np.hstack((state["origin"][0], state["target_origin"][0])),
            weights=np.array([weight]),
            means=np.hstack((state["mean"], state["target_mean"])),
            scatter=scatter,
        )
        return LearnedTargets(moments, scale)

    def begun(self, moments: Moments) -> LearnedTargets:
        """What a core knows that began with these rows."""
        return LearnedTargets(moments, self._scale_of(moments))

    def then(self, known: LearnedTargets, later: Any) -> LearnedTargets:
        """What a core knows that learned both: a feature keeps the scale that it had first."""
        features = len(known.scale)
        scale = later.scale if isinstance(later, LearnedTargets) else self._scale_of(later.moments)[:features]
        return LearnedTargets(known.moments.then(later.moments), np.where(known.scale > 0, known.scale, scale))

    def without(self, known: LearnedTargets, part: Moments, owner: str) -> LearnedTargets:
        """What a core knows that never learned these rows of its own."""
        left = known.moments.without(part, owner, squared=len(known.scale))  # a model keeps no y'y
        return LearnedTargets(left, known.scale)

    def state(self, known: LearnedTargets, fresh: State) -> State:
        """The state of a core that knows this."""
        moments, features = known.moments, int(fresh["origin"].shape[1])
        scale = np.where(known.scale[:features] > _LEAST_SQUARE, known.scale[:features], 0.0)
        awake = scale > 0
        prior = np.where(awake, self._penalty + _NOTHING_KNOWN * scale, 1.0)
        informed = moments.scatter[:features, :features] + np.diag(prior)
        factor, _ = Factor.inverse_of(informed, prior)
        cross = moments.scatter[:features, features:].T
        held = np.where(awake, self._penalty, 0.0)
        state = fresh | {
            "rows": np.array([moments.rows]),
            "weight": np.array([moments.weight]),
            "origin": moments.origin[np.newaxis, :features],
            "mean": moments.means[:, :features],
            "scale": scale[np.newaxis],
            "penalty_held": held[np.newaxis],
            "target_origin": moments.origin[np.newaxis, features:],
            "target_mean": moments.means[:, features:],
            "weights": factor.apply(cross),
            "factor_rows": factor.above,
            "factor_diagonal": factor.diagonal[np.newaxis],
        }
        return {name: np.ascontiguousarray(array) for name, array in state.items()}

    def _scale_of(self, moments: Moments) -> Floats:
        return np.asarray(moments.scatter.diagonal() / moments.weight)

    def _fade(self, weight: float) -> float:
        """The weights of n rows add up to (1 - gamma^n) / forgetting: so they tell gamma^n."""
        if self.forgetting == 0:
            return 0.0
        with np.errstate(divide="ignore"):
            return float(np.log(max(0.0, 1.0 - self.forgetting * weight)))
