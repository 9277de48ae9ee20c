"""How long one call takes, by the median and high percentiles of many, and what single rows cost over the kernel."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

import numpy as np

from benchmarks.contest import Contestant, Effort, Run, Side, Unavailable
from benchmarks.operations import LEARN_ONE, PREDICT_ONE, learn_all
from benchmarks.ours import online_ldc
from benchmarks.peers.river_models import models
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record
from benchmarks.rows import Rows
from benchmarks.suite import Bench, Suite
from thalweg import AutoClassifier, WindowForest

WIDTH = 10
WARM = 1000
PERCENTILES = {"median": 50, "99th percentile": 99, "99.9th percentile": 99.9}
#: Most that the slowest row in a thousand may take, in medians: a forest grows its trees over many rows.
SLOWEST = 20
KERNEL, ARRAYS, DICTS = "partial_fit of all rows", "learn_one, array rows", "learn_one, dict rows"
OVER_KERNEL = "learn a row, on average"
#: Most that a row may cost more: alone rather than in an array of many, and a feature in a dict.
ALONE, A_NAME = 200e-9, 25e-9


@dataclass(frozen=True)
class Calls:
    """A model and the rows it is called with."""

    model: str
    make: Callable[[], Any]
    rows: Sequence[Any]
    side: Side = "peer"


class Nothing:
    """What the clock itself and an empty call take."""

    def learn_one(self, x: Any, y: Any) -> None:
        """Nothing."""

    def predict_one(self, x: Any) -> None:
        """Nothing."""


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Single calls, then averages."""
    rows = Rows(WIDTH)
    yield list(_single_calls(bench, rows))
    yield list(bench.measure(_averages(rows), {"features": WIDTH}))


def _single_calls(bench: Bench, rows: Rows) -> Iterator[Record]:
    everybody = [
        Calls("OnlineLDC, array rows", online_ldc, rows.arrays, "ours"),
        Calls("OnlineLDC, dict rows", online_ldc, rows.dicts, "ours"),
        Calls("WindowForest, array rows", WindowForest, rows.arrays, "ours"),
        Calls("AutoClassifier, array rows", AutoClassifier, rows.arrays, "ours"),
        Calls("an empty call", Nothing, rows.dicts, "limit"),
    ]
    try:
        everybody += [Calls(name, make, rows.dicts) for name, make in models().items()]
    except Unavailable as reason:
        bench.leave_out(reason)
    count = min(bench.effort.size, len(rows.dicts) - WARM)
    found: dict[tuple[str, str, str], list[float]] = {}
    for number in range(bench.effort.rounds):
        for calls in everybody:
            bench.progress(f"{count:,} calls each: round {number + 1} of {bench.effort.rounds}")
            for operation, taken in _timed(calls, rows.labels, count).items():
                for name, percent in PERCENTILES.items():
                    found.setdefault((operation, name, calls.model), []).append(float(np.percentile(taken, percent)))
    sides = {calls.model: calls.side for calls in everybody}
    for (operation, name, model), costs in found.items():
        work = f"{operation}, {name}"
        yield Record(work, model, {"features": WIDTH}, sides[model], tuple(costs), per="call")


def _timed(calls: Calls, labels: Sequence[bool], count: int) -> dict[str, list[float]]:
    """Seconds of each call."""
    model = calls.make()
    learn_all(model, calls.rows[:WARM], labels[:WARM])
    predict, learn = model.predict_one, model.learn_one
    predicting, learning = [], []
    gc.disable()
    for x, y in zip(calls.rows[WARM : WARM + count], labels[WARM : WARM + count], strict=True):
        begun = perf_counter_ns()
        predict(x)
        between = perf_counter_ns()
        learn(x, y)
        learning.append((perf_counter_ns() - between) * 1e-9)
        predicting.append((between - begun) * 1e-9)
    gc.enable()
    return {PREDICT_ONE: predicting, LEARN_ONE: learning}


def _averages(rows: Rows) -> Iterator[Contestant]:
    def kernel(count: int) -> Run:
        model, X, y = online_ldc().partial_fit(rows.X[:WARM], rows.y[:WARM]), rows.X[:count], rows.y[:count]
        return lambda: model.partial_fit(X, y)

    yield Contestant(OVER_KERNEL, KERNEL, kernel, len(rows), "ours")
    for name, given in ((ARRAYS, rows.arrays), (DICTS, rows.dicts)):

        def single(count: int, given: Sequence[Any] = given) -> Run:
            model = online_ldc()
            learn_all(model, given[:WARM], rows.labels[:WARM])
            some, labels = given[:count], rows.labels[:count]
            return lambda: learn_all(model, some, labels)

        yield Contestant(OVER_KERNEL, name, single, len(given), "ours")


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """What single rows cost over the kernel, names over numbers, and how slow a row can be."""
    calls = {(record.model, record.work): record.best for record in records if record.per == "call"}
    for model in ("WindowForest, array rows", "AutoClassifier, array rows"):
        slowest, median = (calls.get((model, f"{LEARN_ONE}, {name}")) for name in ("99.9th percentile", "median"))
        if slowest and median:
            yield Finding(f"{model}: 99.9th percentile of learn_one, in medians", slowest / median, at_most=SLOWEST)
    cost = {record.model: record.best for record in records if record.work == OVER_KERNEL}
    if len(cost) == 3:
        alone, name = cost[ARRAYS] - cost[KERNEL], (cost[DICTS] - cost[ARRAYS]) / WIDTH
        yield Finding("learn_one with an array, over the kernel", 1e9 * alone, at_most=1e9 * ALONE, unit="ns")
        yield Finding("learn_one with a dict, over an array, a feature", 1e9 * name, at_most=1e9 * A_NAME, unit="ns")


SUITE = Suite(
    name="latency",
    asks="How long does one call take, at the median and at the 99th and 99.9th percentiles?",
    measure=measure,
    plot=dots("latency", "One call", panel="work"),
    full=Effort(rounds=7, seconds=0.1, size=20_000),
    quick=Effort(rounds=3, seconds=0.05, size=5_000),
    ratios={"× River": "River"},
    findings=findings,
)
