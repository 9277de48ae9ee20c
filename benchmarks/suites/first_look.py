"""How fast our learners are beside everybody else's, all in one run on the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchmarks.c_limit import the_limit
from benchmarks.contest import Effort, Unavailable
from benchmarks.operations import PREDICT_THEN_LEARN
from benchmarks.ours import ours, started
from benchmarks.peers import peers
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record
from benchmarks.rows import Rows
from benchmarks.suite import Bench, Suite

WIDTHS = (3, 10, 100)
OURS = "OnlineLDC.predict_then_learn"


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Everybody at each width."""
    for width in WIDTHS:
        rows = Rows(width)
        everybody = [*ours(rows), *peers(rows, bench)]
        try:
            everybody.append(the_limit(started(rows), bench.folder))
        except Unavailable as reason:
            bench.leave_out(reason)
        records = list(bench.measure(everybody, {"features": width}))
        works = list(dict.fromkeys(record.work for record in records))
        yield sorted(records, key=lambda record: works.index(record.work))


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """How far ahead of River's fastest model, and of Vowpal Wabbit."""
    for record in records:
        width = record.setting["features"]
        if record.model == OURS and record.work == PREDICT_THEN_LEARN and width <= 10:
            for name, least in (("× River", 60.0), ("× VW", 10.0)):
                if name in record.ratios:
                    yield Finding(f"OnlineLDC {name}, {width} features", record.ratios[name], at_least=least)


SUITE = Suite(
    name="first_look",
    asks="How fast are our learners beside River, scikit-learn, Vowpal Wabbit, NumPy and C?",
    measure=measure,
    plot=dots("first_look", "Linear models"),
    full=Effort(rounds=15, seconds=0.1),
    quick=Effort(rounds=5, seconds=0.05),
    ratios={"× River": "River", "× VW": "Vowpal Wabbit", "of C": "C, "},
    findings=findings,
)
