"""Forests: `WindowForest` and the default, which has one, beside the adaptive random forests of River and MOA."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from benchmarks.contest import Contestant, Effort
from benchmarks.operations import predicting
from benchmarks.ours import in_one_call
from benchmarks.peers import available
from benchmarks.peers.river_models import river
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record
from benchmarks.rows import Rows
from benchmarks.suite import Bench, Suite
from thalweg import AutoClassifier, WindowForest

WIDTHS = (3, 10, 54)
TREES = 10
OURS, RIVERS, MOAS = f"WindowForest, {TREES} trees that follow", "River ARF", "MOA ARF, row by row"


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Ours in one call, the others row by row, as they take them."""
    for width in WIDTHS:
        rows = Rows(width)
        contestants = [
            in_one_call(OURS, partial(WindowForest, TREES, 0), rows),
            in_one_call("WindowForest, 15 more that last", WindowForest, rows),
            in_one_call("AutoClassifier", AutoClassifier, rows),
        ]
        makers: list[Callable[[], Iterable[Contestant]]] = [lambda rows=rows: [_rivers(rows)]]
        if bench.with_moa:
            from benchmarks.peers import moa_models

            makers.append(lambda rows=rows: [moa_models.forest(MOAS, TREES, rows)])
        yield list(bench.measure([*contestants, *available(bench, *makers)], {"features": width}))


def _rivers(rows: Rows) -> Contestant:
    forest = river().forest
    return predicting(RIVERS, lambda: forest.ARFClassifier(n_models=TREES, seed=0), rows.dicts, rows.labels)


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """How many times as fast as the others with as many trees."""
    for record in records:
        for name, ratio in record.ratios.items():
            if record.model == OURS and record.setting["features"] == 10:
                yield Finding(f"{OURS}, 10 features, {name}", ratio, at_least=100.0)


SUITE = Suite(
    name="forest",
    asks="What does a forest cost beside the adaptive random forests of River and MOA?",
    measure=measure,
    plot=dots("forest", "Forests of ten trees"),
    full=Effort(rounds=5, seconds=0.3),
    quick=Effort(rounds=2, seconds=0.05),
    ratios={"× River": RIVERS, "× MOA": MOAS},
    findings=findings,
)
