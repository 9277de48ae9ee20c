"""Wide rows: the discriminant beside the fastest arithmetic the processor has, and beside a plain NumPy loop.

The ceiling is a matrix product (dgemm, one thread) of as many multiply-adds as the discriminant's update needs,
1.5 p^2 a row.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy.linalg import blas

from benchmarks.contest import Contestant, Effort, Run
from benchmarks.operations import ANSWER_THEN_LEARN, answer_then_learn
from benchmarks.ours import Started, from_there, online_ldc
from benchmarks.peers import plain_numpy
from benchmarks.plots.lines import Axis, lines
from benchmarks.records import Finding, Record
from benchmarks.rows import Rows
from benchmarks.suite import Bench, Suite

WIDTHS = (256, 500, 1000, 2000)
ROWS = 512
CHUNKS, CEILING = "OnlineLDC, in chunks", "dgemm"
#: Our share of the ceiling, by width.
SHARES = {500: 0.5, 1000: 0.6, 2000: 0.6}
TIMES_NUMPY = 50.0


def measure(bench: Bench) -> Iterator[list[Record]]:
    """In chunks, row by row, by NumPy, and the ceiling."""
    for features in WIDTHS:
        bench.progress(f"{features:,} features: the start")
        start = wide_start(features)
        contestants = [
            from_there(start, CHUNKS),
            _row_by_row(start),
            plain_numpy.from_there(start),
            _product(start),
        ]
        yield list(bench.measure(contestants, {"features": features}))


def wide_start(features: int) -> Started:
    """Fitted to half as many rows again as there are features."""
    first = features + features // 2
    rows = Rows(features, numbers=(first + ROWS) * features)
    return Started(online_ldc().fit(rows.X[:first], rows.y[:first]), rows.X[first:], rows.y[first:])


def _row_by_row(start: Started) -> Contestant:
    def prepare(count: int) -> Run:
        model, labels = copy.deepcopy(start.model), start.y[:count].tolist()
        return lambda: answer_then_learn(model, start.X[:count], labels)

    return Contestant(ANSWER_THEN_LEARN, "OnlineLDC, row by row", prepare, len(start.y), "ours")


def _product(start: Started) -> Contestant:
    square = np.asfortranarray(start.model.precision_)

    def prepare(count: int) -> Run:
        right = np.ones((len(square), math.ceil(1.5 * count)), order="F")
        out = np.zeros_like(right)
        return lambda: blas.dgemm(1.0, square, right, c=out, overwrite_c=1)

    return Contestant(ANSWER_THEN_LEARN, CEILING, prepare, len(start.y), "limit")


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """The share of the ceiling, and how far ahead of NumPy."""
    for record in records:
        width = record.setting["features"]
        if record.model == CHUNKS:
            yield Finding(f"share of dgemm, {width:,} features", record.ratios["of dgemm"], at_least=SHARES.get(width))
            least = TIMES_NUMPY if width in SHARES else None
            yield Finding(f"times a plain NumPy loop, {width:,} features", record.ratios["× NumPy"], at_least=least)


SUITE = Suite(
    name="wide_rows",
    asks="How near is the discriminant on wide rows to the fastest arithmetic, and how far ahead of NumPy?",
    measure=measure,
    plot=lines("wide_rows", "Wide rows", {ANSWER_THEN_LEARN: Axis("features")}),
    full=Effort(rounds=5, seconds=0.5),
    quick=Effort(rounds=2, seconds=0.2),
    ratios={"of dgemm": CEILING, "× row by row": "OnlineLDC, row by row", "× NumPy": "NumPy"},
    findings=findings,
)
