"""The measurements behind Table 1: each data set tuned, tested on its splits and timed.

The parameters are tuned on the first five splits of a set, one choice for all splits; scikit-learn's SVC is tuned the
same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from thalweg.errors import DataUnavailable
from thalweg.learners.kernel_mean.classifier import KernelMeanClassifier
from thalweg.learners.kernel_mean.densities import (
    leave_one_out_log_means,
    log_class_means,
    squared_distances,
)
from thalweg.learners.kernel_mean.tuning import (
    RHOS,
    SIGMAS,
    best_bias,
    errors_at,
    fewest_errors,
    middle_of_minima,
)
from thalweg.papers.bounsiar.printed import TABLE_1
from thalweg.papers.study import Finished, Request, Study, processor_seconds, run_all
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
    densities: Densities,
    rhos: NDArray[np.float64] = RHOS,
    bias: float | None = None,
    workers: int = 1,
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
    found = best_bias(densities.log_p[width], densities.positive, rho).bias if bias is None else bias
    return Parameters(float(SIGMAS[width]), rho, found)


#: A grid that is finer changes errors by tenths and takes hours.
COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
GAMMAS = tuple(2.0**power for power in (-8, -6, -4, -2, 0, 2, 4))


class SupportVectors(NamedTuple):
    """Parameters of a support vector machine with the radial kernel exp(-gamma |x - y|²)."""

    cost: float
    gamma: float

    def machine(self) -> SVC:
        return SVC(C=self.cost, gamma=self.gamma)

    def error(self, split: Split) -> float:
        predicted = self.machine().fit(split.X_train, split.y_train).predict(split.X_test)
        return float(np.mean(predicted != split.y_test))


GRID = tuple(SupportVectors(cost, gamma) for cost in COSTS for gamma in GAMMAS)


def tuned_support_vectors(data: BenchmarkSet, workers: int, finished: Finished) -> SupportVectors:
    """Those of the grid with the least mean error on the first five test halves, the first of equally good ones."""
    splits = list(data.splits(TUNING_SPLITS))
    tasks = [lambda chosen=chosen: float(np.mean([chosen.error(split) for split in splits])) for chosen in GRID]
    return GRID[int(np.argmin(run_all(tasks, workers, finished)))]


#: The models of the table, by the names they are printed under.
PAPER_PROTOCOL, HALF, UNBIASED = "paper's protocol", "ρ = 1/2", "b = 0"
LEFT_OUT, LEFT_OUT_ALONE, SUPPORT_VECTORS = "leave-one-out", "leave-one-out, each split alone", "SVC"

#: splice holds category codes, between which distances mean nothing.
ONE_HOT = "splice, one-hot"
SETS = (*TABLE_1, ONE_HOT)


@dataclass(frozen=True)
class Timing:
    """Processor seconds on the first split: to fit the training rows and to predict the test rows."""

    fit: float
    predict: float


@dataclass(frozen=True)
class Measured:
    data: BenchmarkSet
    #: By model, the error of each split.
    errors: Mapping[str, NDArray[np.float64]]
    #: By model, where all splits share them.
    machines: Mapping[str, Parameters]
    support_vectors: SupportVectors
    #: By model.
    timings: Mapping[str, Timing]


class Table1Study(Study):
    def __init__(self, names: Sequence[str], request: Request) -> None:
        self.sets: dict[str, BenchmarkSet] = {}
        notes = []
        for name in names:
            try:
                self.sets[name] = _load(name)
            except DataUnavailable as error:
                notes.append(f"Left out: {error}")
        work = {
            stage: share * _work(data, request.runs)
            for name, data in self.sets.items()
            for stage, share in zip(_stages(name), _SHARES, strict=True)
        }
        super().__init__(work, request)
        self.notes += notes

    def measured(self, name: str) -> Measured:
        return self.once(name, lambda: self._measure(name, self.sets[name]))

    def _measure(self, name: str, data: BenchmarkSet) -> Measured:
        tuning, peer, testing, timing = map(self.stage, _stages(name))
        machines = tuned_machines(data, self.workers, tuning)
        support_vectors = tuned_support_vectors(data, self.workers, peer)
        numbers = range(min(self.runs, data.n_splits))
        tasks = [partial(_errors, data, number, machines, support_vectors) for number in numbers]
        by_split = run_all(tasks, self.workers, testing)
        errors = {model: np.array([each[model] for each in by_split]) for model in by_split[0]}
        timings = _timings(data.split(0), machines[PAPER_PROTOCOL], support_vectors, timing)
        return Measured(data, errors, machines, support_vectors, timings)


def tuned_machines(data: BenchmarkSet, workers: int, finished: Finished) -> dict[str, Parameters]:
    """The machines whose parameters all splits share, by model."""
    shares = iter((0.3, 0.6, 0.7, 1.0))

    def found(parameters: Parameters) -> Parameters:
        finished(next(shares))
        return parameters

    at_test = of_tuning_splits(data, Densities.at_test_rows)
    return {
        PAPER_PROTOCOL: found(tune(at_test, workers=workers)),
        UNBIASED: found(tune(at_test, bias=0.0, workers=workers)),
        HALF: found(tune(at_test, rhos=np.array([0.5]), workers=workers)),
        LEFT_OUT: found(tune(of_tuning_splits(data, Densities.at_left_out_rows), workers=workers)),
    }


def error_on(machine: KernelMeanClassifier, split: Split) -> float:
    return float(np.mean(machine.fit(split.X_train, split.y_train).predict(split.X_test) != split.y_test))


def _errors(
    data: BenchmarkSet, number: int, machines: Mapping[str, Parameters], support_vectors: SupportVectors
) -> dict[str, float]:
    split = data.split(number)
    errors = {model: error_on(parameters.machine(), split) for model, parameters in machines.items()}
    errors[LEFT_OUT_ALONE] = error_on(KernelMeanClassifier(progress=False), split)
    errors[SUPPORT_VECTORS] = support_vectors.error(split)
    return errors


def _timings(
    split: Split, chosen: Parameters, support_vectors: SupportVectors, finished: Finished
) -> dict[str, Timing]:
    models = {
        PAPER_PROTOCOL: chosen.machine(),
        LEFT_OUT_ALONE: KernelMeanClassifier(progress=False),
        SUPPORT_VECTORS: support_vectors.machine(),
    }
    timings = {}
    for place, (name, model) in enumerate(models.items(), start=1):
        fit = processor_seconds(partial(model.fit, split.X_train, split.y_train))
        timings[name] = Timing(fit, processor_seconds(partial(model.predict, split.X_test)))
        finished(place / len(models))
    return timings


def _load(name: str) -> BenchmarkSet:
    if name == ONE_HOT:
        return replace(load_benchmark("splice").one_hot(), name=ONE_HOT)
    return load_benchmark(name)


#: Of the work on a set: tuning, tuning the support vectors, testing all splits, timing.
_SHARES = (0.3, 0.4, 0.25, 0.05)


def _stages(name: str) -> tuple[str, str, str, str]:
    return f"{name}: tuning", f"{name}: tuning SVC", f"{name}: testing", f"{name}: timing"


def _work(data: BenchmarkSet, splits: int) -> float:
    training = data.train.shape[1]
    return float((20 + min(splits, data.n_splits)) * training * (len(data.y) + training))
