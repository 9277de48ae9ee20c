"""An online linear discriminant as moments of rows, and back.

With hard counts at rate 1/2 the model is the batch estimate of all its rows: counts, class means and N S, the scatter
within the classes. With soft counts it is the same of rows whose weights fade, so that later rows can follow it. What
stands in its way is the start: rows that weigh alike before the rate sets in, and the identity where they are singular.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thalweg.errors import NotAdditive
from thalweg.merging.factor import Factor
from thalweg.merging.models import Merging, ModelMoments, State
from thalweg.merging.moments import Moments

#: As in the kernels: the share of a feature's variance that must be left to it, given the others, for a start; and the
#: share at which a direction without variance stops to shrink later.
_SINGULAR, _RESOLUTION, _LEAST_VARIANCE = 1e-11, 1e-20, 1e-80


@dataclass(frozen=True)
class ClassMoments(ModelMoments):
    """Moments of rows, and how far the start is.

    ``stand_in`` is how many rows the identity stands in for: it is in the scatter so many times, and their own scatter
    is lost. ``start_left`` rows of the start are missing, 0 after it. ``begun``: a start has ended, whatever it was.
    """

    stand_in: float = 0.0
    start_left: int = 0
    begun: bool = True


class DiscriminantMerging(Merging):
    """Merging of discriminants with these parameters; ``rate`` is None where it is not constant."""

    def __init__(self, rate: float | None, *, soft: bool, printed_2008: bool, ridge: bool, warmup: int) -> None:
        self._soft, self._warmup = soft, max(1, warmup)
        self.forget(rate if soft and rate is not None else 0.0)
        self.why_not_fitted = None  # with soft counts, too, `fit` weighs its rows alike
        if ridge:
            self.why_not_fitted = "its ridge follows a long-run variance that depends on the order of the rows"
            self.why_not_extended = self.why_not_fitted
        elif printed_2008:
            self.why_not_extended = 'the update of covariance="2008" weighs a row by the rows of its class before it'
        elif rate is None:
            self.why_not_extended = "its rate is not constant, so that a row's weight depends on the rows before it"
        elif not soft and rate != 0.5:
            reason = "with hard counts and a rate other than 0.5 a row's weight depends on the rows before it"
            self.why_not_extended = reason
        self.why_not_merged = self.why_not_extended
        if soft and self.why_not_extended is None:
            self.why_not_merged = (
                "with soft counts the later model's first rows weigh alike, as they would not after other rows; "
                "sum the later rows up by a Part(model, later=True) and add that"
            )

    def rows_first(self, state: State | None) -> int:
        """With soft counts, the rest of the start."""
        if not self._soft:
            return 0
        return self._warmup if state is None else int(state["warm_left"].item())

    def moments_of(self, state: State) -> ClassMoments:
        total, left = state["total"].item(), int(state["warm_left"].item())
        if left > 0:
            upper = np.triu(state["scatter"])
            scatter = upper + np.triu(upper, 1).T
        else:
            scatter = total * Factor(state["factor_rows"], state["factor_diagonal"][0]).covariance()
        unit = self._unit(left)
        moments = Moments(
            rows=int(state["rows"].item()),
            fade=0.0,
            last=int(state["last_class"].item()),
            origin=state["origin"][0],
            weights=state["counts"][0] / unit,
            means=state["means"],
            scatter=scatter / unit,
        )
        stand_in = float(state["surveyed"].item()) if left == 0 and state["ridge_held"].any() else 0.0
        return ClassMoments(moments, stand_in, left, left == 0)

    def fitted(self, moments: Moments) -> ClassMoments:
        return ClassMoments(moments, begun=False)

    def merge(self, model: ClassMoments, later: Any) -> ClassMoments:
        if not isinstance(later, ClassMoments):  # rows and no model
            left = max(0, model.start_left - later.moments.rows)
            return replace(model, moments=model.moments.merge(later.moments), start_left=left)
        if model.stand_in or later.stand_in:
            raise NotAdditive(_LOST)
        both_start = model.start_left > 0 and later.start_left > 0
        return ClassMoments(
            model.moments.merge(later.moments),
            start_left=max(0, model.start_left + later.start_left - self._warmup) if both_start else 0,
            begun=model.begun or later.begun,
        )

    def subtract(self, model: ClassMoments, other: ModelMoments, owner: str) -> ClassMoments:
        """What is left is judged as a start would be."""
        # Whether the rows of the other are among those that the identity stands in for cannot be said.
        if model.stand_in or (isinstance(other, ClassMoments) and other.stand_in):
            raise NotAdditive(_LOST)
        left = model.moments.subtract(other.moments, owner)
        missing = max(0, self._warmup - left.rows) if model.start_left > 0 else 0
        return ClassMoments(left, start_left=missing, begun=False)

    def state_of(self, model: ClassMoments, fresh: State) -> State:
        moments, features = model.moments, model.moments.columns
        counts = moments.weights * self._unit_of(model, float(fresh["rate"].item()))
        total = float(counts.sum())
        covariance = moments.scatter / moments.weight
        variance = covariance.diagonal()
        least = np.maximum((_RESOLUTION if model.begun else _SINGULAR) * variance, _LEAST_VARIANCE)
        factor, regular = Factor.inverse_of(covariance, least)
        seen = int((moments.weights > 0).sum())
        stand_in = model.stand_in
        if not model.begun and (moments.rows - seen < features or not regular):
            factor, variance = Factor.identity(features), np.ones(features)  # footnote 3 of Kuncheva & Plumpton
            stand_in = moments.weight
        weights = factor.apply(moments.means)
        with np.errstate(divide="ignore"):
            log_counts = np.log(counts)
        state = fresh | {
            "rows": np.array([moments.rows]),
            "warm_left": np.array([model.start_left]),
            "last_class": np.array([moments.last]),
            "total": np.array([total]),
            "log_count": log_counts[[moments.last]],
            "counts": counts[np.newaxis],
            "log_prior": log_counts[np.newaxis],
            "half_square": 0.5 * np.einsum("ij,ij->i", weights, moments.means)[np.newaxis],
            "means": moments.means,
            "weights": weights,
            "origin": moments.origin[np.newaxis],
            "variance": variance[np.newaxis],
            "surveyed": np.array([stand_in or moments.weight]),
            "ridge_held": np.full((1, features), float(stand_in > 0)),
            "factor_rows": factor.above,
            "factor_diagonal": factor.diagonal[np.newaxis],
        }
        return {name: np.ascontiguousarray(array) for name, array in state.items()} | self._scatter(model)

    def _scatter(self, model: ClassMoments) -> State:
        return {"scatter": np.triu(model.moments.scatter)} if model.start_left > 0 else {}

    def _unit(self, start_left: int) -> float:
        """What a row of weight 1 adds to the counts."""
        return self.forgetting if self.forgetting > 0 and start_left == 0 else 1.0

    def _unit_of(self, model: ClassMoments, rate: float) -> float:
        if self._soft and not model.begun and model.start_left == 0:
            return min(1.0, model.moments.weight * rate) / model.moments.weight  # a start never outweighs a memory
        return self._unit(model.start_left)


_LOST = (
    "An OnlineLDC that began with singular rows does not add up: the identity stands in for them and their scatter is "
    "lost. Sum rows up by Parts instead: merge(parts).fitted() is what fit makes of all their rows, and model + part, "
    "whatever the model began with, what partial_fit makes of the part's."
)
