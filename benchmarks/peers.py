"""The peers: River's linear models on dicts, scikit-learn's SGDClassifier row by row. One that is missing is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contest import Contestant, Unavailable
from operations import one_by_one
from rows import Rows


def river(rows: Rows) -> Iterator[Contestant]:
    """River's perceptron and logistic regression."""
    try:
        from river import linear_model
    except ImportError as error:
        raise Unavailable(f"River: {error}") from error
    for model in (linear_model.Perceptron, linear_model.LogisticRegression):
        yield from one_by_one(f"River {model.__name__}", model, rows.dicts, rows.labels, river=True)


def scikit_learn(rows: Rows) -> Iterator[Contestant]:
    """scikit-learn's stochastic gradient classifier, which has no methods for single rows."""
    tables = [row.reshape(1, -1) for row in rows.arrays]
    yield from one_by_one("scikit-learn SGDClassifier", _RowByRow, tables, rows.labels)


class _RowByRow:
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


PEERS = (river, scikit_learn)
