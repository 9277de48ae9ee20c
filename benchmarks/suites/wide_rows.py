"""Wide rows: the discriminant beside the fastest arithmetic the processor has, and beside NumPy.

The ceiling is a matrix product (dgemm, one thread) of as many multiply-adds as the discriminant's update needs,
1.5 p^2 a row. NumPy computes the equations as they are printed, and in place. Other settings, and least squares, are
set beside their own single rows; single precision beside double, in time and in the memory that a model takes.
"""

from __future__ import annotations

import copy
import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from scipy.linalg import blas

from benchmarks.contest import Contestant, Effort, Run
from benchmarks.operations import PREDICT_THEN_LEARN, predict_then_learn
from benchmarks.ours import RATE, Started, from_there, online_ldc
from benchmarks.peers import plain_numpy
from benchmarks.plots.lines import Axis, lines
from benchmarks.records import Finding, Record
from benchmarks.rows import Rows
from benchmarks.suite import Bench, Suite
from thalweg import OnlineLDC, OnlineLinearRegression
from thalweg.rates import ErrorDriven

WIDTHS = (256, 500, 1000, 2000)
ROWS, NUMBERS, WIDE = 512, 1 << 20, 1000
SINGLE = "row by row"
CHUNKS, CEILING = "OnlineLDC, in chunks", "dgemm"
NARROW = "OnlineLDC, float32, in chunks"
HELD, COPIES = "memory of a model", 8
#: Our share of the ceiling, by width; and how many times as fast as NumPy, where the ceiling itself is.
SHARES = {500: 0.5, 1000: 0.6, 2000: 0.6}
TIMES_NUMPY = 50.0


def measure(bench: Bench) -> Iterator[list[Record]]:
    """In chunks, row by row, by NumPy, and the ceiling."""
    for features in WIDTHS:
        bench.progress(f"{features:,} features: the start")
        # Each width by itself: behind the widest all rows of another would have left the caches.
        yield list(bench.measure(_contestants(features), {"features": features}))
        yield [
            Record(HELD, name, {"features": features}, "ours", (_held(features, dtype),), "bytes", "model")
            for name, dtype in ((CHUNKS, "float64"), (NARROW, "float32"))
        ]
    for name, model, weighted in settings():
        bench.progress(f"{name}: the start")
        yield list(bench.measure(_chunks_and_rows(name, model, weighted), {"features": WIDE}))


def _contestants(features: int) -> list[Contestant]:
    start = wide_start(features)
    return [
        from_there(start, CHUNKS),
        from_there(wide_start(features, dtype="float32"), NARROW),
        _row_by_row(start),
        plain_numpy.from_there(start, plain_numpy.AS_PRINTED),
        plain_numpy.from_there(start, plain_numpy.IN_PLACE),
        _product(start),
    ]


def settings() -> Iterator[tuple[str, Any, bool]]:
    """Other settings: their name, a model, and whether its rows have weights."""
    yield "an error-driven rate, window 50", OnlineLDC(ErrorDriven(0.5, window=50)), False
    yield "weights", OnlineLDC(RATE), True
    yield "a ridge", OnlineLDC(RATE, ridge=1e-3), False
    yield "a ridge, soft counts, rate 0.002", OnlineLDC(0.002, counts="soft", ridge=1e-3), False
    yield "least squares", OnlineLinearRegression(solver="rls"), False


def _chunks_and_rows(name: str, model: Any, weighted: bool) -> Iterator[Contestant]:
    """The same rows in chunks and one by one, behind a fit."""
    first = WIDE + WIDE // 2
    rows = Rows(WIDE, numbers=(first + ROWS) * WIDE)
    y = rows.y.astype(float) if isinstance(model, OnlineLinearRegression) else rows.y
    fitted = model.fit(rows.X[:first], y[:first])
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None

    def prepared(step: int) -> Callable[[int], Run]:
        def prepare(count: int) -> Run:
            learner = copy.deepcopy(fitted)
            parts = [slice(first + i, first + min(i + step, count)) for i in range(0, count, step)]

            def run() -> None:
                for part in parts:
                    learner.partial_fit(rows.X[part], y[part], sample_weight=None if weights is None else weights[part])

            return run

        return prepare

    for how, step in (("in chunks", ROWS), (SINGLE, 1)):
        yield Contestant(f"learn, {name}", how, prepared(step), ROWS, "ours")


def wide_start(features: int, dtype: Literal["float64", "float32"] = "float64") -> Started:
    """Fitted to half as many rows again as there are features; a million numbers and more are to come."""
    first = features + features // 2
    rows = Rows(features, numbers=first * features + max(ROWS * features, NUMBERS))
    model = online_ldc().set_params(dtype=dtype).fit(rows.X[:first], rows.y[:first])
    return Started(model, rows.X[first:], rows.y[first:])


def _held(features: int, dtype: str) -> float:
    """What copies of a model add to the memory of a process that holds little else."""
    found = subprocess.run(
        [sys.executable, "-c", _HOLD, str(features), dtype], check=True, capture_output=True, text=True
    )
    return float(found.stdout) / COPIES


_HOLD = f"""
import sys
from pathlib import Path
from resource import getpagesize
import numpy as np
from thalweg import OnlineLDC
from thalweg.kernels import compiled
features = int(sys.argv[1])
model = OnlineLDC(dtype=sys.argv[2]).partial_fit(np.random.default_rng(0).normal(size=(20, features)), [0, 1] * 10)
held = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * getpagesize()
first = compiled.SweepRunner([model._core] * {COPIES}, 1)  # copies, into what the start has left
before = held()
second = compiled.SweepRunner([model._core] * {COPIES}, 1)
print(held() - before)
"""


def _row_by_row(start: Started) -> Contestant:
    def prepare(count: int) -> Run:
        model, labels = copy.deepcopy(start.model), start.y[:count].tolist()
        return lambda: predict_then_learn(model, start.X[:count], labels)

    return Contestant(PREDICT_THEN_LEARN, "OnlineLDC, row by row", prepare, len(start.y), "ours")


def _product(start: Started) -> Contestant:
    square = np.asfortranarray(start.model.precision_)

    def prepare(count: int) -> Run:
        right = np.ones((len(square), math.ceil(1.5 * count)), order="F")
        out = np.zeros_like(right)
        return lambda: blas.dgemm(1.0, square, right, c=out, overwrite_c=1)

    return Contestant(PREDICT_THEN_LEARN, CEILING, prepare, len(start.y), "limit")


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """The share of the ceiling, and how far ahead of NumPy."""
    ceilings = {r.setting["features"]: r.ratios["× as printed"] for r in records if r.model == CEILING}
    for record in records:
        width = record.setting["features"]
        if record.work == HELD:
            if record.model == NARROW:
                yield Finding(f"float32: share of float64's memory, {width:,} features", 1 / record.ratios["× float64"])
        elif record.model == NARROW:
            yield Finding(f"float32: times float64, {width:,} features", record.ratios["× float64"])
        elif record.model == "in chunks":
            yield Finding(f"{record.work}: times single rows, {width:,} features", record.ratios["× single rows"])
        elif record.model == CHUNKS:
            yield Finding(f"share of dgemm, {width:,} features", record.ratios["of dgemm"], at_least=SHARES.get(width))
            least = TIMES_NUMPY if width in SHARES and ceilings[width] >= TIMES_NUMPY else None
            yield Finding(f"times NumPy as printed, {width:,} features", record.ratios["× as printed"], at_least=least)
            yield Finding(f"times NumPy in place, {width:,} features", record.ratios["× in place"])


SUITE = Suite(
    name="wide_rows",
    asks="How near is the discriminant on wide rows to the fastest arithmetic, and how far ahead of NumPy?",
    measure=measure,
    plot=lines("wide_rows", "Wide rows", {PREDICT_THEN_LEARN: Axis("features")}),
    full=Effort(rounds=9, seconds=0.5),
    quick=Effort(rounds=2, seconds=0.2),
    ratios={
        "of dgemm": CEILING,
        "× float64": CHUNKS,
        "× row by row": "OnlineLDC, row by row",
        "× as printed": plain_numpy.AS_PRINTED,
        "× in place": plain_numpy.IN_PLACE,
        "× single rows": SINGLE,
    },
    findings=findings,
)
