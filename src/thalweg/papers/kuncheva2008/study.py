"""The measurements behind the tables and figures: errors at fixed and at adaptive learning rates.

A stage is one batch of candidates on one data set:

==============  ==============================================================================
stage           candidates
==============  ==============================================================================
``coarse``      every model at every rate of the coarse grid
``fine``        every model at the hundredths around its best coarse rate
``final``       every model at its best rate and at the rate the paper prints, and the baselines
``adaptive``    every model at an adaptive rate, and the baselines
==============  ==============================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import draw_start, mcnemar, mean_interval
from thalweg.evaluate.metrics import gain_over
from thalweg.papers.study import Request, Study, run_all, seeds_of_run
from thalweg.papers.trials import SIGNIFICANT, Batch, Candidate, Measured, Model, OverRuns, Trial
from thalweg.rates import Rate
from thalweg.streams import ConceptStream, Table

START_ROWS = 10
TEST_ROWS = 100


@dataclass(frozen=True)
class HeldOutTrial(Trial):
    """A stream of the papers, run ``runs`` times from independent random numbers.

    Gives the errors of `thalweg.evaluate.holdout`, for many candidates on rows that are drawn once.
    """

    stream: type[ConceptStream]
    seed: int
    runs: int

    @property
    def work(self) -> float:
        return float(self.runs * self.stream().length * TEST_ROWS)

    def measure(self, candidates: Sequence[Candidate], workers: int, finished: Callable[[float], None]) -> HeldOut:
        tasks = [partial(self._mistakes, candidates, run) for run in range(self.runs)]
        return HeldOut(np.stack(run_all(tasks, workers, finished)) / TEST_ROWS)

    def _mistakes(self, candidates: Sequence[Candidate], run: int) -> NDArray[np.int64]:
        stream_seed, learner_seed = seeds_of_run(self.seed, run)
        stream = self.stream(seed=stream_seed)
        start_X, start_y = draw_start(stream, START_ROWS)
        X, y = stream.take()
        X_test, y_test = stream.sampler("test").sets_at(np.arange(stream.length), TEST_ROWS)
        return np.stack(
            [
                candidate.learner(learner_seed).fit(start_X, start_y).learn_then_test(X, y, X_test, y_test)
                for candidate in candidates
            ]
        )


@dataclass(frozen=True)
class HeldOut(OverRuns):
    """Errors by run, candidate and step."""

    errors: NDArray[np.float64]

    def error(self, place: int) -> float:
        return float(self.errors[:, place].mean())

    def times(self) -> NDArray[np.int64]:
        return np.arange(1, self.errors.shape[2] + 1)

    def curve(self, place: int) -> NDArray[np.float64]:
        return np.asarray(self.errors[:, place].mean(axis=0))

    def run_means(self, place: int) -> NDArray[np.float64]:
        return np.asarray(self.errors[:, place].mean(axis=1))


@dataclass(frozen=True)
class OnePassTrial(Trial):
    """A table and how its mistakes are summed up.

    Mistakes come in clusters, so intervals are taken from the means of blocks of ``block`` rows, long enough
    to be nearly independent; curves are means of the last ``window`` rows.
    """

    table: Table
    seed: int
    block: int
    window: int

    @property
    def work(self) -> float:
        return float(self.table.length)

    def measure(self, candidates: Sequence[Candidate], workers: int, finished: Callable[[float], None]) -> OnePass:
        tasks = [partial(self._mistakes, candidate) for candidate in candidates]
        return OnePass(np.stack(run_all(tasks, workers, finished)), self.block, self.window)

    def _mistakes(self, candidate: Candidate) -> NDArray[np.bool_]:
        X, y = self.table.take()
        return np.asarray(candidate.learner(self.seed).predict_then_learn(X, y) != y)


@dataclass(frozen=True)
class OnePass(Measured):
    """Mistakes by candidate and row."""

    mistakes: NDArray[np.bool_]
    block: int
    window: int

    @property
    def runs(self) -> int:
        """A data set can be passed once."""
        return 1

    def error(self, place: int) -> float:
        return float(self.mistakes[place].mean())

    def ci95(self, place: int) -> float | None:
        """From the spread of the blocks' means."""
        blocks = np.array_split(self.mistakes[place], max(2, self.mistakes.shape[1] // self.block))
        return mean_interval(np.array([block.mean() for block in blocks])).halfwidth

    def differs(self, place: int, reference: int) -> bool | None:
        """By McNemar's test on the rows where just one of the two errs."""
        if place == reference:
            return None
        return mcnemar(self.mistakes[place], self.mistakes[reference]).p_value < SIGNIFICANT

    def kappa_temporal(self, place: int, no_change: int) -> float:
        """One minus the error as a multiple of no-change's: positive means better than the last label."""
        return gain_over(self.error(place), self.error(no_change))

    def times(self) -> NDArray[np.int64]:
        return np.arange(self.window, self.mistakes.shape[1] + 1, max(1, self.window // 4))

    def curve(self, place: int) -> NDArray[np.float64]:
        """Mean of the last ``window`` rows."""
        total = np.concatenate([[0], np.cumsum(self.mistakes[place])])
        ends = self.times()
        return np.asarray((total[ends] - total[ends - self.window]) / self.window)


COARSE = (0.01, *(round(0.05 * step, 2) for step in range(1, 20)), 0.99)


def refined(errors: Mapping[float, float]) -> list[float]:
    """The hundredths between the neighbours of the best rate that have not been tried.

    Examples
    --------
    >>> refined({0.90: 0.20, 0.95: 0.10, 0.99: 0.30})
    [0.91, 0.92, 0.93, 0.94, 0.96, 0.97, 0.98]
    """
    tried = sorted(errors)
    place = tried.index(best(errors))
    low, high = tried[max(place - 1, 0)], tried[min(place + 1, len(tried) - 1)]
    hundredths = (step / 100 for step in range(round(low * 100), round(high * 100) + 1))
    return [rate for rate in hundredths if not _holds(tried, rate)]


def best(errors: Mapping[float, float]) -> float:
    """The rate of least error; of equals the smallest.

    Examples
    --------
    >>> best({0.5: 0.2, 0.4: 0.2, 0.3: 0.25})
    0.4
    """
    return min(errors, key=lambda rate: (errors[rate], rate))


def _holds(rates: Collection[float], rate: float) -> bool:
    return any(abs(rate - other) < 1e-9 for other in rates)


Stage: TypeAlias = Literal["coarse", "fine", "final", "adaptive"]

_DOING: Mapping[Stage, str] = {
    "coarse": "coarse search of the rate",
    "fine": "search around the best rate",
    "final": "comparison at the best rates",
    "adaptive": "adaptive rate",
}
# Roughly, for the progress bar: what a stage tries of each model.
_RATES_TRIED: Mapping[Stage, int] = {"coarse": len(COARSE), "fine": 8, "final": 2, "adaptive": 1}


@dataclass(frozen=True)
class Bench:
    """A data set with its protocol, and what is compared on it."""

    trial: Trial
    models: tuple[Model, ...]
    #: The models measured at the adaptive rate.
    adaptive_models: tuple[Model, ...]
    #: The rate the paper prints as best, by model name.
    printed_rates: Mapping[str, float]
    baselines: tuple[Model, ...] = ()


class RateStudy(Study):
    """What the stages measure on each data set."""

    def __init__(
        self,
        benches: Mapping[str, Bench],
        stages: Collection[tuple[str, Stage]],
        request: Request,
        *,
        adaptive: Rate,
    ) -> None:
        work = {
            _label(data, stage): _RATES_TRIED[stage] * len(benches[data].models) * benches[data].trial.work
            for data, stage in stages
        }
        super().__init__(work, request)
        self.benches = benches
        self._adaptive = adaptive

    def batch(self, data: str, stage: Stage) -> Batch[Measured]:
        """What the stage measures on the data."""
        return self.once((data, stage), lambda: self._measure(data, stage))

    def _measure(self, data: str, stage: Stage) -> Batch[Measured]:
        choose: Mapping[Stage, Callable[[str], list[Candidate]]] = {
            "coarse": self._coarse,
            "fine": self._fine,
            "final": self._final,
            "adaptive": self._adapting,
        }
        candidates = tuple(choose[stage](data))
        finished = self.stage(_label(data, stage))
        return Batch(candidates, self.benches[data].trial.measure(candidates, self.workers, finished))

    def best_rate(self, data: str, model: Model) -> float:
        """The rate of least error over the coarse and the fine search."""
        coarse, fine = self.batch(data, "coarse"), self.batch(data, "fine")
        return best(coarse.errors(model) | fine.errors(model))

    def _coarse(self, data: str) -> list[Candidate]:
        return [Candidate(model, rate) for model in self.benches[data].models for rate in COARSE]

    def _fine(self, data: str) -> list[Candidate]:
        coarse = self.batch(data, "coarse")
        return [Candidate(model, rate) for model in self.benches[data].models for rate in refined(coarse.errors(model))]

    def _final(self, data: str) -> list[Candidate]:
        bench = self.benches[data]
        best = [Candidate(model, self.best_rate(data, model)) for model in bench.models]
        printed = [
            Candidate(model, bench.printed_rates[model.name])
            for model in bench.models
            if model.name in bench.printed_rates
        ]
        return best + printed + self._baselines(data)

    def _adapting(self, data: str) -> list[Candidate]:
        models = self.benches[data].adaptive_models
        return [Candidate(model, self._adaptive) for model in models] + self._baselines(data)

    def _baselines(self, data: str) -> list[Candidate]:
        return [Candidate(model, None) for model in self.benches[data].baselines]


def _label(data: str, stage: Stage) -> str:
    return f"{data}: {_DOING[stage]}"
