"""A River user's loop: a dict in, a label out, then the label learned. Our models by `to_river` beside River's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchmarks.contest import Effort
from benchmarks.operations import predicting
from benchmarks.peers.river_models import SCALED, models, river
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record
from benchmarks.rows import Rows
from benchmarks.suite import Bench, Suite
from thalweg import AutoClassifier, OnlineLDC
from thalweg.river import to_river

WIDTHS = (3, 10, 54)
PLAIN = "OnlineLDC, without to_river"


def measure(bench: Bench) -> Iterator[list[Record]]:
    """The loop with our models, and with River's."""
    scaler = river().preprocessing.StandardScaler
    own = {
        PLAIN: OnlineLDC,
        "OnlineLDC": lambda: to_river(OnlineLDC()),
        "OnlineLDC, missing as mean": lambda: to_river(OnlineLDC(), missing="mean"),
        "OnlineLDC behind River's StandardScaler": lambda: scaler() | to_river(OnlineLDC()),
        "OnlineLDC that forgets": lambda: to_river(OnlineLDC("auto", counts="soft")),
        "AutoClassifier, linear": lambda: to_river(AutoClassifier(curved=False)),
        "AutoClassifier": lambda: to_river(AutoClassifier()),
    }
    for width in WIDTHS:
        rows = Rows(width)
        contestants = [predicting(name, make, rows.dicts, rows.labels, side="ours") for name, make in own.items()]
        contestants += [predicting(name, make, rows.dicts, rows.labels) for name, make in models().items()]
        yield list(bench.measure(contestants, {"features": width}))


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """How far ahead with dicts."""
    for record in records:
        if record.model == PLAIN and record.setting["features"] == 10:
            yield Finding(f"OnlineLDC with dicts × {SCALED}, 10 features", record.ratios["× scaled"], at_least=20.0)


SUITE = Suite(
    name="river_loop",
    asks="How fast is a River user's loop of dicts with our models?",
    measure=measure,
    plot=dots("river_loop", "A River user's loop"),
    full=Effort(rounds=15, seconds=0.2),
    quick=Effort(rounds=3, seconds=0.05),
    ratios={"× scaled": SCALED, "× River": "River"},
    findings=findings,
)
