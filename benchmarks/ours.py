"""Our contestants: the whole stream in one compiled call, and row by row."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Contestant, Run
from benchmarks.operations import PREDICT_THEN_LEARN, one_by_one
from benchmarks.rows import Rows
from thalweg import OnlineLDC, Perceptron

#: With hard counts, rate 1/2 is the batch estimate of all rows so far.
RATE = 0.5


class Started(NamedTuple):
    """A discriminant fitted to the first rows, and the rows after them."""

    model: OnlineLDC
    X: NDArray[np.float64]
    y: NDArray[np.int64]


def ours(rows: Rows) -> Iterator[Contestant]:
    """OnlineLDC and Perceptron at all that is done with rows."""
    makers: tuple[Callable[[], OnlineLDC | Perceptron], ...] = (online_ldc, lambda: Perceptron(rate=RATE))
    for make in makers:
        name = type(make()).__name__
        yield in_one_call(f"{name}.predict_then_learn", make, rows)
        yield from one_by_one(f"{name}, dict rows", make, rows.dicts, rows.labels, side="ours")
        yield from one_by_one(f"{name}, array rows", make, rows.arrays, rows.labels, side="ours")


def online_ldc() -> OnlineLDC:
    """With hard counts."""
    return OnlineLDC(rate=RATE, counts="hard")


def started(rows: Rows) -> Started:
    """Fitted to enough rows for a covariance that has an inverse: where ours begins with it, so can others."""
    first = 3 * rows.features + 20
    return Started(online_ldc().fit(rows.X[:first], rows.y[:first]), rows.X[first:], rows.y[first:])


def in_one_call(name: str, make: Callable[[], Any], rows: Rows) -> Contestant:
    """All rows by `predict_then_learn`, from the first."""

    def prepare(count: int) -> Run:
        model, X, y = make(), rows.X[:count], rows.y[:count]
        return lambda: model.predict_then_learn(X, y)

    return Contestant(PREDICT_THEN_LEARN, name, prepare, len(rows), "ours")


def from_there(start: Started, name: str = "OnlineLDC.predict_then_learn") -> Contestant:
    """What comes after the start, in one call."""

    def prepare(count: int) -> Run:
        model = copy.deepcopy(start.model)
        return lambda: model.predict_then_learn(start.X[:count], start.y[:count])

    return Contestant(PREDICT_THEN_LEARN, name, prepare, len(start.y), "ours")
