"""Ten features from earlier rows over a hundred thousand keys, beside River's aggregates and pandas' rolling windows.

River's `Agg` and `TargetAgg` have no windows of time by key: they get what they have, ten statistics over all rows of a
key or over its last ones. pandas computes five windows over the whole table at once, which no stream can do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from benchmarks.contest import Contestant, Effort, Run
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record
from benchmarks.suite import Bench, Suite
from thalweg.history.history import History
from thalweg.history.language import parse_features
from thalweg.tables.clock import Clock
from thalweg.tables.columns.number import NumberColumn
from thalweg.tables.rows import Block, Chunk, Piece

ROWS, KEYS, CHUNK = 1_000_000, 100_000, 1 << 15
WORK, OURS = "ten features of a row", "thalweg"
FADING = "thalweg, fading only"
#: A microsecond a feature.
MOST = 10e-6
FEATURES = (
    *("n1 = count() by card over 1h", "n2 = count() by card over 7d", "m1 = mean(amount) by card over 7d"),
    *("m2 = amount / mean(amount) by card fading 30d", "s = std(amount) by card", "g = since_last() by card"),
    *("b = lag(amount, 1) by card", "r = rate(target = bad) by card fading 30d", "m3 = mean(amount) fading 1h"),
    "x = max(amount) by card over 1d",
)
#: The same, with weights that fade where the others have windows, whose buckets take more memory.
FADING_FEATURES = (
    *(line.replace(" over ", " fading ") for line in FEATURES if "max" not in line),
    "x = max(amount) by card",
)


@cache
def payments(rows: int) -> dict[str, Any]:
    """A year of payments by cards, of which some pay often."""
    rng = np.random.default_rng(0)
    card = (KEYS * rng.random(rows) ** 2).astype(np.int64)
    when = np.datetime64("2024-01-01", "us") + np.sort(rng.integers(0, 365 * 86_400 * 10**6, rows))
    return {
        "card": card,
        "amount": rng.gamma(2.0, 10.0, rows),
        "when": when,
        "state": np.where(rng.random(rows) < 0.02, "bad", "ok"),
    }


def measure(bench: Bench) -> Iterator[list[Record]]:
    """A million rows in chunks, as a run reads them; the peers on as many rows as they can take."""
    rows = bench.effort.size
    contestants = [
        Contestant(WORK, OURS, _ours(FEATURES, rows), rows, "ours", least=rows),
        Contestant(WORK, FADING, _ours(FADING_FEATURES, rows), rows, "ours", least=rows),
        Contestant(WORK, "pandas rolling, five windows", _of_pandas(rows), rows, least=1000),
    ]
    try:
        import river  # noqa: F401

        contestants.append(Contestant(WORK, "River Agg and TargetAgg", _of_river(rows), rows))
    except ImportError as reason:
        bench.leave_out(reason)
    yield list(bench.measure(contestants, {"keys": KEYS}))


def _ours(lines: Sequence[str], rows: int) -> Callable[[int], Run]:
    import pyarrow as pa

    table = pa.table(payments(rows))

    def prepare(count: int) -> Run:
        history = History(
            parse_features(lines),
            {"amount": NumberColumn("amount", indicator=False)},
            target="state",
            time=("when", Clock()),
        )
        block = Block(table, "payments", 1, typed=True)

        def run() -> None:
            for start in range(0, count, CHUNK):
                history.extended(Chunk([Piece(block, start, min(CHUNK, count - start))], []), learn=True)

        return run

    return prepare


def _of_pandas(rows: int) -> Callable[[int], Run]:
    import pandas as pd

    def prepare(count: int) -> Run:
        frame = pd.DataFrame({name: values[:count] for name, values in payments(rows).items()}).set_index("when")

        def run() -> None:
            by_card = frame.groupby("card").amount
            for window in ("1h", "7d"):
                by_card.rolling(window, closed="left").count()
                by_card.rolling(window, closed="left").mean()
            by_card.rolling("1d", closed="left").max()

        return run

    return prepare


def _of_river(rows: int) -> Callable[[int], Run]:
    from river import compose, feature_extraction, stats, utils

    kinds = [stats.Mean, stats.Var, stats.Count, stats.Max, stats.Min, stats.Shift]

    def prepare(count: int) -> Run:
        aggregates = [feature_extraction.Agg(on="amount", by="card", how=kind()) for kind in kinds]
        aggregates += [
            feature_extraction.Agg(on="amount", by="card", how=utils.Rolling(stats.Mean(), size))
            for size in (10, 50, 100)
        ]
        union = compose.TransformerUnion(*aggregates, feature_extraction.TargetAgg(by="card", how=stats.Mean()))
        table = payments(rows)
        cards, amounts = (table[name][:count].tolist() for name in ("card", "amount"))
        dicts = [{"card": card, "amount": amount} for card, amount in zip(cards, amounts, strict=True)]
        labels = (table["state"][:count] == "bad").tolist()

        def run() -> None:
            for x, y in zip(dicts, labels, strict=True):
                union.transform_one(x)
                union.learn_one(x, y)

        return run

    return prepare


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """A row, against the target."""
    for record in records:
        if record.model in (OURS, FADING):
            yield Finding(f"{record.model}: {WORK}", record.best * 1e6, at_most=MOST * 1e6, unit="µs")


SUITE = Suite(
    name="features",
    asks="What do ten features from earlier rows cost?",
    measure=measure,
    plot=dots("features", "Features from earlier rows"),
    full=Effort(rounds=3, seconds=1.0, size=ROWS),
    quick=Effort(rounds=1, seconds=0.3, size=100_000),
    ratios={"× River": "River", "× pandas": "pandas"},
    findings=findings,
)
