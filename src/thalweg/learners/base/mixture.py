"""Members of `AutoClassifier`, of `AutoRegressor` and of one of their families, and the rule that mixes them.

A bank of forgetting rates, which `OnlineLDC` has by itself too, random tilings, which `TilingClassifier` and
`TilingRegressor` have, and the shares of the labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from thalweg.kernels import compiled
from thalweg.learners.base.rows import Floats

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

#: Memories of about 3,333, 1,000, 333, 100, 33, 10 and 3 rows.
BANK_RATES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
#: Share of a feature's variance that is added to the covariance, so that no memory is too short for it.
BANK_RIDGE = 1e-3
#: How losses of the rates fade, and how strongly they count: weights exp(-sharpness L), L <- discount L + [mistake].
BANK_DISCOUNT, BANK_SHARPNESS = 0.995, 0.5
#: A member with at least this rate starts without a loss.
EAGER = 0.1


def prior_losses(rates: Sequence[float], sharpness: float) -> list[float]:
    """The loss that members with these rates start with, in mistakes; it fades like all others.

    The prior weight of a member is proportional to its rate. All slow members predict the same at first, and
    without this they would outvote the quick ones for as long after the first drift as a young stream has lasted.

    Examples
    --------
    >>> [round(each, 1) for each in prior_losses([0.001, 0.01, 0.1, 0.3], sharpness=0.5)]
    [9.2, 4.6, 0.0, 0.0]
    """
    return [float(np.log(max(1.0, EAGER / rate)) / sharpness) for rate in rates]


def remembered_rows(state: Mapping[str, NDArray[Any]], shares: Floats, name: str = "") -> Floats:
    """How many rows of each class a bank remembers, by the shares of its rates; ``name`` is the bank's in the state."""
    rates = np.maximum(BANK_RATES, 1.0 / (state[f"{name}rows"][0] + 1.0))
    return np.asarray(state[f"{name}counts"][:, : len(rates)] / rates @ (shares / shares.sum()))


def remembered_means(state: Mapping[str, NDArray[Any]], shares: Floats, name: str = "") -> Floats:
    """The mean of each class by the shares of a bank's rates, in the units of the rows before they were scaled."""
    shares = shares[: len(BANK_RATES)]
    means = state[f"{name}means"]
    by_rate = means.reshape(len(means), -1, 8)[:, :, : len(BANK_RATES)]  # lanes of eight, of which one is idle
    deviations = np.sqrt(state["scaler_variance"])
    return np.asarray(by_rate @ (shares / shares.sum()) * deviations + state["scaler_mean"])


#: Memories of 100, 200 and 1,000 rows; the loss becomes the log-loss where classes are rare or labels noisy.
DISCOUNTS, SHARPNESS, LOSS = (0.99, 0.995, 0.999), 0.5, "auto"


class Member(NamedTuple):
    """How a member is made for rows of so many features, and the rate that its prior weight is proportional to."""

    make: Callable[[int], Core]
    rate: float


#: Members that look at no feature: where nothing can be learned, the probabilities go there.
SHARE_MEMBERS: Mapping[str, Member] = {
    f"shares of {rows} rows": Member(partial(compiled.majority, keep=keep, doubt=0.5), EAGER)
    for rows, keep in (("100", 0.99), ("1,000", 0.999), ("all", 1.0))
}


def mixed(cores: Sequence[Core], prior: Sequence[float] = ()) -> Core:
    """Members that are weighted by this rule; ``prior`` is the loss that each starts with."""
    return compiled.committee(list(cores), list(DISCOUNTS), SHARPNESS, LOSS, list(prior))


def mixed_with_shares(features: int, members: Sequence[Member]) -> Core:
    """The members of a family, mixed with the shares of the labels."""
    cores = [(member.make(features), member.rate) for member in (*members, *SHARE_MEMBERS.values())]
    rates = [rate for core, rate in cores for _ in range(core.n_posteriors)]
    return mixed([core for core, _ in cores], prior_losses(rates, SHARPNESS))


#: A step size, and the rows over which a cell remembers its squared gradients; None for the same step in every cell.
StepRule = tuple[float, int | None]
#: The rules of ``step="auto"``.
STEP_RULES: tuple[StepRule, ...] = ((0.005, None), (0.03, 1000), (0.03, 100), (0.05, None))
#: The prior weight of tilings in a mixture is that of a linear member with this rate.
CURVED_RATE = 0.03
#: Of numbers: the shares of a row's residual that learning it removes.
NUMBER_STEPS = (0.1, 0.25, 0.5, 0.8)


def tilings_core(
    features: int,
    tilings: int,
    depth: int,
    rules: Sequence[StepRule],
    *,
    every: int = 100,
    young: int = 500,
    share: float = 0.05,
    seed: int,
) -> Core:
    """Tilings without the scaling before them, with one or four step rules side by side."""
    steps = [step for step, _ in rules]
    decays = [0.0 if memory is None else 1 - 1 / memory for _, memory in rules]
    return compiled.tilings(features, tilings, depth, steps, decays, every, young, share, seed)


def slow_tilings(
    tilings: int, depth: int, *, seed: int, every: int = 100, young: int = 500, share: float = 0.05
) -> Member:
    """Tilings with a step small enough for labels that are mostly noise."""
    core = partial(tilings_core, tilings=tilings, depth=depth, rules=((0.002, None),), seed=seed)
    return Member(partial(core, every=every, young=young, share=share), 0.003)


def number_tilings(
    tilings: int = 256,
    depth: int = 3,
    steps: Sequence[float] = NUMBER_STEPS,
    *,
    every: int = 100,
    young: int = 500,
    share: float = 0.05,
    seed: int,
) -> tuple[int, int, list[float], int, int, float, int]:
    """Tilings for numbers as ``compiled.mixed_regression`` takes them."""
    return tilings, depth, list(steps), every, young, share, seed


#: Members of a regressor that look at no feature.
BASELINES = ("last value", "running mean")


class WithFamilies:
    """A mixture whose members are of several kinds, its families."""

    def _members_and_families(self) -> list[tuple[str, str]]:
        """The members in the order of ``weights_``, each with its family."""
        raise NotImplementedError

    @property
    def members_(self) -> tuple[str, ...]:
        """The members, in the order of ``weights_``."""
        return tuple(name for name, _ in self._members_and_families())

    @property
    def families_(self) -> tuple[str, ...]:
        """The kind of each member."""
        return tuple(family for _, family in self._members_and_families())

    @property
    def family_weights_(self) -> dict[str, float]:
        """The weight of each family in the next prediction; of several targets the mean."""
        weights = dict.fromkeys(self.families_, 0.0)
        for family, weight in zip(self.families_, self._mean_weights().tolist(), strict=True):
            weights[family] += weight
        return weights

    def _mean_weights(self: Any) -> Floats:
        return np.asarray(np.atleast_2d(self.weights_).mean(axis=0))

    def _heaviest_first(self: Any, kind: str) -> list[str]:
        """Lines about the weights: the heaviest member, families by ``kind`` where there are several, all members."""
        check_is_fitted(self)
        weights, names, families = self._mean_weights(), self.members_, self.family_weights_
        by_family = ", ".join(f"{name} {weight:.2f}" for name, weight in families.items())
        return [
            f"{len(names)} members over {self._features_in_words()}; the heaviest is {names[int(weights.argmax())]} "
            f"with a weight of {weights.max():.2f}.",
            *([f"By {kind}: {by_family}."] if len(families) > 1 else []),
            *(f"  {weights[i]:.3f}  {names[i]}" for i in np.argsort(-weights, kind="stable")),
        ]
