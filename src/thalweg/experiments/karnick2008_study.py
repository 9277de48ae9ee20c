"""The runs behind Karnick, Muhlbaier & Polikar (2008): learners on both data sets, each run made once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from thalweg.experiments.karnick2008_course import Course, Courses, follow
from thalweg.experiments.karnick2008_data import Checkerboard, Data, SeaConcepts
from thalweg.experiments.karnick2008_network import GoalNetwork
from thalweg.experiments.workers import run_in_processes, seeds_of_run
from thalweg.learners.learn_nse import LearnNSE

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
#: Runs where nobody says how many: fewer of what takes longer.
RUNS: Mapping[str, int] = {BAYES: 5, SVM: 2, MLP: 3}
DATA: Mapping[str, Data] = {BOARD: Checkerboard(), SEA: SeaConcepts()}
FAST_DATA: Mapping[str, Data] = {BOARD: Checkerboard(blocks=350), SEA: SeaConcepts(blocks=80)}

#: Seconds of a run, roughly: the longest are begun first, and progress is weighed by them.
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
        """How long it takes, roughly."""
        return _SECONDS[self.data, self.learner]


def jobs_of(item: str, runs: int | None) -> list[Job]:
    """What an item needs to be measured."""
    learners: list[tuple[str, str, Weighting]] = [
        (data, learner, "age") for data in _data_of(item) for learner in LEARNERS
    ]
    weightings: list[tuple[str, str, Weighting]] = (
        [(BOARD, BAYES, weighting) for weighting in WEIGHTINGS] if item == "weightings" else []
    )
    return [
        Job(data, learner, weighting, run)
        for data, learner, weighting in learners + weightings
        for run in range(RUNS[learner] if runs is None else runs)
    ]


def _data_of(item: str) -> tuple[str, ...]:
    return {"fig3": (BOARD,), "fig4": (SEA,), "table": (BOARD, SEA), "drifts": (SEA,)}.get(item, ())


class Study:
    """The courses that some items need, measured at once, the longest first."""

    def __init__(self, items: Sequence[str], data: Mapping[str, Data], *, runs: int | None, seed: int) -> None:
        wanted = dict.fromkeys(job for item in items for job in jobs_of(item, runs))
        self._jobs = sorted(wanted, key=lambda job: -job.seconds)
        self._seed = seed
        self._courses: dict[Job, Course] = {}
        self.data = data

    @property
    def work(self) -> float:
        """How long it takes, roughly, in seconds on one processor."""
        return sum(job.seconds for job in self._jobs)

    def measure(self, workers: int, finished: Callable[[float], None]) -> None:
        """Make all runs, telling ``finished`` the share done."""
        tasks = [partial(_course, self.data[job.data], job, self._seed) for job in self._jobs]
        done = 0.0
        for number, course in run_in_processes(tasks, workers):
            job = self._jobs[number]
            self._courses[job] = course
            done += job.seconds
            finished(done / self.work)

    def courses(self, data: str, learner: str, weighting: str = "age") -> Courses:
        """All runs of a learner on a data set, in their order."""
        chosen = [job for job in self._courses if (job.data, job.learner, job.weighting) == (data, learner, weighting)]
        return Courses([self._courses[job] for job in sorted(chosen, key=lambda job: job.run)])


def _course(data: Data, job: Job, seed: int) -> Course:
    stream_seed, learner_seed = seeds_of_run(seed, job.run)
    model = LearnNSE(LEARNERS[job.learner](), weighting=job.weighting, n_jobs=1, random_state=learner_seed)
    return follow(model, data.draw(stream_seed))
