"""The three algorithms behind a kernel, on data that no linear model can learn.

"All these algorithms can be extended to nonlinear models by using the so-called kernel trick." Rows are two independent
normal numbers. The perceptron separates the inside of a ring from its outside, regression learns a wave under noise,
and principal components, which see neither, make the ring visible to a linear fit. Each algorithm is measured as it is
and behind `RandomFeatures` in a `StreamPipeline`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from thalweg.learners.linear_regression import OnlineLinearRegression
from thalweg.learners.perceptron import Perceptron
from thalweg.papers.findings import Finding
from thalweg.papers.registry import Outcome
from thalweg.papers.wusnell2016 import facts
from thalweg.pipeline import StreamPipeline
from thalweg.rates import InverseSqrt
from thalweg.transforms import CCIPCA, RandomFeatures

ROWS, COUNTED = 4000, 2000
#: More runs would change nothing that the table shows.
MOST_RUNS = 20
RADIUS, NOISE, COMPONENTS = 1.2, 0.2, 5
#: Of least squares behind the kernel; any from 0.001 to 1 would do.
PENALTY = 0.01

_RING = "Ring, perceptron: share of wrong predictions"
_WAVE = "Wave, regression: mean squared error"
_AXES = "Ring, components: share of variance explained"


def outcome(paper: str, runs: int, seed: int, finished: Callable[[float], None]) -> Outcome:
    """Each algorithm as it is and behind the kernel; ``finished`` is called with the share done."""
    chosen = min(runs, MOST_RUNS)
    results = []
    for run in range(chosen):
        results.append(_run(np.random.default_rng([seed, run]), run))
        finished((run + 1) / chosen)
    findings = tuple(
        Finding.of_runs(paper, "kernel", part, model, np.array([result[part, model] for result in results]))
        for part, model in results[0]
    )
    return Outcome(
        paper,
        "kernel",
        f"Behind a kernel: the last {COUNTED:,} of {ROWS:,} rows, {chosen} run{'s' if chosen > 1 else ''}",
        findings,
        notes=(
            f"Kernel: 256 random features of a Gaussian kernel of width 1. Ring: inside or outside of radius {RADIUS}. "
            f"Wave: sin(2 x₁) x₂ and noise of standard deviation {NOISE}; least squares behind the kernel with penalty "
            f"{PENALTY}. Components: R² of a linear fit of the ring's side to both principal components, or to the "
            f"first {COMPONENTS} behind the kernel.",
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
        (_AXES, "behind the kernel"): explained(behind_kernel(CCIPCA(COMPONENTS))),
    }
