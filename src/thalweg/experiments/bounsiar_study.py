"""The measurements behind Table 1: each data set tuned, tested on its splits and timed once, when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import DataUnavailable
from thalweg.experiments.bounsiar_printed import TABLE_1
from thalweg.experiments.bounsiar_protocol import Densities, Parameters, of_tuning_splits, tune
from thalweg.experiments.bounsiar_support_vectors import SupportVectors, tuned_support_vectors
from thalweg.experiments.processor_time import processor_seconds
from thalweg.experiments.progress import Meter, Progress
from thalweg.experiments.workers import run_all
from thalweg.learners.kernel_mean import KernelMeanClassifier
from thalweg.streams import BenchmarkSet, Split, load_benchmark

#: The models of the table, by the names they are printed under.
PAPER_PROTOCOL, HALF, UNBIASED = "paper's protocol", "ρ = 1/2", "b = 0"
LEFT_OUT, LEFT_OUT_ALONE, SUPPORT_VECTORS = "leave-one-out", "leave-one-out, each split alone", "SVC"

#: splice holds category codes, between which distances mean nothing.
ONE_HOT = "splice, one-hot"
SETS = (*TABLE_1, ONE_HOT)

Tell: TypeAlias = Callable[[float], None]


@dataclass(frozen=True)
class Timing:
    """Processor seconds on the first split: fitting the training rows, answering the test rows."""

    fit: float
    predict: float


@dataclass(frozen=True)
class Measured:
    """What was found on one data set."""

    data: BenchmarkSet
    #: By model, the error of each split.
    errors: Mapping[str, NDArray[np.float64]]
    #: By model, where all splits share them.
    machines: Mapping[str, Parameters]
    support_vectors: SupportVectors
    #: By model.
    timings: Mapping[str, Timing]


class Study:
    """The sets of the table that are at hand.

    Attributes
    ----------
    notes : list of str
        What had to be left out, and why.
    """

    def __init__(self, sets: Sequence[str], *, splits: int, workers: int, progress: Progress) -> None:
        self.notes: list[str] = []
        self.sets: dict[str, BenchmarkSet] = {}
        self._splits, self._workers = splits, workers
        for name in sets:
            try:
                self.sets[name] = _load(name)
            except DataUnavailable as error:
                self.notes.append(f"Left out: {error}")
        self._meter = Meter(
            {
                stage: share * _work(data, splits)
                for name, data in self.sets.items()
                for stage, share in zip(_stages(name), _SHARES, strict=True)
            },
            progress,
        )
        self._measured: dict[str, Measured] = {}

    def measured(self, name: str) -> Measured:
        """What is found on a set, measured now or before."""
        if name not in self._measured:
            self._measured[name] = self._measure(name, self.sets[name])
        return self._measured[name]

    def _measure(self, name: str, data: BenchmarkSet) -> Measured:
        tuning, peer, testing, timing = map(self._meter.stage, _stages(name))
        machines = tuned_machines(data, self._workers, tuning)
        support_vectors = tuned_support_vectors(data, self._workers, peer)
        numbers = range(min(self._splits, data.n_splits))
        tasks = [partial(_errors, data, number, machines, support_vectors) for number in numbers]
        by_split = run_all(tasks, self._workers, testing)
        errors = {model: np.array([each[model] for each in by_split]) for model in by_split[0]}
        timings = _timings(data.split(0), machines[PAPER_PROTOCOL], support_vectors, timing)
        return Measured(data, errors, machines, support_vectors, timings)


def tuned_machines(data: BenchmarkSet, workers: int, finished: Tell) -> dict[str, Parameters]:
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
    """On the test rows, after learning the training rows."""
    return float(np.mean(machine.fit(split.X_train, split.y_train).predict(split.X_test) != split.y_test))


def _errors(
    data: BenchmarkSet, number: int, machines: Mapping[str, Parameters], support_vectors: SupportVectors
) -> dict[str, float]:
    split = data.split(number)
    errors = {model: error_on(parameters.machine(), split) for model, parameters in machines.items()}
    errors[LEFT_OUT_ALONE] = error_on(KernelMeanClassifier(progress=False), split)
    errors[SUPPORT_VECTORS] = support_vectors.error(split)
    return errors


def _timings(split: Split, chosen: Parameters, support_vectors: SupportVectors, finished: Tell) -> dict[str, Timing]:
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
    """Roughly, for the progress bar."""
    training = data.train.shape[1]
    return float((20 + min(splits, data.n_splits)) * training * (len(data.y) + training))
