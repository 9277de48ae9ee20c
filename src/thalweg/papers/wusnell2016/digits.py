"""Several principal components in one pass: CCIPCA beside scikit-learn's IncrementalPCA on its 1,797 digits.

All of them learn the rows in the same orders. The reference is the PCA of all rows at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import subspace_overlap
from thalweg.papers.findings import Finding
from thalweg.papers.registry import Outcome
from thalweg.report import tables
from thalweg.transforms import CCIPCA

COMPONENTS = 10
#: More orders change nothing, and IncrementalPCA is slow.
MOST_RUNS = 20
#: Overlap that an order of the rows should at least reach.
GOOD = 0.995
_BATCHES = (20, 100, 300)


def outcome(paper: str, runs: int, seed: int, finished: Callable[[float], None]) -> Outcome:
    """Overlap with the exact subspace, share of the variance it could hold, and rows a second.

    ``finished`` is called after each order of the rows, with the share done.
    """
    from sklearn.datasets import load_digits

    X = load_digits().data
    exact = np.linalg.eigh(np.cov(X.T))[1][:, -COMPONENTS:].T
    orders = [np.random.default_rng([seed, run]).permutation(len(X)) for run in range(min(runs, MOST_RUNS))]
    learners = _learners()
    measured: dict[str, list[tuple[float, float, float]]] = {name: [] for name in learners}
    for number, order in enumerate(orders, start=1):
        for name, learn in learners.items():
            measured[name].append(_measure(learn, X[order], exact))
        finished(number / len(orders))
    rows, findings = [], []
    for name, results in measured.items():
        overlap, held, speed = np.array(results).T
        summary = {
            "median overlap": float(np.median(overlap)),
            "worst": float(overlap.min()),
            f"share ≥ {GOOD}": float((overlap >= GOOD).mean()),
            "variance": float(held.mean()),
        }
        rows.append([name, *map(_number, (*summary.values(), float(np.median(speed))))])
        findings += [Finding(paper, "digits", part, name, value, runs=len(orders)) for part, value in summary.items()]
    headers = ["", *("\n".join(each.rsplit(" ", 1)) for each in (*summary, "rows a second"))]
    return Outcome(
        paper,
        "digits",
        f"Digits, {COMPONENTS} components in one pass: {len(orders)} order{'s' if len(orders) > 1 else ''} of the rows",
        tuple(findings),
        notes=(
            "Digits: mean squared cosine between the subspace found and that of batch PCA, over orders of the rows; "
            "mean variance of the rows in the subspace, as a share of what batch PCA holds; rows a second, median.",
        ),
        table=partial(tables.lines, headers, rows),
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4f}"


def _learners() -> Mapping[str, Callable[[NDArray[np.float64]], Any]]:
    from sklearn.decomposition import IncrementalPCA

    return {
        "CCIPCA": lambda X: CCIPCA(COMPONENTS).partial_fit(X),
        "CCIPCA, row by row": lambda X: _row_by_row(CCIPCA(COMPONENTS), X),
        "CCIPCA, amnesic 3": lambda X: CCIPCA(COMPONENTS, amnesic=3.0).partial_fit(X),
        "CCIPCA, amnesic 0": lambda X: CCIPCA(COMPONENTS, amnesic=0.0).partial_fit(X),
        **{
            f"IncrementalPCA, {rows} at once": partial(_fit, IncrementalPCA(COMPONENTS, batch_size=rows))
            for rows in _BATCHES
        },
    }


def _row_by_row(model: CCIPCA, X: NDArray[np.float64]) -> CCIPCA:
    for x in X:
        model.learn_one(x)
    return model


def _fit(model: Any, X: NDArray[np.float64]) -> Any:
    return model.fit(X)


def _measure(
    learn: Callable[[NDArray[np.float64]], Any], X: NDArray[np.float64], exact: NDArray[np.float64]
) -> tuple[float, float, float]:
    began = time.perf_counter()
    model = learn(X)
    seconds = time.perf_counter() - began
    held = np.var(X @ np.linalg.qr(model.components_.T)[0], axis=0).sum() / np.var(X @ exact.T, axis=0).sum()
    return subspace_overlap(model.components_, exact), float(held), len(X) / seconds
