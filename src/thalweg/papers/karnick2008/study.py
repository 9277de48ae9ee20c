"""The runs behind the paper: each learner on both data sets, and its accuracy after each block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from thalweg.learners.learn_nse.classifier import LearnNSE
from thalweg.papers.karnick2008.data import Blocks, Checkerboard, Data, SeaConcepts
from thalweg.papers.karnick2008.network import GoalNetwork
from thalweg.papers.study import Request, Study, run_in_processes, seeds_of_run

Floats = NDArray[np.float64]

#: Blocks over which accuracy just before a change, and its fall just after, are taken.
NEAR = 10


@dataclass(frozen=True)
class AccuracyCurve:
    """Accuracy on the test points after each block of a run."""

    ensemble: Floats
    single: Floats


def follow(model: LearnNSE, data: Blocks) -> AccuracyCurve:
    """Learn the blocks one by one; after each, predict the test points and score them by their labels at that time.

    Neither the points nor a trained classifier changes: each classifier predicts them once, and the ensemble's
    predictions follow from these and its current voting weights.
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
    return AccuracyCurve(ensemble, single)


@dataclass(frozen=True)
class Recovery:
    """What a sudden change does to the ensemble, by run."""

    #: Mean accuracy of the last blocks before it.
    before: Floats
    #: The lowest accuracy of the first blocks after it.
    dip: Floats
    #: Blocks of the new concept until the ensemble passes the mean of the newest classifier alone.
    blocks: NDArray[np.int64]


class AccuracyCurves:
    def __init__(self, courses: Sequence[AccuracyCurve]) -> None:
        self._courses = tuple(courses)

    @property
    def runs(self) -> int:
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
    def mean_course(self) -> AccuracyCurves:
        """The mean over runs as a single course, as the figures show it."""
        return AccuracyCurves([AccuracyCurve(self.ensemble.mean(axis=0), self.single.mean(axis=0))])

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


BOARD, SEA = "board", "sea"
BAYES, SVM, MLP = "naive Bayes", "SVM", "MLP"
Weighting: TypeAlias = Literal["age", "lifetime", "recursive"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)

#: The paper's: a Gaussian kernel of σ = 0.5, so that gamma = 1 / (2 σ²); 25 hidden units and an error goal of 0.1.
LEARNERS: Mapping[str, Callable[[], Any]] = {
    BAYES: GaussianNB,
    SVM: partial(SVC, C=1e4, gamma=2.0),
    MLP: partial(GoalNetwork, hidden=25, goal=0.1),
}
#: Default number of runs: fewer of the slower learners.
RUNS: Mapping[str, int] = {BAYES: 5, SVM: 2, MLP: 3}
DATA: Mapping[str, Data] = {BOARD: Checkerboard(), SEA: SeaConcepts()}
FAST_DATA: Mapping[str, Data] = {BOARD: Checkerboard(blocks=350), SEA: SeaConcepts(blocks=80)}

#: Approximate seconds of a run. The longest start first, and progress is weighted by them.
_SECONDS = {
    (BOARD, SVM): 150.0,
    (SEA, SVM): 60.0,
    (BOARD, MLP): 25.0,
    (BOARD, BAYES): 8.0,
    (SEA, MLP): 4.0,
    (SEA, BAYES): 1.0,
}


@dataclass(frozen=True)
class Job:
    """A learner under one weighting of errors on a data set, in one run."""

    data: str
    learner: str
    weighting: Weighting
    run: int

    @property
    def seconds(self) -> float:
        return _SECONDS[self.data, self.learner]


def jobs_of(item: str, runs: int) -> list[Job]:
    learners: list[tuple[str, str, Weighting]] = [
        (data, learner, "age") for data in _data_of(item) for learner in LEARNERS
    ]
    weightings: list[tuple[str, str, Weighting]] = (
        [(BOARD, BAYES, weighting) for weighting in WEIGHTINGS] if item == "weightings" else []
    )
    return [
        Job(data, learner, weighting, run)
        for data, learner, weighting in learners + weightings
        for run in range(runs or RUNS[learner])
    ]


def _data_of(item: str) -> tuple[str, ...]:
    return {"fig3": (BOARD,), "fig4": (SEA,), "table": (BOARD, SEA), "drifts": (SEA,)}.get(item, ())


_RUNS = "runs of Learn++.NSE"
#: Items that need no such runs, and their approximate seconds.
BEYOND = {"real": 180.0, "time": 20.0}


class AccuracyStudy(Study):
    """The courses that the items need, all measured when the first is asked for, the longest first."""

    def __init__(self, data: Mapping[str, Data], request: Request) -> None:
        wanted = dict.fromkeys(job for item in request.items for job in jobs_of(item, request.runs))
        self._jobs = sorted(wanted, key=lambda job: -job.seconds)
        work = {
            _RUNS: sum(job.seconds for job in self._jobs),
            **{item: BEYOND[item] for item in request.items if item in BEYOND},
        }
        super().__init__(work, request)
        self.data = data

    def _measure(self) -> dict[Job, AccuracyCurve]:
        tasks = [partial(_course, self.data[job.data], job, self.seed) for job in self._jobs]
        finished, total = self.stage(_RUNS), sum(job.seconds for job in self._jobs)
        courses: dict[Job, AccuracyCurve] = {}
        for number, course in run_in_processes(tasks, self.workers):
            courses[self._jobs[number]] = course
            finished(sum(job.seconds for job in courses) / total)
        return courses

    def courses(self, data: str, learner: str, weighting: str = "age") -> AccuracyCurves:
        """All runs of a learner on a data set, in their order."""
        courses = self.once(_RUNS, self._measure)
        chosen = [job for job in courses if (job.data, job.learner, job.weighting) == (data, learner, weighting)]
        return AccuracyCurves([courses[job] for job in sorted(chosen, key=lambda job: job.run)])


def _course(data: Data, job: Job, seed: int) -> AccuracyCurve:
    stream_seed, learner_seed = seeds_of_run(seed, job.run)
    model = LearnNSE(LEARNERS[job.learner](), weighting=job.weighting, n_jobs=1, random_state=learner_seed)
    return follow(model, data.draw(stream_seed))
