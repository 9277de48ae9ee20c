"""By what rows are preferred: how uncertain their predictions are, how likely the label of interest, how unusual."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.saved import Saved

Floats = NDArray[np.float64]


class Worth(NamedTuple):
    """Of each row how uncertain its prediction is, the probability of the label of interest, and the row itself."""

    uncertainty: Floats
    positive: Floats
    #: None where rows are sparse.
    X: Floats | None

    @classmethod
    def of(cls, model: Any, X: Any, positive: Any = None) -> Worth:
        """By margins, or the width of an interval; alike where nothing is known."""
        if not model.__sklearn_is_fitted__():
            return cls.unknown(X.shape[0], X)
        if hasattr(model, "predict_interval"):
            lower, upper = model.predict_interval(X)
            width = np.nan_to_num(upper - lower, nan=0.0)
            return cls(width if width.ndim == 1 else width.sum(axis=1), np.zeros(len(width)), dense(X))
        if hasattr(model, "predict_proba"):
            scores = model.predict_proba(X)
        elif hasattr(model, "decision_function"):
            scores = model.decision_function(X)
            scores = np.stack([np.zeros(len(scores)), scores], axis=1) if scores.ndim == 1 else scores
        else:
            return cls.unknown(X.shape[0], X)
        return cls.of_scores(scores, [str(label) for label in getattr(model, "classes_", ())], X, positive)

    @classmethod
    def of_scores(cls, scores: Floats, labels: list[str], X: Any, positive: Any = None) -> Worth:
        """By the probabilities of these labels, or other scores."""
        if scores.shape[1] < 2:
            return cls.unknown(len(scores), X)
        best = np.partition(scores, -2, axis=1)[:, -2:]
        at = labels.index(str(positive)) if str(positive) in labels else None
        return cls(best[:, 0] - best[:, 1], np.zeros(len(scores)) if at is None else scores[:, at].copy(), dense(X))

    @classmethod
    def unknown(cls, rows: int, X: Any) -> Worth:
        """Of rows of whose predictions nothing is known."""
        return cls(np.zeros(rows), np.zeros(rows), dense(X))


def dense(X: Any) -> Floats | None:
    """The rows where they are dense."""
    return X if isinstance(X, np.ndarray) else None


class CheckedRows(Saved):
    """Mean and variance of the last thousand rows that were asked for, and how far another row is from them.

    A feature adds at most 1 to the distance, so that one far value is not everything.
    """

    _saved: ClassVar[tuple[str, ...]] = ("rows", "_mean", "_squares")
    _KEPT = 0.999

    def __init__(self) -> None:
        #: How many rows count.
        self.rows = 0.0
        self._mean, self._squares = np.zeros(0), np.zeros(0)

    def distance(self, row: Floats) -> float:
        """0 for a row like their mean, or while there are none."""
        if row.shape != self._mean.shape:
            return 0.0
        squares = (row - self._mean) ** 2
        total = squares + self._squares
        return float((squares[total > 0] / total[total > 0]).sum())

    def add(self, row: Floats) -> None:
        """Take in a row; all begins anew where the features have changed."""
        if not np.isfinite(row).all():
            return
        if row.shape != self._mean.shape:
            self.rows, self._mean, self._squares = 0.0, np.zeros(len(row)), np.zeros(len(row))
        self.rows = self._KEPT * self.rows + 1.0
        away = row - self._mean
        self._mean = self._mean + away / self.rows
        self._squares = self._KEPT * self._squares + away * (row - self._mean)
