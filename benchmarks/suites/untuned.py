"""What the untuned default costs, whole and linear, beside River's scaled logistic regression and its linear parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from benchmarks.contest import Effort, Unavailable
from benchmarks.operations import predicting
from benchmarks.ours import in_one_call
from benchmarks.peers.river_models import SCALED, models
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record, groups
from benchmarks.rows import Rows
from benchmarks.suite import Bench, Suite
from thalweg import AutoClassifier
from thalweg.papers.auto.study import MEMBER_CORES, ScaledMember

WIDTHS = (3, 10, 54)
WHOLE, LINEAR, PART = "AutoClassifier", "AutoClassifier, linear", "its part, "


def measure(bench: Bench) -> Iterator[list[Record]]:
    """The default and its linear committee in one call and on dicts, the linear parts one by one, and River."""
    linear = partial(AutoClassifier, curved=False)
    for width in WIDTHS:
        rows = Rows(width)
        contestants = [in_one_call(WHOLE, AutoClassifier, rows), in_one_call(LINEAR, linear, rows)]
        contestants += [in_one_call(PART + name, partial(ScaledMember, name), rows) for name in MEMBER_CORES]
        contestants.append(predicting(f"{WHOLE}, dict rows", AutoClassifier, rows.dicts, rows.labels, side="ours"))
        try:
            contestants.append(predicting(SCALED, models()[SCALED], rows.dicts, rows.labels))
        except Unavailable as reason:
            bench.leave_out(reason)
        yield list(bench.measure(contestants, {"features": width}))


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """What the linear parts cost one by one, and the whole, as multiples of the linear committee."""
    for (where, _), group in groups(records).items():
        whole, linear = (next(r.best for r in group if r.model == name) for name in (WHOLE, LINEAR))
        parts = sum(record.best for record in group if record.model.startswith(PART))
        yield Finding(f"its linear parts one by one, times {LINEAR}, {where}", parts / linear)
        yield Finding(f"{WHOLE}, times {LINEAR}, {where}", whole / linear)


SUITE = Suite(
    name="untuned",
    asks="What does the untuned default cost, beside its parts and River's scaled logistic regression?",
    measure=measure,
    plot=dots("untuned", "The untuned default and its parts"),
    full=Effort(rounds=9, seconds=0.1),
    quick=Effort(rounds=3, seconds=0.05),
    ratios={"× River": "River"},
    findings=findings,
)
