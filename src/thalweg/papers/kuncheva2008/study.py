"""The measurements behind the tables and figures: errors on rows held out, in one pass, and the search of a rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import draw_start, mcnemar
from thalweg.evaluate.metrics import gain_over
from thalweg.papers.study import run_all, seeds_of_run
from thalweg.papers.trials import SIGNIFICANT, Candidate, Measured, mistakes_held_out
from thalweg.streams import ConceptStream, Table

START_ROWS = 10
TEST_ROWS = 100


@dataclass(frozen=True)
class HeldOutTrial:
    """A stream of the papers, run ``runs`` times from independent random numbers.

    Gives the errors of `thalweg.evaluate.holdout`, for many candidates on rows that are drawn once.
    """

    stream: type[ConceptStream]
    seed: int
    runs: int

    @property
    def work(self) -> float:
        """Rows predicted to measure one candidate, the unit of progress."""
        return float(self.runs * self.stream().length * TEST_ROWS)

    def measure(self, candidates: Sequence[Candidate], workers: int, finished: Callable[[float], None]) -> HeldOut:
        tasks = [partial(self._mistakes, candidates, run) for run in range(self.runs)]
        return HeldOut(np.stack(run_all(tasks, workers, finished)) / TEST_ROWS)

    def _mistakes(self, candidates: Sequence[Candidate], run: int) -> NDArray[np.int64]:
        stream_seed, learner_seed = seeds_of_run(self.seed, run)
        stream = self.stream(seed=stream_seed)
        tests = stream.sampler("test").sets_at(np.arange(stream.length), TEST_ROWS)
        return mistakes_held_out(candidates, learner_seed, draw_start(stream, START_ROWS), stream.take(), tests)


@dataclass(frozen=True)
class HeldOut(Measured):
    """Errors by run, candidate and step."""

    errors: NDArray[np.float64]

    def means(self, place: int) -> NDArray[np.float64]:
        return np.asarray(self.errors[:, place].mean(axis=1))

    def error(self, place: int) -> float:
        return float(self.errors[:, place].mean())

    def times(self) -> NDArray[np.int64]:
        return np.arange(1, self.errors.shape[2] + 1)

    def curve(self, place: int) -> NDArray[np.float64]:
        return np.asarray(self.errors[:, place].mean(axis=0))


@dataclass(frozen=True)
class OnePassTrial:
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
        """Rows predicted to measure one candidate, the unit of progress."""
        return float(self.table.length)

    def measure(self, candidates: Sequence[Candidate], workers: int, finished: Callable[[float], None]) -> OnePass:
        tasks = [partial(self._mistakes, candidate) for candidate in candidates]
        return OnePass(np.stack(run_all(tasks, workers, finished)), self.block, self.window)

    def _mistakes(self, candidate: Candidate) -> NDArray[np.bool_]:
        X, y = self.table.take()
        return np.asarray(candidate.learner(self.seed).predict_then_learn(X, y) != y)


@dataclass(frozen=True)
class OnePass(Measured):
    """Mistakes by candidate and row. A data set can be passed once."""

    mistakes: NDArray[np.bool_]
    block: int
    window: int
    runs = 1

    def means(self, place: int) -> NDArray[np.float64]:
        blocks = np.array_split(self.mistakes[place], max(2, self.mistakes.shape[1] // self.block))
        return np.array([block.mean() for block in blocks])

    def error(self, place: int) -> float:
        return float(self.mistakes[place].mean())

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
    return [rate for rate in hundredths if all(abs(rate - other) >= 1e-9 for other in tried)]


def best(errors: Mapping[float, float]) -> float:
    """The rate of least error; of equals the smallest.

    Examples
    --------
    >>> best({0.5: 0.2, 0.4: 0.2, 0.3: 0.25})
    0.4
    """
    return min(errors, key=lambda rate: (errors[rate], rate))
