"""The classifier with nothing to choose: forgetting rates and linear learners, mixed by how right they have been.

Both papers on online discriminants say that the learning rate is crucial, unknown, and different for every stream. This
learner holds, over rows scaled on line,

======================  ==========================================================================
a bank of seven O-LDCs  soft counts, memories of 3 to 3,333 rows, side by side in vector lanes
a perceptron            rate 0.5
passive-aggressive      PA-I at C = 1, 0.1, 0.01
logistic regression     rates 0.1, 0.02, 0.003
======================  ==========================================================================

and mixes their posteriors by the rule of `Committee` (zero-one loss, discount 0.995, sharpness 0.5). Before there is
evidence the weight of a member is proportional to its rate (`thalweg.learners.base.rate_bank.prior_losses`). Nothing is
tuned to a stream; these constants were settled on ELEC2, SEA concepts, NOAA weather and STAGGER, and are the same
everywhere.

What it cannot do: every member is linear, so no mixture of them follows a curved boundary. On two classes that are a
disc and the ring around it, it is no better than the majority class, where a forest would be nearly always right (see
the example). It is a committee, so nonlinear members can join without changing how it is used.

Rows may have weights: each member takes them as it does by itself, and is charged for a mistake by the row's weight.

Cost: O(K p^2 + p c) a row with K = 7 rates in one pass, less than its parts one by one; memory O(K p^2), 32 p^2 bytes.
Above 200 features the bank no longer pays and is left out, with a warning.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thalweg.kernels import compiled
from thalweg.kernels._base import Core
from thalweg.learners.base.catalogue_entry import CatalogueEntry, GuideRow
from thalweg.learners.base.classifier import StreamClassifier, WithProbabilities, WithWeights
from thalweg.learners.base.rate_bank import (
    BANK_DISCOUNT,
    BANK_RATES,
    BANK_RIDGE,
    BANK_SHARPNESS,
    prior_losses,
    remembered_means,
    remembered_rows,
)
from thalweg.learners.base.rows import Floats
from thalweg.parameters import FLAG, Rules

WIDEST_BANK = 200
_DISCOUNT, _SHARPNESS = 0.995, 0.5


class LinearMember(NamedTuple):
    """A member beside the bank: how it is made for rows of so many features, and how eagerly it learns."""

    make: Callable[[int], Core]
    rate: float


#: The members beside the bank, by name.
LINEAR_MEMBERS: Mapping[str, LinearMember] = {
    "perceptron": LinearMember(
        partial(compiled.perceptron, rate=(0, 0.5, 0), margin=0.0, averaged=False, start_scale=0.01, seed=0), 0.5
    ),
    **{
        f"passive-aggressive C={C:g}": LinearMember(partial(compiled.passive_aggressive, C=C, second=False), C)
        for C in (1.0, 0.1, 0.01)
    },
    **{
        f"logistic {rate:g}": LinearMember(partial(compiled.logistic, rate=(0, rate, 0), penalty=0.0), rate)
        for rate in (0.1, 0.02, 0.003)
    },
}


class AutoClassifier(WithWeights, WithProbabilities, StreamClassifier):
    """A committee of forgetting rates and linear learners that needs no parameter.

    Parameters
    ----------
    persistence : bool, default False
        Adds a member that knows only which label usually follows the last one. Honest only where each label is known
        before the next row: evaluation refuses it when labels are delayed.

    Attributes
    ----------
    members_ : tuple of str
        The members, in the order of ``weights_``.
    weights_ : ndarray
        The weight of each member in the next prediction.
    left_out_ : str
        What was left out because of the number of features; empty where nothing was.
    effective_rows_ : float
        How many rows the bank remembers, by the weights of its rates; NaN without a bank.
    class_effective_rows_ : ndarray
        The same, for each class of ``classes_``.

    Examples
    --------
    >>> from thalweg import AutoClassifier
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=1).take(3000)
    >>> model = AutoClassifier()
    >>> bool((model.predict_then_learn(X, y) != y).mean() < 0.1)
    True
    >>> print(model.explain().splitlines()[0])
    14 members over 2 features; the heaviest is O-LDC 0.1 with a share of 0.39.

    A curved boundary defeats it: a disc and the ring around it.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 2))
    >>> y = (np.hypot(*X.T) > 1.2).astype(int)
    >>> bool((AutoClassifier().predict_then_learn(X, y) != y).mean() > 0.4)
    True
    """

    _catalogue = CatalogueEntry(
        name="auto",
        about="a committee of seven forgetting rates and seven linear learners",
        when="start here: nothing to choose",
    )
    _guide = (
        GuideRow(
            page="auto-classifier",
            learner="AutoClassifier()",
            when="**start here**: it scales the rows, runs fourteen linear models and weights them by their "
            "recent errors",
            not_when="boundaries are curved",
            to_choose="nothing",
            probabilities="yes",
            cost="7 p²",
        ),
    )
    _fit_depends_on_order = True
    _why_not_merged = "its members are weighed by their mistakes, row by row"

    _rules = Rules(persistence=FLAG)

    def __init__(self, *, persistence: bool = False) -> None:
        self.persistence = persistence

    def _make_core(self, features: int) -> Core:
        self._rules.check(self)
        cores: list[Core] = []
        rates: list[float] = []
        if features <= WIDEST_BANK:
            cores.append(compiled.rate_bank(features, BANK_RATES, BANK_RIDGE, BANK_DISCOUNT, BANK_SHARPNESS))
            rates += BANK_RATES
        for make, rate in LINEAR_MEMBERS.values():
            cores.append(make(features))
            rates.append(rate)
        if self.persistence:
            cores.append(compiled.persistence(features))
            rates.append(1.0)
        mixed = compiled.committee(cores, _DISCOUNT, _SHARPNESS, 0, prior_losses(rates, _SHARPNESS))
        return compiled.scaled(mixed)

    def _begin_with(self, core: Core, names: tuple[str, ...] | None) -> None:
        super()._begin_with(core, names)
        if self.left_out_:
            warnings.warn(f"AutoClassifier: {self.left_out_}", stacklevel=_depth_in_thalweg())

    @property
    def _needs_labels_at_once(self) -> bool:
        return bool(self.persistence)

    @staticmethod
    def _what_is_left_out(features: int) -> str:
        return (
            f"with {features} features the bank of discriminants is left out: "
            f"it costs O(p^2) a row and does not pay beyond {WIDEST_BANK}"
        )

    @property
    def left_out_(self) -> str:
        """What was left out because of the number of features."""
        self._learned_core()
        return "" if self._has_bank() else self._what_is_left_out(self.n_features_in_)

    def _has_bank(self) -> bool:
        return bool(self.n_features_in_ <= WIDEST_BANK)

    def _class_means(self) -> Floats | None:
        core = self._learned_core()
        return remembered_means(core.state(), core.shares(), name="member0_") if self._has_bank() else None

    @property
    def members_(self) -> tuple[str, ...]:
        """The members, in the order of ``weights_``."""
        self._learned_core()
        bank = tuple(f"O-LDC {rate:g}" for rate in BANK_RATES) if self._has_bank() else ()
        return (*bank, *LINEAR_MEMBERS, *(("persistence",) if self.persistence else ()))

    @property
    def weights_(self) -> Floats:
        """The weight of each member in the next prediction."""
        return self._learned_core().shares()

    @property
    def effective_rows_(self) -> float:
        """How many rows the bank remembers, by the weights of its rates."""
        return float(self.class_effective_rows_.sum())

    @property
    def class_effective_rows_(self) -> Floats:
        """How many rows of each class the bank remembers, by the weights of its rates."""
        state = self._learned_core().state()
        if not self._has_bank():
            return np.full(len(self.classes_), np.nan)
        return remembered_rows(state, self.weights_[: len(BANK_RATES)], name="member0_")

    def explain(self) -> str:
        """Which member carries the weight, how long the memory is, and how much is known of each class."""
        check_is_fitted(self)
        weights, names = self.weights_, self.members_
        lines = [
            f"{len(names)} members over {self.n_features_in_} features; the heaviest is {names[int(weights.argmax())]} "
            f"with a share of {weights.max():.2f}.",
            *(f"  {weights[i]:.3f}  {names[i]}" for i in np.argsort(-weights, kind="stable")),
        ]
        if self._has_bank():
            remembered = f"{self.effective_rows_:,.0f}"
            lines.append(f"The bank remembers about {remembered} row{'' if remembered == '1' else 's'}:")
            for label, rows in zip(self.classes_.tolist(), self.class_effective_rows_, strict=True):
                lines.append(f"  {rows:10,.1f}  of class {label!r}")
        else:
            lines.append(f"Left out: {self.left_out_}.")
        return "\n".join(lines)


def _depth_in_thalweg() -> int:
    """How many calls lie between a warning here and the caller's own line, which is what it is about."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("thalweg."):
        frame, depth = frame.f_back, depth + 1
    return depth
