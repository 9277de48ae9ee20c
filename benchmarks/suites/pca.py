"""Principal components of digits in one pass, beside scikit-learn's IncrementalPCA: how near the batch, how quick."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Contestant, Effort, Run, Side
from benchmarks.plots.dots import dots
from benchmarks.records import Record
from benchmarks.suite import Bench, Suite
from thalweg import CCIPCA

COMPONENTS = 10
ORDERS = 10
WORK = "ten components of digits in one pass"


@dataclass(frozen=True)
class Candidate:
    """A way to get at the components."""

    side: Side
    make: Callable[[], Any]
    learn: Callable[[Any, NDArray[np.float64]], Any] = lambda model, X: model.partial_fit(X)


def measure(bench: Bench) -> Iterator[list[Record]]:
    """How near the batch in shuffled orders and in the stored one, and the cost of a row."""
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA

    X = load_digits().data
    batch = PCA(COMPONENTS, svd_solver="full").fit(X).components_
    orders = [X[np.random.default_rng(seed).permutation(len(X))] for seed in range(ORDERS)]
    known = candidates()
    bench.progress("how near the batch")
    overlaps = {}
    for name, one in known.items():
        shuffled = [overlap(one.learn(one.make(), rows).components_, batch) for rows in orders]
        stored = overlap(one.learn(one.make(), X).components_, batch)
        overlaps[name] = {"overlap": float(np.mean(shuffled)), "least": min(shuffled), "as stored": stored}
    contestants = [_timed(name, one, orders[0]) for name, one in known.items()]
    records = bench.measure(contestants, {"rows": len(X), "features": X.shape[1]})
    yield [replace(record, also=overlaps[record.model]) for record in records]


def candidates() -> dict[str, Candidate]:
    """Ours, and IncrementalPCA in batches of several sizes."""
    from sklearn.decomposition import IncrementalPCA

    found = {
        "CCIPCA": Candidate("ours", lambda: CCIPCA(COMPONENTS)),
        "CCIPCA, learn_one": Candidate("ours", lambda: CCIPCA(COMPONENTS), _by_rows),
        "CCIPCA(amnesic=0)": Candidate("ours", lambda: CCIPCA(COMPONENTS, amnesic=0.0)),
    }
    for size in (20, 100, 300):
        make = lambda size=size: IncrementalPCA(COMPONENTS, batch_size=size)  # noqa: E731
        found[f"scikit-learn IncrementalPCA, {size} rows"] = Candidate("peer", make, lambda model, X: model.fit(X))
    return found


def overlap(axes: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """The mean squared cosine between two subspaces, given by orthonormal rows."""
    return float(((axes @ others.T) ** 2).sum() / len(axes))


def _timed(name: str, one: Candidate, X: NDArray[np.float64]) -> Contestant:
    def prepare(count: int) -> Run:
        model = one.make()
        return lambda: one.learn(model, X[:count])

    return Contestant(WORK, name, prepare, len(X), one.side)


def _by_rows(model: CCIPCA, X: NDArray[np.float64]) -> CCIPCA:
    for x in X:
        model.learn_one(x)
    return model


SUITE = Suite(
    name="pca",
    asks="How near the batch is CCIPCA after one pass, and how quick beside IncrementalPCA?",
    measure=measure,
    plot=dots("pca", "Ten principal components of digits"),
    full=Effort(rounds=25, seconds=1.0),
    quick=Effort(rounds=5, seconds=1.0),
    ratios={"× scikit-learn": "scikit-learn"},
)
