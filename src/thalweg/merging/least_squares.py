"""Recursive least squares as moments of rows, and back.

The rows and their targets are summed side by side: X'X and X'y about the means, or about zero without an intercept. The
model is w = P X'y with P = (X'X + penalty + next to nothing)^-1, so that X'y = P^-1 w. The sums hold neither the
penalty nor the next to nothing: these belong to a model once, however many it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.merging.factor import Factor
from thalweg.merging.models import Merging, ModelMoments, State
from thalweg.merging.moments import Moments

Floats: TypeAlias = NDArray[np.float64]

#: As in the kernel: of a typical square, what stands for "nothing is known of this direction"; and the least square
#: that says anything.
_NOTHING_KNOWN, _LEAST_SQUARE = 1e-13, 1e-80


@dataclass(frozen=True)
class TargetMoments(ModelMoments):
    """Moments of rows and targets, and each feature's typical squared deviation: 0 if it never deviated."""

    scale: Floats


class LeastSquaresMerging(Merging):
    def __init__(self, *, intercept: bool, penalty: float, forgetting: float) -> None:
        self.centred, self._penalty = intercept, penalty
        self.forget(forgetting)
        if penalty > 0 and forgetting > 0:
            reason = "with forgetting its penalty is topped up feature by feature, row by row"
            self.why_not_extended = self.why_not_merged = reason

    def moments_of(self, state: State) -> TargetMoments:
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
        return TargetMoments(moments, scale)

    def fitted(self, moments: Moments) -> TargetMoments:
        return TargetMoments(moments, self._scale_of(moments))

    def merge(self, model: TargetMoments, later: Any) -> TargetMoments:
        """A model that learned both: a feature keeps the scale that it had first."""
        features = len(model.scale)
        scale = later.scale if isinstance(later, TargetMoments) else self._scale_of(later.moments)[:features]
        return TargetMoments(model.moments.merge(later.moments), np.where(model.scale > 0, model.scale, scale))

    def subtract(self, model: TargetMoments, other: ModelMoments, owner: str) -> TargetMoments:
        left = model.moments.subtract(other.moments, owner, squared=len(model.scale))  # a model keeps no y'y
        return TargetMoments(left, model.scale)

    def state_of(self, model: TargetMoments, fresh: State) -> State:
        moments, features = model.moments, int(fresh["origin"].shape[1])
        scale = np.where(model.scale[:features] > _LEAST_SQUARE, model.scale[:features], 0.0)
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
        """The weights of n rows add up to (1 - gamma^n) / forgetting: so gamma^n follows from them."""
        if self.forgetting == 0:
            return 0.0
        with np.errstate(divide="ignore"):
            return float(np.log(max(0.0, 1.0 - self.forgetting * weight)))
