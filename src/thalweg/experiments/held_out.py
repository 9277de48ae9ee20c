"""The papers' protocol on generated streams: after each learned row, a fresh test set of the current concept.

Everything random about a run (its start rows, its stream, its test sets) comes from the seed and the run's
number and is shared by all candidates, so that differences between candidates are paired.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import draw_start
from thalweg.experiments.candidates import Candidate
from thalweg.experiments.trial import OverRuns, Trial
from thalweg.experiments.workers import run_all, seeds_of_run
from thalweg.streams import ConceptStream

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
        """Rows answered per candidate."""
        return float(self.runs * self.stream().length * TEST_ROWS)

    def measure(self, candidates: Sequence[Candidate], workers: int, finished: Callable[[float], None]) -> HeldOut:
        """Errors of all candidates, run by run."""
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
        """Mean over steps and runs."""
        return float(self.errors[:, place].mean())

    def times(self) -> NDArray[np.int64]:
        """Steps, from one."""
        return np.arange(1, self.errors.shape[2] + 1)

    def curve(self, place: int) -> NDArray[np.float64]:
        """Mean over runs, step by step."""
        return np.asarray(self.errors[:, place].mean(axis=0))

    def run_means(self, place: int) -> NDArray[np.float64]:
        """Mean over steps, run by run."""
        return np.asarray(self.errors[:, place].mean(axis=1))
