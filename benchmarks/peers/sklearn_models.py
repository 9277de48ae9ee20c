"""scikit-learn: gradient descent row by row and in batches, and a discriminant fitted anew to the last rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Contestant, Run
from benchmarks.operations import PREDICT_THEN_LEARN, one_by_one, predict_then_learn
from benchmarks.rows import Rows

BATCH, WINDOW = 100, 200


def contestants(rows: Rows) -> Iterator[Contestant]:
    """In all three ways."""
    tables = [row.reshape(1, -1) for row in rows.arrays]
    yield from one_by_one("scikit-learn SGDClassifier", RowByRow, tables, rows.labels)
    yield in_batches(rows)
    yield _refitted(rows)


class RowByRow:
    """scikit-learn has no methods for single rows."""

    def __init__(self) -> None:
        from sklearn.linear_model import SGDClassifier

        self._model = SGDClassifier()
        self._known = False

    def learn_one(self, x: Any, y: bool) -> None:
        if self._known:
            self._model.partial_fit(x, [y])
        else:
            self._model.partial_fit(x, [y], classes=[False, True])
            self._known = True

    def predict_one(self, x: Any) -> Any:
        return self._model.predict(x)[0] if self._known else None


class Refitted:
    """The textbook's answer to drift: LDA on the last rows, fitted again after each."""

    def __init__(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        self._rows, self._labels = deque(X, maxlen=len(X)), deque(y.tolist(), maxlen=len(y))
        self._model = LinearDiscriminantAnalysis().fit(X, y)

    def learn_one(self, x: Any, y: int) -> None:
        self._rows.append(x)
        self._labels.append(y)
        self._model.fit(np.array(self._rows), self._labels)

    def predict_one(self, x: Any) -> Any:
        return self._model.predict(x.reshape(1, -1))[0]


def in_batches(rows: Rows) -> Contestant:
    """As it is made for: its compiled loop over many rows."""
    from sklearn.linear_model import SGDClassifier

    def prepare(count: int) -> Run:
        model = SGDClassifier().partial_fit(rows.X[:BATCH], rows.y[:BATCH], classes=[0, 1])

        def run() -> None:
            for start in range(0, count, BATCH):
                X, y = rows.X[start : min(start + BATCH, count)], rows.y[start : min(start + BATCH, count)]
                model.predict(X)
                model.partial_fit(X, y)

        return run

    return Contestant(PREDICT_THEN_LEARN, f"scikit-learn SGDClassifier, {BATCH} rows at a time", prepare, len(rows))


def _refitted(rows: Rows) -> Contestant:
    X, y = rows.X[WINDOW:], rows.y[WINDOW:].tolist()

    def prepare(count: int) -> Run:
        model = Refitted(rows.X[:WINDOW], rows.y[:WINDOW])
        return lambda: predict_then_learn(model, X[:count], y[:count])

    return Contestant(PREDICT_THEN_LEARN, f"scikit-learn LDA of the last {WINDOW} rows", prepare, len(y))
