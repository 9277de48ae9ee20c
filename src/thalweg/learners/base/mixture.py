"""The rule that mixes the members of `AutoClassifier` or of one of their families, and the shares that all have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from thalweg.kernels import compiled
from thalweg.learners.base.rate_bank import prior_losses

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

#: Memories of 100, 200 and 1,000 rows; the loss becomes the log-loss where classes are rare or labels noisy.
DISCOUNTS, SHARPNESS, LOSS = (0.99, 0.995, 0.999), 0.5, "auto"


class Member(NamedTuple):
    """How a member is made for rows of so many features, and the rate that its prior weight is proportional to."""

    make: Callable[[int], Core]
    rate: float


#: Members that look at no feature: where nothing can be learned, the probabilities go there.
SHARE_MEMBERS: Mapping[str, Member] = {
    f"shares of {rows} rows": Member(partial(compiled.majority, keep=keep, doubt=0.5), 0.1)
    for rows, keep in (("100", 0.99), ("1,000", 0.999), ("all", 1.0))
}


def mixed(cores: Sequence[Core], prior: Sequence[float] = ()) -> Core:
    """Members that are weighted by this rule; ``prior`` is the loss that each starts with."""
    return compiled.committee(list(cores), list(DISCOUNTS), SHARPNESS, LOSS, list(prior))


def mixed_with_shares(features: int, members: Sequence[Member]) -> Core:
    """The members of a family, mixed with the shares of the labels."""
    each = [*members, *SHARE_MEMBERS.values()]
    return mixed([member.make(features) for member in each], prior_losses([member.rate for member in each], SHARPNESS))
