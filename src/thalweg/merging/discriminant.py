"""An online linear discriminant as sums of rows, and back.

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
from thalweg.merging.moments import Moments
from thalweg.merging.summable import Learned, State, Sums

#: As in the kernels: the share of a feature's variance that must be left to it, given the others, for a start; and the
#: share at which a direction without variance stops to shrink later.
_SINGULAR, _RESOLUTION, _LEAST_VARIANCE = 1e-11, 1e-20, 1e-80


@dataclass(frozen=True)
class LearnedClasses(Learned):
    """Sums of rows, and how far the start is.

    ``stand_in`` is how many rows the identity stands in for: it is in the scatter so many times, and their own scatter
    is lost. ``start_left`` rows of the start are missing, 0 after it. ``begun``: a start has ended, whatever it was.
    """

    stand_in: float = 0.0
    start_left: int = 0
    begun: bool = True


class DiscriminantSums(Sums):
    """The sums of discriminants with these parameters; ``rate`` is None where it is not constant."""

    def __init__(self, rate: float | None, *, soft: bool, printed_2008: bool, ridge: bool, warmup: int) -> None:
        self._rate, self._soft, self._printed_2008, self._ridge = rate, soft, printed_2008, ridge
        self._warmup = max(1, warmup)
        self.forgetting = rate if soft and rate is not None else 0.0

    def why_not_begun(self) -> str | None:
        """A ridge goes by an average in which wild values are cut, one row after the other."""
        return "its ridge follows a long-run variance that depends on the order of the rows" if self._ridge else None

    def why_not_followed(self) -> str | None:
        """Only where a row's weight depends on nothing but the rows after it."""
        if self._ridge:
            return self.why_not_begun()
        if self._printed_2008:
            return 'the update of covariance="2008" weighs a row by the rows of its class before it'
        if self._rate is None:
            return "its rate is not constant, so that a row's weight depends on the rows before it"
        if not self._soft and self._rate != 0.5:
            return "with hard counts and a rate other than 0.5 a row's weight depends on the rows before it"
        return None

    def why_not_models(self) -> str | None:
        """With soft counts the start of the later model weighs its rows in another way than the earlier one would."""
        if self.why_not_followed() is None and self._soft:
            return (
                "with soft counts the later model's first rows weigh alike, as they would not after other rows; "
                "sum the later rows up by a Part(model, later=True) and add that"
            )
        return self.why_not_followed()

    def rows_first(self, state: State | None) -> int:
        """With soft counts, the rest of the start."""
        if not self._soft:
            return 0
        return self._warmup if state is None else int(state["warm_left"].item())

    def learned(self, state: State) -> LearnedClasses:
        """What a core knows."""
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
        return LearnedClasses(moments, stand_in, left, left == 0)

    def as_part(self, known: LearnedClasses) -> Moments:
        """Its rows, if all of them are there."""
        if known.stand_in:
            raise NotAdditive(_LOST)
        return known.moments

    def begun(self, moments: Moments) -> LearnedClasses:
        """As `fit` begins."""
        return LearnedClasses(moments, begun=False)

    def then(self, known: LearnedClasses, later: Any) -> LearnedClasses:
        """What a core knows that learned both."""
        if not isinstance(later, LearnedClasses):  # rows and no model
            left = max(0, known.start_left - later.moments.rows)
            return replace(known, moments=known.moments.then(later.moments), start_left=left)
        if known.stand_in or later.stand_in:
            raise NotAdditive(_LOST)
        both_start = known.start_left > 0 and later.start_left > 0
        return LearnedClasses(
            known.moments.then(later.moments),
            start_left=max(0, known.start_left + later.start_left - self._warmup) if both_start else 0,
            begun=known.begun or later.begun,
        )

    def without(self, known: LearnedClasses, part: Moments, owner: str) -> LearnedClasses:
        """What is left is judged as a start would be."""
        if known.stand_in:  # whether these rows are among those it stands in for is not known
            raise NotAdditive(_LOST)
        left = known.moments.without(part, owner)
        missing = max(0, self._warmup - left.rows) if known.start_left > 0 else 0
        return LearnedClasses(left, start_left=missing, begun=False)

    def state(self, known: LearnedClasses, fresh: State) -> State:
        """The state of a core that knows this."""
        moments, features = known.moments, known.moments.columns
        counts = moments.weights * self._unit_of(known, float(fresh["rate"].item()))
        total = float(counts.sum())
        covariance = moments.scatter / moments.weight
        variance = covariance.diagonal()
        least = np.maximum((_RESOLUTION if known.begun else _SINGULAR) * variance, _LEAST_VARIANCE)
        factor, regular = Factor.inverse_of(covariance, least)
        seen = int((moments.weights > 0).sum())
        stand_in = known.stand_in
        if not known.begun and (moments.rows - seen < features or not regular):
            factor, variance = Factor.identity(features), np.ones(features)  # footnote 3 of Kuncheva & Plumpton
            stand_in = moments.weight
        weights = factor.apply(moments.means)
        with np.errstate(divide="ignore"):
            log_counts = np.log(counts)
        state = fresh | {
            "rows": np.array([moments.rows]),
            "warm_left": np.array([known.start_left]),
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
        return {name: np.ascontiguousarray(array) for name, array in state.items()} | self._scatter(known)

    def _scatter(self, known: LearnedClasses) -> State:
        return {"scatter": np.triu(known.moments.scatter)} if known.start_left > 0 else {}

    def _unit(self, start_left: int) -> float:
        """What a row of weight 1 adds to the counts."""
        return self.forgetting if self.forgetting > 0 and start_left == 0 else 1.0

    def _unit_of(self, known: LearnedClasses, rate: float) -> float:
        if self._soft and not known.begun and known.start_left == 0:
            return min(1.0, known.moments.weight * rate) / known.moments.weight  # a start never outweighs a memory
        return self._unit(known.start_left)


_LOST = (
    "An OnlineLDC that began with singular rows does not add up: the identity stands in for them and their scatter is "
    "lost. Sum rows up by Parts instead: merge(parts).fitted() is what fit makes of all their rows, and model + part, "
    "whatever the model began with, what partial_fit makes of the part's."
)
