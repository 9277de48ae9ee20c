"""The runs behind the paper: each learner on both data sets, and its accuracy after each block.

One learner is a multilayer perceptron that is trained to an error goal and no further. Karnick, Muhlbaier & Polikar
(2008) train theirs to a mean squared error of 0.1. The goal is what keeps it from learning wrong labels by heart, and
scikit-learn's network has none: it stops after a number of iterations, or when nothing improves any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from thalweg.learners.learn_nse.classifier import LearnNSE
from thalweg.papers.karnick2008.data import Blocks, Checkerboard, Data, SeaConcepts
from thalweg.papers.study import Request, Study, run_in_processes, seeds_of_run

Floats = NDArray[np.float64]


class _Layers(NamedTuple):
    """Weights and biases of the hidden units, weights and bias of the output."""

    W: Floats
    b: Floats
    v: Floats
    c: Floats


class GoalNetwork(ClassifierMixin, BaseEstimator):
    """One hidden layer of tanh units, one logistic output, mean squared error by L-BFGS. Two classes.

    Features are scaled to mean 0 and standard deviation 1 over the rows learned.

    Parameters
    ----------
    hidden : int >= 1
        Hidden units; more of them can bend the boundary more.
    goal : float
        Training stops where the mean squared error is no larger.
    max_iter : int >= 1
        Training stops after so many iterations in any case.
    random_state : int
        The weights at the start.
    """

    def __init__(self, hidden: int = 25, goal: float = 0.1, max_iter: int = 200, random_state: int = 0) -> None:
        self.hidden = hidden
        self.goal = goal
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        rows = np.asarray(X, dtype=np.float64)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(f"GoalNetwork needs rows of two classes, got {len(self.classes_)}.")
        self.mean_, self.scale_ = rows.mean(axis=0), rows.std(axis=0) + np.finfo(float).tiny
        Z, target = (rows - self.mean_) / self.scale_, codes.astype(np.float64)

        def stop_at_goal(intermediate_result: Any) -> None:
            if intermediate_result.fun <= self.goal:
                raise StopIteration

        fitted = minimize(
            self._loss,
            self._start(Z.shape[1]),
            args=(Z, target),
            jac=True,
            method="L-BFGS-B",
            callback=stop_at_goal,
            options={"maxiter": self.max_iter},
        )
        self.parameters_ = fitted.x
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class on whose side of one half the output lies."""
        Z = (np.asarray(X, dtype=np.float64) - self.mean_) / self.scale_
        layers = self._layers(self.parameters_, Z.shape[1])
        predicted: NDArray[Any] = self.classes_[(self._hidden(layers, Z) @ layers.v + layers.c > 0.0).astype(np.int64)]
        return predicted

    def _start(self, features: int) -> Floats:
        """Normal weights: hidden units of total variance 1.5² whatever the features, an output of variance about 1."""
        rng = np.random.default_rng(self.random_state)
        W = rng.standard_normal(features * self.hidden) * 1.5 / np.sqrt(features)
        b = rng.standard_normal(self.hidden)
        v = rng.standard_normal(self.hidden) / np.sqrt(self.hidden)
        return np.concatenate([W, b, v, rng.standard_normal(1)])

    def _layers(self, parameters: Floats, features: int) -> _Layers:
        W, b, v, c = np.split(parameters, np.cumsum([features * self.hidden, self.hidden, self.hidden]))
        return _Layers(W.reshape(features, self.hidden), b, v, c)

    @staticmethod
    def _hidden(layers: _Layers, Z: Floats) -> Floats:
        return np.asarray(np.tanh(Z @ layers.W + layers.b))

    def _loss(self, parameters: Floats, Z: Floats, target: Floats) -> tuple[float, Floats]:
        """The mean squared error and its gradient, by the chain rule from the output back."""
        layers = self._layers(parameters, Z.shape[1])
        active = self._hidden(layers, Z)
        output = expit(active @ layers.v + layers.c)
        wrong = output - target
        at_output = 2.0 / len(target) * wrong * output * (1.0 - output)
        at_hidden = np.outer(at_output, layers.v) * (1.0 - active**2)
        gradient = [(Z.T @ at_hidden).ravel(), at_hidden.sum(axis=0), active.T @ at_output, [at_output.sum()]]
        return float(np.mean(wrong**2)), np.concatenate(gradient)


#: Blocks over which accuracy just before a change, and its fall just after, are taken.
NEAR = 10


class AccuracyCurve(NamedTuple):
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


class Recovery(NamedTuple):
    """What a sudden change does to the ensemble, by run."""

    #: Mean accuracy of the last blocks before it.
    before: Floats
    #: The lowest accuracy of the first blocks after it.
    dip: Floats
    #: Blocks of the new concept until the ensemble passes the mean of the newest classifier alone.
    blocks: NDArray[np.int64]


class AccuracyCurves(NamedTuple):
    """Those of several runs, of shape (runs, blocks)."""

    ensemble: Floats
    single: Floats

    @classmethod
    def of(cls, curves: Sequence[AccuracyCurve]) -> AccuracyCurves:
        return cls(np.stack([curve.ensemble for curve in curves]), np.stack([curve.single for curve in curves]))

    @property
    def runs(self) -> int:
        return len(self.ensemble)

    @property
    def words(self) -> str:
        return f"{self.runs} run{'s' if self.runs > 1 else ''}"

    @property
    def mean_course(self) -> AccuracyCurves:
        """The mean over runs as a single course, as the figures show it."""
        return AccuracyCurves(*(curves.mean(axis=0, keepdims=True) for curves in self))

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


class Job(NamedTuple):
    """A learner under one weighting of errors on a data set, in one run."""

    data: str
    learner: str
    weighting: Weighting
    run: int

    @property
    def seconds(self) -> float:
        return _SECONDS[self.data, self.learner]


#: What an item needs: every learner on these data, or naive Bayes with every weighting.
_DATA_OF = {"fig3": (BOARD,), "fig4": (SEA,), "table": (BOARD, SEA), "drifts": (SEA,)}


def jobs_of(item: str, runs: int) -> list[Job]:
    needed: list[tuple[str, str, Weighting]] = [
        (data, name, "age") for data in _DATA_OF.get(item, ()) for name in LEARNERS
    ]
    if item == "weightings":
        needed = [(BOARD, BAYES, weighting) for weighting in WEIGHTINGS]
    return [Job(*course, run) for course in needed for run in range(runs or RUNS[course[1]])]


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
        chosen = sorted(job for job in courses if job[:3] == (data, learner, weighting))
        return AccuracyCurves.of([courses[job] for job in chosen])


def _course(data: Data, job: Job, seed: int) -> AccuracyCurve:
    stream_seed, learner_seed = seeds_of_run(seed, job.run)
    model = LearnNSE(LEARNERS[job.learner](), weighting=job.weighting, n_jobs=1, random_state=learner_seed)
    return follow(model, data.draw(stream_seed))
