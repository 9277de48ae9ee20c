"""From a block to a member of Learn++.NSE: step 3 of the algorithm, and what happens when it fails."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from thalweg.learners.nse_members import Member
from thalweg.learners.python_core import Codes
from thalweg.learners.rows import Floats

Train = Literal["plain", "weighted", "resampled"]


class Training:
    """Trains copies of a classifier on blocks.

    Parameters
    ----------
    base : estimator
        What is copied.
    train : {"plain", "weighted", "resampled"}
        How the distribution D over the rows reaches it.
    tries : int
        How often a block may be tried until the error is no more than 1/2.
    seed : int
        The start of all chance, which depends on it, the block and the try alone.
    """

    def __init__(self, base: Any, train: Train, tries: int, seed: int) -> None:
        self.base = base
        self._train = train
        self._tries = tries
        self._seed = seed
        self._seeded = seed_parameters(base)

    def member_of(self, X: Floats, y: Codes, D: Floats, block: int) -> tuple[Member, NDArray[np.bool_]]:
        """A new member, and where it is wrong on its own block.

        A try that answers as the one before it did ends the tries: the base has no chance in it.
        """
        by_chance = bool(self._seeded) or self._train == "resampled"
        member = self._trained(X, y, D, block, 0)
        wrong = member.answers(X) != y
        for attempt in range(1, self._tries if by_chance else 1):
            if D @ wrong <= 0.5:
                break
            before = wrong
            member = self._trained(X, y, D, block, attempt)
            wrong = member.answers(X) != y
            if np.array_equal(before, wrong):
                break
        return member, wrong

    def _trained(self, X: Floats, y: Codes, D: Floats, block: int, attempt: int) -> Member:
        chance = np.random.SeedSequence([self._seed, block, attempt])
        seed = int(chance.generate_state(1)[0]) if self._seeded else 0
        if self._train == "resampled":
            drawn = np.random.default_rng(chance).choice(len(X), len(X), p=D)
            X, y = X[drawn], y[drawn]
        classes, places = np.unique(y, return_inverse=True)
        if len(classes) == 1:
            return Member(None, classes, 0)
        model = seeded(self.base, seed)
        if self._train == "weighted":
            model.fit(X, places, sample_weight=D * len(D))  # of mean 1: some bases mind the scale
        else:
            model.fit(X, places)
        return Member(model, classes, seed)


def seed_parameters(base: Any) -> list[str]:
    """The parameters of an estimator, and of those inside it, that are seeds."""
    return sorted(name for name in base.get_params() if name == "random_state" or name.endswith("__random_state"))


def seeded(base: Any, seed: int) -> Any:
    """An untrained copy with this seed wherever it takes one."""
    model = clone(base)
    names = seed_parameters(base)
    return model.set_params(**dict.fromkeys(names, seed)) if names else model
