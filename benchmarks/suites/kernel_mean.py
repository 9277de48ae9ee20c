"""What a budget costs: `KernelMeanClassifier` with 128 centroids a class beside River's nearest neighbours of 256 rows.

Both keep 256 rows or centroids; ours in one call, and row by row on dicts as River's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.contest import Effort, Unavailable
from benchmarks.operations import predicting
from benchmarks.ours import in_one_call
from benchmarks.peers.river_models import river
from benchmarks.plots.dots import dots
from benchmarks.records import Record
from benchmarks.rows import Rows
from benchmarks.suite import Bench, Suite
from thalweg import KernelMeanClassifier

WIDTHS = (2, 10, 50)
BUDGET, FORGETTING = 128, 0.01


def measure(bench: Bench) -> Iterator[list[Record]]:
    """With one width of the kernel, with octaves of widths, on dicts, and River."""
    for width in WIDTHS:
        rows = Rows(width)
        octaves = partial(_ours, None)
        contestants = [
            in_one_call("kernel mean, sigma given", partial(_ours, 1.0 / width), rows),
            in_one_call("kernel mean, octaves", octaves, rows),
            predicting("kernel mean, octaves, dict rows", octaves, rows.dicts, rows.labels, side="ours"),
        ]
        try:
            contestants.append(predicting("River KNNClassifier", _neighbours(), rows.dicts, rows.labels))
        except Unavailable as reason:
            bench.leave_out(reason)
        yield list(bench.measure(contestants, {"features": width}))


def _ours(sigma: float | None) -> KernelMeanClassifier:
    return KernelMeanClassifier(sigma=sigma, budget=BUDGET, forgetting=FORGETTING)


def _neighbours() -> Callable[[], object]:
    found = river().neighbors
    return lambda: found.KNNClassifier(engine=found.LazySearch(window_size=2 * BUDGET))


SUITE = Suite(
    name="kernel_mean",
    asks="What does KernelMeanClassifier with a budget cost beside River's nearest neighbours of as many rows?",
    measure=measure,
    plot=dots("kernel_mean", "256 centroids beside 256 neighbours"),
    full=Effort(rounds=5, seconds=0.2),
    quick=Effort(rounds=3, seconds=0.05),
    ratios={"× River": "River"},
)
