"""The protocol for continuous drift: a row is learned, then rows of the *next* time are predicted.

The first rows of the stream start the learners. The random numbers of a run depend on the seed and the run's number
only and are the same for all candidates. Whole test sets are large, so only sums over runs are kept, as integers: they
do not depend on the order in which runs end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.papers.study import run_each, seeds_of_run
from thalweg.papers.trials import Candidate, Measured, mistakes_held_out
from thalweg.streams import ConceptStream
from thalweg.streams.stream import Rows

RATES = (0.1, 0.3, 0.5, 0.7, 0.9)
WINDOWS = (None, 10, 20, 50, 200)


class CurveSummary(NamedTuple):
    """An error curve in three numbers."""

    #: Mean over time of the mean over runs.
    mean: float
    #: Standard deviation over time of the mean over runs.
    sd_curve: float
    #: Mean over time of the standard deviation over runs; None for a single run.
    mean_sd: float | None


#: Cells by rate and window.
Printout: TypeAlias = Mapping[tuple[float, int | None], CurveSummary]


def _read(text: str) -> Printout:
    lines = [[float(number) for number in line.replace("|", "").split()] for line in text.strip().splitlines()]
    return {
        (rate, window): CurveSummary(*numbers[3 * place : 3 * place + 3])
        for rate, *numbers in lines
        for place, window in enumerate(WINDOWS)
    }


CIRCULAR = _read("""
0.1 | 0.4979 0.308 0.0737 | 0.1111 0.007 0.0506 | 0.0955 0.005 0.0338 | 0.1077 0.011 0.0368 | 0.5995 0.088 0.0866
0.3 | 0.4974 0.313 0.0584 | 0.1083 0.006 0.0468 | 0.0932 0.043 0.0324 | 0.1044 0.007 0.0335 | 0.5946 0.080 0.0641
0.5 | 0.4976 0.190 0.1483 | 0.1080 0.006 0.0464 | 0.0928 0.004 0.0322 | 0.1032 0.004 0.0331 | 0.5832 0.084 0.0611
0.7 | 0.4695 0.078 0.1338 | 0.1083 0.006 0.0468 | 0.0928 0.004 0.0323 | 0.1024 0.004 0.0330 | 0.5627 0.104 0.0599
0.9 | 0.3672 0.107 0.0817 | 0.1110 0.009 0.0492 | 0.0941 0.007 0.0335 | 0.1010 0.004 0.0331 | 0.4897 0.137 0.0584
""")

CROSSING = _read("""
0.1 | 0.5015 0.455 0.0136 | 0.0756 0.133 0.0506 | 0.0628 0.126 0.0144 | 0.0596 0.121 0.0123 | 0.0579 0.118 0.0116
0.3 | 0.5008 0.458 0.0117 | 0.0749 0.134 0.0467 | 0.0630 0.127 0.0143 | 0.0598 0.122 0.0123 | 0.0582 0.119 0.0117
0.5 | 0.4965 0.454 0.0160 | 0.0723 0.135 0.0318 | 0.0629 0.127 0.0142 | 0.0598 0.122 0.0123 | 0.0582 0.119 0.0117
0.7 | 0.2136 0.349 0.0182 | 0.0703 0.135 0.0222 | 0.0627 0.126 0.0142 | 0.0596 0.122 0.0123 | 0.0579 0.119 0.0117
0.9 | 0.0736 0.163 0.0133 | 0.0692 0.134 0.0199 | 0.0629 0.126 0.0144 | 0.0597 0.122 0.0124 | 0.0580 0.119 0.0117
""")

PASSING = _read("""
0.1 | 0.3467 0.361 0.0640 | 0.0202 0.028 0.0239 | 0.0147 0.023 0.0086 | 0.0137 0.022 0.0077 | 0.0133 0.021 0.0075
0.3 | 0.1206 0.118 0.0247 | 0.0229 0.028 0.0155 | 0.0192 0.025 0.0106 | 0.0179 0.023 0.0096 | 0.0173 0.023 0.0093
0.5 | 0.0640 0.060 0.0184 | 0.0222 0.028 0.0143 | 0.0189 0.025 0.0104 | 0.0176 0.023 0.0095 | 0.0170 0.023 0.0091
0.7 | 0.0316 0.039 0.0125 | 0.0174 0.026 0.0112 | 0.0149 0.023 0.0082 | 0.0139 0.022 0.0074 | 0.0134 0.022 0.0071
0.9 | 0.0114 0.024 0.0054 | 0.0115 0.023 0.0070 | 0.0097 0.020 0.0052 | 0.0089 0.019 0.0047 | 0.0085 0.018 0.0045
""")

SUDDEN = _read("""
0.1 | 0.5037 0.291 0.0808 | 0.1118 0.036 0.0533 | 0.0964 0.055 0.0332 | 0.0972 0.090 0.0308 | 0.1311 0.181 0.0327
0.3 | 0.5009 0.334 0.0445 | 0.1113 0.037 0.0504 | 0.0953 0.054 0.0329 | 0.0950 0.090 0.0297 | 0.1263 0.180 0.0302
0.5 | 0.4896 0.405 0.0417 | 0.1148 0.039 0.0516 | 0.0973 0.054 0.0343 | 0.0956 0.089 0.0301 | 0.1251 0.178 0.0301
0.7 | 0.3134 0.314 0.0385 | 0.1200 0.037 0.0549 | 0.1002 0.054 0.0356 | 0.0973 0.088 0.0304 | 0.1244 0.173 0.0301
0.9 | 0.1581 0.217 0.0326 | 0.1209 0.037 0.0556 | 0.1017 0.053 0.0362 | 0.0982 0.085 0.0308 | 0.1187 0.156 0.0303
""")


START_ROWS = 10
START_ROWS_PER_CLASS = 2
TEST_ROWS = 100


class Effort(NamedTuple):
    """Seconds of processor time: in all, and for random numbers."""

    whole: float
    drawing: float


@dataclass(frozen=True)
class NextStepTrial:
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
        start, rows = _start(stream), stream.take(self.steps, START_ROWS)
        tests = stream.sampler("test").sets_at(np.arange(START_ROWS + 1, stream.length), TEST_ROWS)
        drawn = time.thread_time()
        mistakes = mistakes_held_out(candidates, learner_seed, start, rows, tests)
        return mistakes, Effort(time.thread_time() - began, drawn - began)


def _start(stream: ConceptStream) -> Rows:
    """The start rows, drawn until every class has enough of them to have a mean and a spread."""
    source = stream.sampler("start")
    while True:
        X, y = source.rows_at(np.arange(START_ROWS))
        if all(np.count_nonzero(y == label) >= START_ROWS_PER_CLASS for label in stream.classes):
            return X, y


@dataclass(frozen=True)
class NextStep(Measured):
    """Mistakes by candidate and step, and their squares, summed over runs; mean errors by candidate and run."""

    sums: NDArray[np.int64]
    squares: NDArray[np.int64]
    run_means: NDArray[np.float64]
    effort: Effort

    def means(self, place: int) -> NDArray[np.float64]:
        return np.asarray(self.run_means[place])

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
