"""The ROC AUC over a sliding window after every row, beside River's and scikit-learn's over the same window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Contestant, Effort, Run
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record, groups
from benchmarks.suite import Bench, Suite
from thalweg.kernels import compiled

ROWS, WINDOWS = 1_000_000, (1000, 10_000)
WORK, OURS = "ROC AUC of the last rows, after every row", "thalweg, in one call"
MOST_SECONDS = 2.0
NOWHERE = np.empty(0, dtype=np.int64)


def rare_scores(rows: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """P(positive) to six digits, one row in a hundred being positive."""
    rng = np.random.default_rng(0)
    positive = rng.random(rows) < 0.01
    return np.round(1 / (1 + np.exp(4 - rng.normal(size=rows) - 1.5 * positive)), 6), positive


def measure(bench: Bench) -> Iterator[list[Record]]:
    """A million rows in one call, in calls of one row, and the peers row by row."""
    scores, positive = rare_scores(ROWS)
    for window in WINDOWS:
        contestants = [
            Contestant(WORK, OURS, _in_one_call(window, scores, positive), ROWS, "ours", least=ROWS),
            Contestant(WORK, "thalweg, row by row", _row_by_row(window, scores, positive), ROWS, "ours", least=window),
            Contestant(WORK, "scikit-learn roc_auc_score", _recomputed(window, scores, positive), ROWS, least=20),
        ]
        try:
            contestants.append(Contestant(WORK, "River RollingROCAUC", _of_river(window, scores, positive), ROWS))
        except ImportError as reason:
            bench.leave_out(reason)
        yield list(bench.measure(contestants, {"rows in the window": window}))


def _in_one_call(window: int, scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> Callable[[int], Run]:
    def prepare(count: int) -> Run:
        auc = compiled.RecentAuc(rows=window)
        return lambda: auc.push_and_score(scores[:count], positive[:count], NOWHERE)

    return prepare


def _row_by_row(window: int, scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> Callable[[int], Run]:
    def prepare(count: int) -> Run:
        auc = compiled.RecentAuc(rows=window)

        def run() -> None:
            for at in range(count):
                auc.push(scores[at : at + 1], positive[at : at + 1])
                auc.roc_auc()

        return run

    return prepare


def _recomputed(window: int, scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> Callable[[int], Run]:
    from sklearn.metrics import roc_auc_score

    def prepare(count: int) -> Run:
        def run() -> None:
            for at in range(window, window + count):
                roc_auc_score(positive[at - window : at], scores[at - window : at])

        return run

    return prepare


def _of_river(window: int, scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> Callable[[int], Run]:
    from river.metrics import RollingROCAUC

    def prepare(count: int) -> Run:
        auc = RollingROCAUC(window_size=window)
        for y, score in zip(positive[:window].tolist(), scores[:window].tolist(), strict=True):
            auc.update(y, score)
        rest = slice(window, window + count)
        rows = list(zip(positive[rest].tolist(), scores[rest].tolist(), strict=True))

        def run() -> None:
            for y, score in rows:
                auc.update(y, score)
                auc.get()

        return run

    return prepare


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """A million rows, against the target."""
    for (where, _), group in groups(records).items():
        ours = next(record.best for record in group if record.model == OURS)
        most = MOST_SECONDS if where.startswith("10,000 ") else None
        yield Finding(f"a million rows, {where}", ours * ROWS, at_most=most, unit="s")


SUITE = Suite(
    name="auc",
    asks="What does the ROC AUC of the last rows cost after every row?",
    measure=measure,
    plot=dots("auc", "ROC AUC over a sliding window"),
    full=Effort(rounds=7, seconds=0.5),
    quick=Effort(rounds=2, seconds=0.1),
    ratios={"× River": "River", "× scikit-learn": "scikit-learn"},
    findings=findings,
)
