"""Sparse rows: what a value that is not zero costs, from ten of them in a row to a hundred thousand, and what memory a
feature takes.

The weights of the 4,000 features of the smaller settings stay in the cache; those of a hundred thousand do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchmarks.contest import Contestant, Effort, Run
from benchmarks.plots.lines import Axis, lines
from benchmarks.records import Record
from benchmarks.suite import Bench, Suite
from thalweg import AutoClassifier, OnlineLogistic, PassiveAggressive, Perceptron

WORK = "predict each row, then learn it"
#: Values of a row.
COUNTS = (10, 30, 100, 1000, 10_000, 100_000)
VALUES, FEATURES = 2_000_000, 4000
MODELS = {
    "Perceptron": Perceptron(),
    "PassiveAggressive": PassiveAggressive(),
    "OnlineLogistic": OnlineLogistic(),
    "OnlineLogistic, a step for each feature": OnlineLogistic(1.0, per_feature=True),
    "AutoClassifier": AutoClassifier(),
}


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Rows of so many values; all rows are one chunk."""
    for count in COUNTS:
        X, y = rows(max(20, (bench.effort.size or VALUES) // count), count)
        contestants = [_contestant(name, model, X, y) for name, model in MODELS.items()]
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
    from sklearn.base import clone

    def prepare(count: int) -> Run:
        learner = clone(model).partial_fit(X[:count], y[:count])
        return lambda: learner.predict_then_learn(X[:count], y[:count])

    return Contestant(WORK, name, prepare, X.shape[0], "ours", least=min(20, X.shape[0]))


SUITE = Suite(
    name="sparse_rows",
    asks="What does a value of a sparse row cost?",
    measure=measure,
    plot=lines("sparse_rows", "Sparse rows; behind ~ the fitted exponent", {WORK: Axis("values", law_from=1000)}),
    full=Effort(rounds=5),
    quick=Effort(rounds=1, size=20_000),
    ratios={},
)
