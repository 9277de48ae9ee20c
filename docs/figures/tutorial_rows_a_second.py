"""Rows a second by the way they come in, measured while the site is built."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from thalweg import AutoClassifier, OnlineLDC
from thalweg.report import style

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

FEATURES, SECONDS = 10, 0.3


def draw() -> Figure:
    """A bar for each way, on a logarithmic axis."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200_000)
    X = rng.normal(size=(len(y), FEATURES))
    X[:, 0] += 2 * y
    names = [f"x{number}" for number in range(FEATURES)]
    as_dicts = [dict(zip(names, row, strict=True)) for row in X[:2000].tolist()]
    ways: dict[str, tuple[Callable[[], int], str]] = {
        "OnlineLDC, whole array": (lambda: _at_once(_discriminant(), X, y), style.BLUE),
        "OnlineLDC, chunks of 1,000": (lambda: _chunks(_discriminant(), X, y), style.BLUE),
        "OnlineLDC, single rows, arrays": (lambda: _rows(_discriminant(), X[:2000], y), style.BLUE),
        "OnlineLDC, single rows, dicts": (lambda: _rows(_discriminant(), as_dicts, y), style.BLUE),
        "AutoClassifier, whole array": (lambda: _at_once(AutoClassifier(), X[:20_000], y[:20_000]), style.PURPLE),
        "scikit-learn's SGD, single rows": (lambda: _partial_fits(X[:100], y), style.GREY),
    }
    with threadpool_limits(1):
        speeds = {name: _speed(work) for name, (work, _) in ways.items()}
    figure = style.new_figure(7.2, 3.0)
    axes = figure.subplots()
    places = np.arange(len(ways))[::-1]
    axes.barh(places, list(speeds.values()), color=[colour for _, colour in ways.values()], height=0.62)
    for place, speed in zip(places, speeds.values(), strict=True):
        axes.text(speed * 1.15, place, f"{float(f'{speed:.2g}'):,.0f}", va="center")
    axes.axvline(1e6, color=style.VERMILION, linestyle=(0, (1, 2)))
    axes.set(xscale="log", xlim=(300, 1e8), xlabel="rows a second of processor time, predicted and learned")
    axes.set_xticks([1e3, 1e4, 1e5, 1e6, 1e7], ["1,000", "10,000", "100,000", "1 million", "10 million"])
    axes.set_yticks(places, list(ways))
    axes.grid(visible=False, axis="y")
    axes.minorticks_off()
    return figure


def _speed(work: Callable[[], int]) -> float:
    """The best of some rounds by processor time, so that what else the machine does counts little."""
    best, spent = 0.0, 0.0
    while spent < SECONDS:
        begun = time.process_time()
        rows = work()
        took = time.process_time() - begun
        best, spent = max(best, rows / took), spent + took
    return best


def _discriminant() -> OnlineLDC:
    return OnlineLDC(rate=0.001, counts="soft")


def _at_once(model: Any, X: NDArray[np.float64], y: NDArray[np.int64]) -> int:
    model.predict_then_learn(X, y)
    return len(X)


def _chunks(model: Any, X: NDArray[np.float64], y: NDArray[np.int64]) -> int:
    for start in range(0, len(X), 1000):
        model.predict_then_learn(X[start : start + 1000], y[start : start + 1000])
    return len(X)


def _rows(model: Any, rows: Any, y: NDArray[np.int64]) -> int:
    for row, label in zip(rows, y[: len(rows)].tolist(), strict=True):
        model.predict_one(row)
        model.learn_one(row, label)
    return len(rows)


def _partial_fits(X: NDArray[np.float64], y: NDArray[np.int64]) -> int:
    model = SGDClassifier(random_state=0).partial_fit(X[:1], y[:1], classes=[0, 1])
    for at in range(len(X)):
        model.predict(X[at : at + 1])
        model.partial_fit(X[at : at + 1], y[at : at + 1])
    return len(X)
