"""What the untuned default costs: whole, linear, its tilings and its parts, beside River and two compiled peers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from benchmarks.contest import Contestant, Effort
from benchmarks.operations import predicting
from benchmarks.ours import in_one_call
from benchmarks.peers import available, sklearn_models, vowpal_wabbit
from benchmarks.peers.river_models import SCALED, models
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record, groups
from benchmarks.rows import Rows
from benchmarks.suite import Bench, Suite
from thalweg import AutoClassifier, TilingClassifier
from thalweg.papers.auto.study import MEMBER_CORES, ScaledMember

WIDTHS = (3, 10, 54)
WHOLE, LINEAR, PART = "AutoClassifier", "AutoClassifier, linear", "its part, "


def measure(bench: Bench) -> Iterator[list[Record]]:
    """The default, its linear committee and tilings in one call, the linear parts one by one, dicts, and the peers."""
    linear = partial(AutoClassifier, curved=False)
    for width in WIDTHS:
        rows = Rows(width)
        contestants = [in_one_call(WHOLE, AutoClassifier, rows), in_one_call(LINEAR, linear, rows)]
        contestants.append(in_one_call("TilingClassifier", TilingClassifier, rows))
        contestants += [in_one_call(PART + name, partial(ScaledMember, name), rows) for name in MEMBER_CORES]
        contestants.append(predicting(f"{WHOLE}, dict rows", AutoClassifier, rows.dicts, rows.labels, side="ours"))
        contestants += _peers(rows, bench)
        yield list(bench.measure(contestants, {"features": width}))


def _peers(rows: Rows, bench: Bench) -> Iterator[Contestant]:
    """River's model for rows of any scale, and two compiled loops over many rows."""
    return available(
        bench,
        lambda: [predicting(SCALED, models()[SCALED], rows.dicts, rows.labels)],
        lambda: [sklearn_models.in_batches(rows)],
        lambda: vowpal_wabbit.contestants(rows, bench.folder),
    )


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """What the linear parts cost one by one, and the whole, as multiples of the linear committee."""
    for (where, _), group in groups(records).items():
        whole, linear = (next(r.best for r in group if r.model == name) for name in (WHOLE, LINEAR))
        parts = sum(record.best for record in group if record.model.startswith(PART))
        yield Finding(f"its linear parts one by one, times {LINEAR}, {where}", parts / linear)
        yield Finding(f"{WHOLE}, times {LINEAR}, {where}", whole / linear)


SUITE = Suite(
    name="untuned",
    asks="What does the untuned default cost, beside its parts, River, scikit-learn and Vowpal Wabbit?",
    measure=measure,
    plot=dots("untuned", "The untuned default and its parts"),
    full=Effort(rounds=9, seconds=0.1),
    quick=Effort(rounds=3, seconds=0.05),
    ratios={"× River": "River", "× scikit-learn": "scikit-learn", "× VW": "Vowpal Wabbit"},
    findings=findings,
)
