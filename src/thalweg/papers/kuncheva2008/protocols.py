"""The two protocols of the paper: a fresh test set after each row of a generated stream, and one pass over a data
set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import draw_start, mcnemar, mean_interval
from thalweg.evaluate.metrics import gain_over
from thalweg.papers.trials import SIGNIFICANT, Candidate, Measured, OverRuns, Trial
from thalweg.papers.workers import run_all, seeds_of_run
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
