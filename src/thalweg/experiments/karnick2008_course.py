"""How an ensemble fares over the blocks of a run, beside its newest classifier alone; and over several runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from thalweg.experiments.karnick2008_data import Blocks
from thalweg.learners.learn_nse import LearnNSE

Floats = NDArray[np.float64]

#: Blocks over which accuracy just before a change, and its fall just after, are taken.
NEAR = 10


@dataclass(frozen=True)
class Course:
    """Accuracy on the test points after each block of a run."""

    ensemble: Floats
    single: Floats


def follow(model: LearnNSE, data: Blocks) -> Course:
    """Learn the blocks one by one; after each, answer the test points under their labels of that time.

    The points stand still and so does a classifier once trained: each answers them once, and the ensemble's answers
    follow from these and the voting weights of the time.
    """
    votes = np.empty((len(data.X), len(data.points)))  # +1 for class 1, -1 for class 0
    ensemble, single = np.empty(len(data.X)), np.empty(len(data.X))
    for block, (X, y, truth) in enumerate(zip(data.X, data.y, data.truth, strict=True)):
        model.partial_fit(X, y)
        votes[block] = 2.0 * model.members_[-1].predict(data.points) - 1.0
        weights = model.weights_
        together = weights @ votes[: block + 1] if weights.any() else votes[block]  # eq. (8)
        ensemble[block] = np.mean((together > 0.0) == truth)
        single[block] = np.mean((votes[block] > 0.0) == truth)
    return Course(ensemble, single)


@dataclass(frozen=True)
class Recovery:
    """What a sudden change does to the ensemble, by run."""

    #: Mean accuracy of the last blocks before it.
    before: Floats
    #: The lowest accuracy of the first blocks after it.
    dip: Floats
    #: Blocks of the new concept until the ensemble passes the mean of the newest classifier alone.
    blocks: NDArray[np.int64]


class Courses:
    """The courses of several runs."""

    def __init__(self, courses: Sequence[Course]) -> None:
        self._courses = tuple(courses)

    @property
    def runs(self) -> int:
        """How many."""
        return len(self._courses)

    @cached_property
    def ensemble(self) -> Floats:
        """Shape (runs, blocks)."""
        return np.stack([course.ensemble for course in self._courses])

    @cached_property
    def single(self) -> Floats:
        """Shape (runs, blocks)."""
        return np.stack([course.single for course in self._courses])

    @property
    def mean_course(self) -> Courses:
        """The mean over runs, as if it were one: what a figure shows."""
        return Courses([Course(self.ensemble.mean(axis=0), self.single.mean(axis=0))])

    @property
    def halves(self) -> tuple[Floats, Floats]:
        """The ensemble's mean accuracy in the first half of the blocks and in the second, by run."""
        middle = self.ensemble.shape[1] // 2
        return self.ensemble[:, :middle].mean(axis=1), self.ensemble[:, middle:].mean(axis=1)

    @property
    def as_good(self) -> Floats:
        """The share of the blocks on which the ensemble is at least as good as the newest classifier, by run."""
        return np.asarray((self.ensemble >= self.single).mean(axis=1))

    def recovery(self, change: int, concept: int) -> Recovery:
        """Around the block ``change``, the first after a change; a concept lasts ``concept`` blocks.

        The newest classifier's mean is taken over the concepts before and after. An ensemble that does not pass it
        within its concept counts as one that needs a block more.
        """
        near = min(NEAR, concept)
        after = self.ensemble[:, change : change + concept]
        reference = self.single[:, change - concept : change + concept].mean(axis=1, keepdims=True)
        passed = np.column_stack([after >= reference, np.ones(self.runs, dtype=bool)])
        return Recovery(
            self.ensemble[:, change - near : change].mean(axis=1),
            after[:, :near].min(axis=1),
            passed.argmax(axis=1) + 1,
        )
