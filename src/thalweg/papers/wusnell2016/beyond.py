"""Beyond the paper's figures: several principal components in one pass, and the three algorithms behind a kernel.

CCIPCA stands beside scikit-learn's IncrementalPCA on its 1,797 digits. All of them learn the rows in the same orders.
The reference is the PCA of all rows at once.

"All these algorithms can be extended to nonlinear models by using the so-called kernel trick", on data that no linear
model can learn. Rows are two independent normal numbers. The perceptron separates the inside of a ring from its
outside, regression learns a wave under noise, and principal components, which see neither, make the ring visible to a
linear fit. Each algorithm is measured as it is and behind `RandomFeatures` in a `StreamPipeline`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import subspace_overlap
from thalweg.learners.linear_regression import OnlineLinearRegression
from thalweg.learners.perceptron import Perceptron
from thalweg.papers.registry import Finding, Outcome
from thalweg.papers.wusnell2016 import facts
from thalweg.pipeline import StreamPipeline
from thalweg.rates import InverseSqrt
from thalweg.report import tables
from thalweg.transforms import CCIPCA, RandomFeatures

COMPONENTS = 10
#: More orders of the rows, or runs behind a kernel, change nothing, and IncrementalPCA is slow.
MOST_RUNS = 20
#: Overlap that an order of the rows should at least reach.
GOOD = 0.995
_BATCHES = (20, 100, 300)


def digits(runs: int, seed: int, finished: Callable[[float], None]) -> Outcome:
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
        findings += [Finding(part, name, value, runs=len(orders)) for part, value in summary.items()]
    headers = ["", *("\n".join(header.rsplit(" ", 1)) for header in (*summary, "rows a second"))]
    return Outcome(
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

    def row_by_row(X: NDArray[np.float64]) -> CCIPCA:
        model = CCIPCA(COMPONENTS)
        for x in X:
            model.learn_one(x)
        return model

    def batches(rows: int) -> Callable[[NDArray[np.float64]], Any]:
        return lambda X: IncrementalPCA(COMPONENTS, batch_size=rows).fit(X)

    return {
        "CCIPCA": lambda X: CCIPCA(COMPONENTS).partial_fit(X),
        "CCIPCA, row by row": row_by_row,
        "CCIPCA, amnesic 3": lambda X: CCIPCA(COMPONENTS, amnesic=3.0).partial_fit(X),
        "CCIPCA, amnesic 0": lambda X: CCIPCA(COMPONENTS, amnesic=0.0).partial_fit(X),
        **{f"IncrementalPCA, {rows} at once": batches(rows) for rows in _BATCHES},
    }


def _measure(
    learn: Callable[[NDArray[np.float64]], Any], X: NDArray[np.float64], exact: NDArray[np.float64]
) -> tuple[float, float, float]:
    began = time.perf_counter()
    model = learn(X)
    seconds = time.perf_counter() - began
    held = np.var(X @ np.linalg.qr(model.components_.T)[0], axis=0).sum() / np.var(X @ exact.T, axis=0).sum()
    return subspace_overlap(model.components_, exact), float(held), len(X) / seconds


ROWS, COUNTED = 4000, 2000
RADIUS, NOISE, KERNEL_COMPONENTS = 1.2, 0.2, 5
#: Of least squares behind the kernel; any from 0.001 to 1 would do.
PENALTY = 0.01

_RING = "Ring, perceptron: share of wrong predictions"
_WAVE = "Wave, regression: mean squared error"
_AXES = "Ring, components: share of variance explained"


def kernel(runs: int, seed: int, finished: Callable[[float], None]) -> Outcome:
    """Each algorithm as it is and behind the kernel; ``finished`` is called with the share done."""
    chosen = min(runs, MOST_RUNS)
    results = []
    for run in range(chosen):
        results.append(_run(np.random.default_rng([seed, run]), run))
        finished((run + 1) / chosen)
    findings = tuple(
        Finding.of_runs(part, model, np.array([result[part, model] for result in results]))
        for part, model in results[0]
    )
    return Outcome(
        f"Behind a kernel: the last {COUNTED:,} of {ROWS:,} rows, {chosen} run{'s' if chosen > 1 else ''}",
        findings,
        notes=(
            f"Kernel: 256 random features of a Gaussian kernel of width 1. Ring: inside or outside of radius {RADIUS}. "
            f"Wave: sin(2 x₁) x₂ and noise of standard deviation {NOISE}; least squares behind the kernel with penalty "
            f"{PENALTY}. Components: R² of a linear fit of the ring's side to both principal components, or to the "
            f"first {KERNEL_COMPONENTS} behind the kernel.",
        ),
        table=partial(facts.table, findings),
    )


def _run(rng: np.random.Generator, seed: int) -> dict[tuple[str, str], float]:
    X = rng.normal(size=(ROWS, 2))
    ring = (np.hypot(*X.T) > RADIUS).astype(np.int64)
    noise = NOISE * rng.normal(size=ROWS)
    wave = np.sin(2.0 * X[:, 0]) * X[:, 1] + noise
    late = slice(-COUNTED, None)

    def behind_kernel(model: Any) -> Any:
        return StreamPipeline([RandomFeatures(random_state=seed), model])

    def mistakes(model: Any) -> float:
        return float((model.predict_then_learn(X, ring) != ring)[late].mean())

    def squared_error(model: Any) -> float:
        return float(np.square(model.predict_then_learn(X, wave) - wave)[late].mean())

    def explained(model: Any) -> float:
        projected = np.column_stack([np.ones(ROWS), model.transform_then_learn(X)])[late]
        fitted = projected @ np.linalg.lstsq(projected, ring[late], rcond=None)[0]
        return float(fitted.var() / ring[late].var())

    # The kernel's features are nearly dependent: without a penalty, least squares would fit the noise with them.
    ridge = OnlineLinearRegression(solver="rls", penalty=PENALTY)
    # A row of two normal numbers can be long, and gradient steps in proportion to it: the plain ones are smaller.
    return {
        (_RING, "the more frequent side"): float(min(ring[late].mean(), 1.0 - ring[late].mean())),
        (_RING, "as it is"): mistakes(Perceptron()),
        (_RING, "behind the kernel"): mistakes(behind_kernel(Perceptron())),
        (_WAVE, "the mean"): float(wave[late].var()),
        (_WAVE, "gradient steps"): squared_error(OnlineLinearRegression(InverseSqrt(0.1))),
        (_WAVE, "gradient steps behind the kernel"): squared_error(behind_kernel(OnlineLinearRegression())),
        (_WAVE, "least squares"): squared_error(OnlineLinearRegression(solver="rls")),
        (_WAVE, "least squares behind the kernel"): squared_error(behind_kernel(ridge)),
        (_WAVE, "the noise alone"): float(np.square(noise[late]).mean()),
        (_AXES, "as they are"): explained(CCIPCA(2)),
        (_AXES, "behind the kernel"): explained(behind_kernel(CCIPCA(KERNEL_COMPONENTS))),
    }
