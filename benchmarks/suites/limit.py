"""How near our compiled loop comes to the bare loop in C, compiled for this processor and one width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchmarks.c_limit import the_limit
from benchmarks.contest import Effort
from benchmarks.operations import PREDICT_THEN_LEARN
from benchmarks.ours import from_there, started
from benchmarks.plots.lines import Axis, lines
from benchmarks.records import Finding, Record
from benchmarks.rows import Rows
from benchmarks.suite import Bench, Suite

WIDTHS = (2, 3, 10, 50, 100)


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Both on the same rows, from one and the same start."""
    starts = {width: started(Rows(width)) for width in WIDTHS}
    yield from bench.measure_each(
        ([from_there(start), the_limit(start, bench.folder)], {"features": width}) for width, start in starts.items()
    )


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """Our share of the limit at each width."""
    for record in records:
        if record.side == "ours":
            yield Finding(f"share of C, {record.setting['features']} features", record.ratios["of C"], at_least=0.8)


SUITE = Suite(
    name="limit",
    asks="How near is OnlineLDC.predict_then_learn to the same loop in C?",
    measure=measure,
    plot=lines("limit", "OnlineLDC beside the same loop in C", {PREDICT_THEN_LEARN: Axis("features")}),
    full=Effort(rounds=45, seconds=0.1),
    quick=Effort(rounds=5, seconds=0.05),
    ratios={"of C": "C, "},
    findings=findings,
)
