"""The measurements behind Table 1: each data set tuned, tested on its splits and timed.

The parameters are tuned on the first five splits of a set, one choice for all splits; scikit-learn's SVC is tuned the
same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from thalweg.learners.kernel_mean.classifier import KernelMeanClassifier
from thalweg.learners.kernel_mean.densities import leave_one_out_log_means, log_class_means, squared_distances
from thalweg.learners.kernel_mean.tuning import RHOS, SIGMAS, best_bias, errors_at, fewest_errors, middle_of_minima
from thalweg.papers.bounsiar.printed import TABLE_1
from thalweg.papers.study import Finished, Request, Study, at_hand, processor_seconds, run_all
from thalweg.streams import BenchmarkSet, Split, load_benchmark

#: Splits on which the paper chooses its parameters.
TUNING_SPLITS = 5


class Parameters(NamedTuple):
    """Of one machine, eq. (5)."""

    sigma: float
    rho: float
    bias: float

    def machine(self) -> KernelMeanClassifier:
        return KernelMeanClassifier(sigma=self.sigma, rho=self.rho, bias=self.bias)


class Densities(NamedTuple):
    """Estimated log densities of both classes, at labelled rows, for every width."""

    #: Of shape (sigmas, rows, 2): of class -1 and of class 1.
    log_p: NDArray[np.float64]
    #: Whether each row is of class 1.
    positive: NDArray[np.bool_]

    @classmethod
    def at_test_rows(cls, split: Split) -> Densities:
        """At the test rows, estimated from the training rows."""
        distances = squared_distances(split.X_test, split.X_train)
        log_p = log_class_means(distances, (split.y_train > 0).astype(np.int64), 2, SIGMAS)
        return cls(log_p, split.y_test > 0)

    @classmethod
    def at_left_out_rows(cls, split: Split) -> Densities:
        """At each training row, estimated from all the others."""
        positive = split.y_train > 0
        return cls(leave_one_out_log_means(split.X_train, positive.astype(np.int64), 2, SIGMAS), positive)

    @classmethod
    def of_all(cls, parts: Sequence[Densities]) -> Densities:
        """Those of several splits together: one bias is then shared by all."""
        log_p = np.concatenate([part.log_p for part in parts], axis=1)
        return cls(log_p, np.concatenate([part.positive for part in parts]))


def of_tuning_splits(data: BenchmarkSet, kind: Callable[[Split], Densities]) -> Densities:
    """The densities of one kind, of the first five splits together."""
    return Densities.of_all([kind(split) for split in data.splits(TUNING_SPLITS)])


def tune(
    densities: Densities, rhos: NDArray[np.float64] = RHOS, bias: float | None = None, workers: int = 1
) -> Parameters:
    """The parameters with the fewest errors: over all widths, the given rhos and, unless one is given, every bias.

    Of equally good ones, the middle one in the order of the grid.
    """

    def errors(log_p: NDArray[np.float64]) -> NDArray[np.int64]:
        if bias is None:
            return fewest_errors(log_p, densities.positive, rhos)
        return errors_at(log_p, densities.positive, rhos, bias)

    table = np.stack(run_all([partial(errors, log_p) for log_p in densities.log_p], workers, lambda share: None))
    width, weight = divmod(middle_of_minima(table), len(rhos))
    rho = float(rhos[weight])
    chosen = best_bias(densities.log_p[width], densities.positive, rho).bias if bias is None else bias
    return Parameters(float(SIGMAS[width]), rho, chosen)


def error_on(machine: Any, split: Split) -> float:
    return float(np.mean(machine.fit(split.X_train, split.y_train).predict(split.X_test) != split.y_test))


class Timing(NamedTuple):
    """Processor seconds to fit the training rows and to predict the test rows."""

    fit: float
    predict: float


def timed(machine: Any, split: Split) -> Timing:
    fit = processor_seconds(partial(machine.fit, split.X_train, split.y_train))
    return Timing(fit, processor_seconds(partial(machine.predict, split.X_test)))


#: A grid that is finer changes errors by tenths and takes hours.
COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
GAMMAS = tuple(2.0**power for power in (-8, -6, -4, -2, 0, 2, 4))


class SupportVectors(NamedTuple):
    """Parameters of a support vector machine with the radial kernel exp(-gamma |x - y|²)."""

    cost: float
    gamma: float

    def machine(self) -> SVC:
        return SVC(C=self.cost, gamma=self.gamma)


GRID = tuple(SupportVectors(cost, gamma) for cost in COSTS for gamma in GAMMAS)


def tuned_support_vectors(data: BenchmarkSet, workers: int, finished: Finished) -> SupportVectors:
    """Those of the grid with the least mean error on the first five test halves, the first of equally good ones."""
    splits = list(data.splits(TUNING_SPLITS))
    tasks = [
        lambda chosen=chosen: float(np.mean([error_on(chosen.machine(), split) for split in splits])) for chosen in GRID
    ]
    return GRID[int(np.argmin(run_all(tasks, workers, finished)))]


#: The models of the table, by the names they are printed under.
PAPER_PROTOCOL, HALF, UNBIASED = "paper's protocol", "ρ = 1/2", "b = 0"
LEFT_OUT, LEFT_OUT_ALONE, SUPPORT_VECTORS = "leave-one-out", "leave-one-out, each split alone", "SVC"

#: splice holds category codes, between which distances mean nothing.
ONE_HOT = "splice, one-hot"
SETS = (*TABLE_1, ONE_HOT)


class Measured(NamedTuple):
    data: BenchmarkSet
    #: By model, the error of each split.
    errors: Mapping[str, NDArray[np.float64]]
    #: By model, where all splits share them.
    chosen: Mapping[str, Parameters | SupportVectors]
    #: By model, on the first split.
    timings: Mapping[str, Timing]


#: The stages of the work on a set, and their shares of it.
_STAGES = {"tuning": 0.3, "tuning SVC": 0.4, "testing": 0.25, "timing": 0.05}


class Table1Study(Study):
    def __init__(self, names: Sequence[str], request: Request) -> None:
        self.sets, notes = at_hand({name: partial(_load, name) for name in names})
        work = {
            f"{name}: {stage}": share * _work(data, request.runs)
            for name, data in self.sets.items()
            for stage, share in _STAGES.items()
        }
        super().__init__(work, request)
        self.notes += notes

    def measured(self, name: str) -> Measured:
        return self.once(name, lambda: self._measure(name, self.sets[name]))

    def _measure(self, name: str, data: BenchmarkSet) -> Measured:
        tuning, peer, testing, timing = (self.stage(f"{name}: {stage}") for stage in _STAGES)
        chosen: dict[str, Parameters | SupportVectors] = {**tuned_machines(data, self.workers, tuning)}
        chosen[SUPPORT_VECTORS] = tuned_support_vectors(data, self.workers, peer)
        numbers = range(min(self.runs, data.n_splits))
        by_split = run_all([partial(_errors, data, number, chosen) for number in numbers], self.workers, testing)
        errors = {model: np.array([split[model] for split in by_split]) for model in by_split[0]}
        timings = {}
        for place, model in enumerate((PAPER_PROTOCOL, LEFT_OUT_ALONE, SUPPORT_VECTORS), start=1):
            timings[model] = timed(_machine(model, chosen), data.split(0))
            timing(place / 3)
        return Measured(data, errors, chosen, timings)


def tuned_machines(data: BenchmarkSet, workers: int, finished: Finished) -> dict[str, Parameters]:
    """The machines whose parameters all splits share, by model."""
    at_test, left_out = (of_tuning_splits(data, kind) for kind in (Densities.at_test_rows, Densities.at_left_out_rows))
    recipes: tuple[tuple[str, Densities, dict[str, Any], float], ...] = (
        (PAPER_PROTOCOL, at_test, {}, 0.3),
        (UNBIASED, at_test, {"bias": 0.0}, 0.6),
        (HALF, at_test, {"rhos": np.array([0.5])}, 0.7),
        (LEFT_OUT, left_out, {}, 1.0),
    )
    machines = {}
    for name, densities, fixed, share in recipes:
        machines[name] = tune(densities, workers=workers, **fixed)
        finished(share)
    return machines


def _machine(model: str, chosen: Mapping[str, Parameters | SupportVectors]) -> Any:
    return chosen[model].machine() if model in chosen else KernelMeanClassifier(progress=False)


def _errors(data: BenchmarkSet, number: int, chosen: Mapping[str, Parameters | SupportVectors]) -> dict[str, float]:
    split = data.split(number)
    return {model: error_on(_machine(model, chosen), split) for model in (*chosen, LEFT_OUT_ALONE)}


def _load(name: str) -> BenchmarkSet:
    if name == ONE_HOT:
        return replace(load_benchmark("splice").one_hot(), name=ONE_HOT)
    return load_benchmark(name)


def _work(data: BenchmarkSet, splits: int) -> float:
    training = data.train.shape[1]
    return float((20 + min(splits, data.n_splits)) * training * (len(data.y) + training))
