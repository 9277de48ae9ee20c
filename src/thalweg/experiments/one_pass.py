"""A data set in time order, passed once: each row is answered, then learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import mcnemar, mean_interval
from thalweg.experiments.candidates import Candidate
from thalweg.experiments.trial import SIGNIFICANT, Measured, Trial
from thalweg.experiments.workers import run_all
from thalweg.streams import Table


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
        """Rows answered per candidate."""
        return float(self.table.length)

    def measure(self, candidates: Sequence[Candidate], workers: int, finished: Callable[[float], None]) -> OnePass:
        """Answers of all candidates on the whole table."""
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
        """Share of mistakes."""
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
        return 1.0 - self.error(place) / self.error(no_change)

    def times(self) -> NDArray[np.int64]:
        """Rows learned at each point of the curves."""
        return np.arange(self.window, self.mistakes.shape[1] + 1, max(1, self.window // 4))

    def curve(self, place: int) -> NDArray[np.float64]:
        """Mean of the last ``window`` rows."""
        total = np.concatenate([[0], np.cumsum(self.mistakes[place])])
        ends = self.times()
        return np.asarray((total[ends] - total[ends - self.window]) / self.window)
