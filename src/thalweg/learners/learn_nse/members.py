"""The members of Learn++.NSE: trained on a block (step 3 of the algorithm), then asked together.

Members with an affine form vote by one matrix product, others in threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone

from thalweg.learners.base.python_core import Codes
from thalweg.learners.base.rows import Floats
from thalweg.learners.learn_nse.affine import AffineStack, Frame, Places, affine_form

#: Scores held at once while votes are counted: few enough to stay in the cache, enough for a product to be quick.
_SCORES_AT_ONCE = 1 << 16


@dataclass
class Member:
    """A classifier of one block; it votes for the classes of that block only.

    Attributes
    ----------
    model : estimator or None
        Trained on 0, 1, …, the places of its classes; None where the block had one class.
    classes : ndarray of int
        The class index each place stands for.
    seed : int
        The seed it was trained with.
    """

    model: Any
    classes: Codes
    seed: int

    def answers(self, X: Floats) -> Codes:
        if self.model is None:
            return np.full(len(X), self.classes[0])
        with config_context(assume_finite=True):
            places: Codes = self.model.predict(X)
        return self.classes[places]

    def copy(self) -> Member:
        """The same trained classifier, its classes free to be renumbered."""
        return Member(self.model, self.classes.copy(), self.seed)


class Members(Sequence[Member]):
    """A list of members that predicts as one."""

    def __init__(self, frame: Frame, n_jobs: int | None = None) -> None:
        self.frame = frame
        self._n_jobs = n_jobs
        self._members: list[Member] = []
        self._stacks: dict[int, AffineStack] = {}  # by number of classes
        self._alone: list[int] = []  # members without a form

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, at: Any) -> Any:
        return self._members[at]

    def append(self, member: Member) -> None:
        form = None if member.model is None else affine_form(member.model, self.frame)
        if form is None:
            self._alone.append(len(self))
        else:
            classes = len(member.classes)
            stack = self._stacks.setdefault(classes, AffineStack(form, classes))
            stack.append(form, member.classes, len(self))
        self._members.append(member)

    def drop(self, at: int) -> None:
        """One member less; those behind it move up."""
        del self._members[at]
        self._alone = [i - (i > at) for i in self._alone if i != at]
        for stack in self._stacks.values():
            stack.drop(at)
        self._stacks = {classes: stack for classes, stack in self._stacks.items() if len(stack.owners)}

    def insert_class(self, at: int) -> None:
        for member in self._members:
            member.classes = member.classes + (member.classes >= at)
        for stack in self._stacks.values():
            stack.insert_class(at)

    def answers(self, X: Floats) -> Codes:
        """The class index of each row, a column per member."""
        answers = np.empty((len(X), len(self)), dtype=np.int64)
        for stack in self._stacks.values():
            members = np.arange(len(stack.owners))
            answers[:, stack.owners] = stack.classes_at(self._places(stack, members, X))
        for i, column in zip(self._alone, self._asked_singly(X, self._alone), strict=True):
            answers[:, i] = column
        return answers

    def votes(self, X: Floats, ballots: Floats, classes: int) -> Floats:
        """For each row the sum of the ballots for each class; members without one are not asked. Exact in any order."""
        votes = np.zeros((len(X), classes))
        for stack in self._stacks.values():
            members = np.flatnonzero(ballots[stack.owners])
            if len(members):
                step = max(_SCORES_AT_ONCE // len(members), 1)
                for i in range(0, len(X), step):
                    places = self._places(stack, members, X[i : i + step])
                    stack.count(places, members, ballots[stack.owners[members]], votes[i : i + step])  # eq. (8)
        voters = [i for i in self._alone if ballots[i] > 0.0]
        rows = np.arange(len(X))
        for i, column in zip(voters, self._asked_singly(X, voters), strict=True):
            votes[rows, column] += ballots[i]  # eq. (8)
        return votes

    def _places(self, stack: AffineStack, members: NDArray[np.intp], X: Floats) -> Places:
        """The predictions of a stack's members as places among their classes; their own where rounding could decide."""
        places, doubtful = stack.ask(self.frame.features(X, stack.width), members)
        if doubtful is None:
            return places
        for column in np.flatnonzero(doubtful.any(axis=0)):
            rows = np.flatnonzero(doubtful[:, column])
            member: Member = self[int(stack.owners[members[column]])]
            places[rows, column] = np.searchsorted(member.classes, member.answers(X[rows]))
        return places

    def _asked_singly(self, X: Floats, which: list[int]) -> list[Codes]:
        if self._n_jobs in (None, 1) or len(which) < 2:
            return [self[i].answers(X) for i in which]
        from joblib import Parallel, delayed, effective_n_jobs

        jobs = min(effective_n_jobs(self._n_jobs), len(which))
        shares = [which[job::jobs] for job in range(jobs)]
        by_job = Parallel(n_jobs=jobs, require="sharedmem")(
            delayed(lambda share: [self[i].answers(X) for i in share])(share) for share in shares
        )
        columns = {i: c for share, part in zip(shares, by_job, strict=True) for i, c in zip(share, part, strict=True)}
        return [columns[i] for i in which]


Train = Literal["plain", "weighted", "resampled"]


class Training:
    """Trains copies of a classifier on blocks.

    ``train`` says how the distribution D over the rows reaches it. A block is tried up to ``tries`` times until the
    error is no more than 1/2. All chance depends on the seed, the block and the try alone.
    """

    def __init__(self, base: Any, train: Train, tries: int, seed: int) -> None:
        self.base = base
        self._train = train
        self._tries = tries
        self._seed = seed
        self._seeded = seed_parameters(base)

    def member_of(self, X: Floats, y: Codes, D: Floats, block: int) -> tuple[Member, NDArray[np.bool_]]:
        """A new member, and where it is wrong on its own block.

        A try that predicts as the one before it did ends the tries: the base has no chance in it.
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
    return sorted(name for name in base.get_params() if name == "random_state" or name.endswith("__random_state"))


def seeded(base: Any, seed: int) -> Any:
    """An untrained copy with this seed wherever it takes one."""
    model = clone(base)
    names = seed_parameters(base)
    return model.set_params(**dict.fromkeys(names, seed)) if names else model
