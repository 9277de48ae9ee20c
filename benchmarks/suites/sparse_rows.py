"""Sparse rows: what a value that is not zero costs, from ten of them in a row to a hundred thousand.

The compiled loops alone, over rows that were checked, and the check beside them. The weights of the 1,000 features of
the shorter rows take 16 kB and stay in the first cache, beside a row of up to 300 values. A row of 1,000 values and its
weights take 48 kB, more than that cache has on many machines; the weights of 200,000 features are far from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone

from benchmarks.contest import Contestant, Effort, Run
from benchmarks.growth_law import law_of
from benchmarks.plots.lines import Axis, lines
from benchmarks.records import Finding, Record
from benchmarks.suite import Bench, Suite
from thalweg import AutoClassifier, OnlineLogistic, PassiveAggressive, Perceptron
from thalweg.learners.base.rows import as_sparse_rows

WORK, CHECK = "predict each row, then learn it", "the check of the rows"
#: Values of a row.
COUNTS = (10, 30, 100, 300, 1000, 10_000, 100_000)
VALUES, FEATURES = 2_000_000, 1000
MODELS = {
    "Perceptron": Perceptron(),
    "PassiveAggressive": PassiveAggressive(),
    "OnlineLogistic": OnlineLogistic(),
    "OnlineLogistic, per feature": OnlineLogistic(1.0, per_feature=True),
    "AutoClassifier": AutoClassifier(),
}


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Rows of so many values; all rows are one chunk."""
    for count in COUNTS:
        X, y = rows(max(20, (bench.effort.size or VALUES) // count), count)
        contestants = [_contestant(name, model, X, y) for name, model in MODELS.items()]
        contestants.append(
            Contestant(WORK, CHECK, lambda count, X=X: _check(X, count), X.shape[0], "ours", least=X.shape[0])
        )
        yield list(bench.measure(contestants, {"values": count}))


def rows(count: int, values: int) -> tuple[csr_array, np.ndarray]:
    """Rows of so many values each, at random features, and the side of a plane on which they lie."""
    rng = np.random.default_rng(values)
    width = max(FEATURES, 2 * values)
    columns = np.sort([rng.choice(width, values, replace=False) for _ in range(count)]).astype(np.int32)
    starts = np.arange(0, count * values + 1, values, dtype=np.int32)
    X = csr_array((rng.normal(size=count * values), columns.ravel(), starts), shape=(count, width))
    return X, (X @ rng.normal(size=width) > 0).astype(np.int64)


def _contestant(name: str, model: Any, X: csr_array, y: np.ndarray) -> Contestant:
    def prepare(count: int) -> Run:
        core = clone(model).partial_fit(X[:count], y[:count])._core
        rows, labels, answers = as_sparse_rows(X[:count], "X"), y[:count], np.empty(count, dtype=np.int64)
        return lambda: core.run(rows, labels, answers=answers)

    return Contestant(WORK, name, prepare, X.shape[0], "ours", least=X.shape[0])


def _check(X: csr_array, count: int) -> Run:
    rows = X[:count]
    return lambda: as_sparse_rows(rows, "X")


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """What a further value costs, and how the cost of a row grows with its values."""
    for name in (*MODELS, CHECK):
        own = {record.setting["values"]: record for record in records if record.model == name}
        most = 3.0 if name in ("Perceptron", "OnlineLogistic") else None
        for few, many, target in ((30, 300, most), (300, 1000, None)):
            slope = (own[many].best - own[few].best) / (many - few) * 1e9
            yield Finding(f"{name}: a value, between {few} and {many:,} in a row", slope, at_most=target, unit="ns")
        law = law_of(list(own.values()), "values", 1000)
        if law is not None:
            yield Finding(f"{name}: exponent of growth from 1,000 values on", law.exponent)


SUITE = Suite(
    name="sparse_rows",
    asks="What does a value of a sparse row cost?",
    measure=measure,
    plot=lines("sparse_rows", "Sparse rows; behind ~ the fitted exponent", {WORK: Axis("values", law_from=1000)}),
    full=Effort(rounds=5),
    quick=Effort(rounds=1, size=20_000),
    findings=findings,
)
