"""The protocol for continuous drift: a row is learned, then rows of the *next* time are predicted.

The first rows of the stream start the learners. The random numbers of a run depend on the seed and the run's number
only and are the same for all candidates. Whole test sets are large, so only sums over runs are kept, as integers: they
do not depend on the order in which runs end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.papers.schnackenberg2018.printed import CurveSummary
from thalweg.papers.trials import Candidate, OverRuns, Trial
from thalweg.papers.workers import run_each, seeds_of_run
from thalweg.streams import ConceptStream
from thalweg.streams.stream import Rows

START_ROWS = 10
START_ROWS_PER_CLASS = 2
TEST_ROWS = 100


class Effort(NamedTuple):
    """Seconds of processor time: in all, and for random numbers."""

    whole: float
    drawing: float


@dataclass(frozen=True)
class NextStepTrial(Trial):
    """A stream, run ``runs`` times from independent random numbers; its own seed is not used."""

    stream: ConceptStream
    seed: int
    runs: int

    @property
    def steps(self) -> int:
        """Rows learned after the start, each followed by a test; the last row has no next one."""
        return self.stream.length - START_ROWS - 1

    @property
    def work(self) -> float:
        return float(self.runs * self.steps * TEST_ROWS)

    def measure(self, candidates: Sequence[Candidate], workers: int, finished: Callable[[float], None]) -> NextStep:
        sums = np.zeros((len(candidates), self.steps), dtype=np.int64)
        squares = np.zeros_like(sums)
        means = np.empty((len(candidates), self.runs))
        efforts = []
        tasks = [partial(self._run, candidates, run) for run in range(self.runs)]
        for run, (mistakes, effort) in run_each(tasks, workers, finished):
            sums += mistakes
            squares += mistakes**2
            means[:, run] = mistakes.mean(axis=1) / TEST_ROWS
            efforts.append(effort)
        return NextStep(sums, squares, means, Effort(*np.sum(efforts, axis=0).tolist()))

    def _run(self, candidates: Sequence[Candidate], run: int) -> tuple[NDArray[np.int64], Effort]:
        began = time.thread_time()
        stream_seed, learner_seed = seeds_of_run(self.seed, run)
        stream = replace(self.stream, seed=stream_seed)
        start_X, start_y = _start(stream)
        X, y = stream.take(self.steps, START_ROWS)
        next_times = np.arange(START_ROWS + 1, stream.length)
        X_test, y_test = stream.sampler("test").sets_at(next_times, TEST_ROWS)
        drawn = time.thread_time()
        mistakes = np.stack(
            [
                candidate.learner(learner_seed).fit(start_X, start_y).learn_then_test(X, y, X_test, y_test)
                for candidate in candidates
            ]
        )
        return mistakes, Effort(time.thread_time() - began, drawn - began)


def _start(stream: ConceptStream) -> Rows:
    """The start rows, drawn until every class has enough of them to have a mean and a spread."""
    source = stream.sampler("start")
    while True:
        X, y = source.rows_at(np.arange(START_ROWS))
        if all(np.count_nonzero(y == label) >= START_ROWS_PER_CLASS for label in stream.classes):
            return X, y


@dataclass(frozen=True)
class NextStep(OverRuns):
    """Mistakes by candidate and step, and their squares, summed over runs; mean errors by candidate and run."""

    sums: NDArray[np.int64]
    squares: NDArray[np.int64]
    means: NDArray[np.float64]
    effort: Effort

    def run_means(self, place: int) -> NDArray[np.float64]:
        return np.asarray(self.means[place])

    def error(self, place: int) -> float:
        return float(self.curve(place).mean())

    def times(self) -> NDArray[np.int64]:
        """Rows learned, the start among them."""
        return np.arange(START_ROWS + 1, START_ROWS + 1 + self.sums.shape[1])

    def curve(self, place: int) -> NDArray[np.float64]:
        return np.asarray(self.sums[place] / (self.runs * TEST_ROWS))

    def summary(self, place: int) -> CurveSummary:
        curve, runs = self.curve(place), self.runs
        mean_sd = None
        if runs > 1:
            # n Σx² - (Σx)² in integers, so nothing cancels.
            spread = runs * self.squares[place] - self.sums[place] ** 2
            mean_sd = float(np.sqrt(spread / (runs * (runs - 1))).mean() / TEST_ROWS)
        return CurveSummary(float(curve.mean()), float(curve.std(ddof=1)), mean_sd)
