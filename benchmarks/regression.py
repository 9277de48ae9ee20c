"""Linear regression beside River's and scikit-learn's: rows a second of answering each row, then learning it.

Run: python benchmarks/regression.py [--quick]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from contest import Contestant, Effort, Run, contest
from numpy.typing import NDArray
from operations import answer_then_learn

from thalweg import OnlineLinearRegression

WIDTHS = (5, 20, 100)
NUMBERS, NUMBERS_IN_DICTS = 2_000_000, 300_000
STEP = 0.01


class _RowByRow:
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


def whole(name: str, make: Callable[[], Any], X: NDArray[np.float64], y: NDArray[np.float64]) -> Contestant:
    def prepare(count: int) -> Run:
        model, rows, targets = make(), X[:count], y[:count]
        return lambda: model.predict_then_learn(rows, targets)

    return Contestant("", name, prepare, len(y))


def single(name: str, make: Callable[[], Any], rows: list[Any], y: list[float], *, river: bool = False) -> Contestant:
    def prepare(count: int) -> Run:
        model, some, targets = make(), rows[:count], y[:count]
        return lambda: answer_then_learn(model, some, targets)

    return Contestant("", name, prepare, len(rows), river)


def contestants(features: int) -> Iterator[Contestant]:
    rng = np.random.default_rng(features)
    X = rng.normal(size=(NUMBERS // features, features)) / np.sqrt(features)
    y = X @ rng.normal(size=features) + 0.1 * rng.normal(size=len(X))
    few = X[: NUMBERS_IN_DICTS // features]
    targets = y[: len(few)].tolist()
    dicts = [dict(zip((f"x{j}" for j in range(features)), row, strict=True)) for row in few.tolist()]
    makers: dict[str, Callable[[], OnlineLinearRegression]] = {
        "sgd": lambda: OnlineLinearRegression(STEP),
        "rls": lambda: OnlineLinearRegression(solver="rls", forgetting=0.001),
    }
    for solver, make in makers.items():
        yield whole(f"OnlineLinearRegression {solver}, predict_then_learn", make, X, y)
    for solver, make in makers.items():
        yield single(f"OnlineLinearRegression {solver}, array rows", make, list(few), targets)
        yield single(f"OnlineLinearRegression {solver}, dict rows", make, dicts, targets)
    yield single("scikit-learn SGDRegressor.partial_fit", _RowByRow, [row[np.newaxis] for row in few], targets)
    try:
        from river import linear_model, optim
    except ImportError as error:
        print(f"without River: {error}", file=sys.stderr)
    else:
        yield single(
            "River LinearRegression, dict rows",
            lambda: linear_model.LinearRegression(optimizer=optim.SGD(STEP), intercept_lr=STEP),
            dicts,
            targets,
            river=True,
        )


def main() -> None:
    effort = Effort(rounds=2, seconds=0.05) if "--quick" in sys.argv else Effort(rounds=5, seconds=0.4)
    for features in WIDTHS:
        field = list(contestants(features))
        timings = list(contest(field, effort, after_round=lambda: None))
        unit = next((timing.best for each, timing in zip(field, timings, strict=True) if each.river), None)
        print(f"\n{features} features{'':<41}{'rows/s':>14}{'times River':>14}")
        for each, timing in zip(field, timings, strict=True):
            ratio = "" if unit is None else f"{timing.best / unit:>14,.1f}"
            print(f"  {each.model:<52}{timing.best:>14,.0f}{ratio}")


if __name__ == "__main__":
    main()
