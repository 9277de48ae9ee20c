"""Linear regression beside River's and scikit-learn's: each row answered, then learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.contest import Contestant, Effort, Run, Unavailable
from benchmarks.operations import PREDICT_THEN_LEARN, predicting
from benchmarks.peers.river_models import river
from benchmarks.plots.dots import dots
from benchmarks.records import Record
from benchmarks.suite import Bench, Suite
from thalweg import OnlineLinearRegression

WIDTHS = (5, 20, 100)
NUMBERS, NUMBERS_IN_DICTS = 2_000_000, 300_000
STEP = 0.01
SOLVERS: dict[str, Callable[[], OnlineLinearRegression]] = {
    "sgd": lambda: OnlineLinearRegression(STEP),
    "rls": lambda: OnlineLinearRegression(solver="rls", forgetting=0.001),
}


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Both solvers and both peers at each width."""
    for width in WIDTHS:
        yield list(bench.measure(contestants(width, bench), {"features": width}))


def contestants(features: int, bench: Bench) -> Iterator[Contestant]:
    rng = np.random.default_rng(features)
    X = rng.normal(size=(NUMBERS // features, features)) / np.sqrt(features)
    y = X @ rng.normal(size=features) + 0.1 * rng.normal(size=len(X))
    few = X[: NUMBERS_IN_DICTS // features]
    targets = y[: len(few)].tolist()
    dicts = [dict(zip((f"x{j}" for j in range(features)), row, strict=True)) for row in few.tolist()]

    def whole(name: str, make: Callable[[], Any]) -> Contestant:
        def prepare(count: int) -> Run:
            model, rows, answers = make(), X[:count], y[:count]
            return lambda: model.predict_then_learn(rows, answers)

        return Contestant(PREDICT_THEN_LEARN, name, prepare, len(y), "ours")

    for solver, make in SOLVERS.items():
        name = f"OnlineLinearRegression {solver}"
        yield whole(f"{name}.predict_then_learn", make)
        yield predicting(f"{name}, array rows", make, list(few), targets, side="ours")
        yield predicting(f"{name}, dict rows", make, dicts, targets, side="ours")
    yield predicting("scikit-learn SGDRegressor", RowByRow, [row[np.newaxis] for row in few], targets)
    try:
        found = river()
    except Unavailable as reason:
        bench.leave_out(reason)
    else:
        linear, descent = found.linear_model.LinearRegression, found.optim.SGD
        theirs = lambda: linear(optimizer=descent(STEP), intercept_lr=STEP)  # noqa: E731
        yield predicting("River LinearRegression", theirs, dicts, targets)


class RowByRow:
    """scikit-learn has no methods for single rows."""

    def __init__(self) -> None:
        from sklearn.linear_model import SGDRegressor

        self._model = SGDRegressor(alpha=0.0, learning_rate="constant", eta0=STEP)
        self._known = False

    def learn_one(self, x: Any, y: float) -> None:
        self._model.partial_fit(x, [y])
        self._known = True

    def predict_one(self, x: Any) -> Any:
        return self._model.predict(x)[0] if self._known else None


SUITE = Suite(
    name="regression",
    asks="How fast is linear regression beside River's and scikit-learn's?",
    measure=measure,
    plot=dots("regression", "Linear regression"),
    full=Effort(rounds=5, seconds=0.4),
    quick=Effort(rounds=2, seconds=0.05),
    ratios={"× River": "River", "× scikit-learn": "scikit-learn"},
)
