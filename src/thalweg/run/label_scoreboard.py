"""Scores of a run that predicts labels: confusion matrices, how far its confidence is founded, and prediction sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.layout import OF_CONFUSION
from thalweg.evaluate.metrics import LABELS, Rows
from thalweg.run.scoreboard import LowestCoverage, Scoreboard
from thalweg.saved import Saved

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

PREDICTORS = ("model", "no_change", "majority")
_BINS = 10
#: Rows of the blocks of which the lowest coverage of sets is kept.
_BLOCK = 2000


class LabelScoreboard(Scoreboard):
    """Labels are numbers from 1; 0 is no prediction."""

    _saved = (*Scoreboard._saved, "confusion", "bins")

    def __init__(self) -> None:
        super().__init__(LABELS, PREDICTORS, {"error": "mistake"}, besides=OF_CONFUSION)
        #: Truth by prediction, by their numbers, for each predictor.
        self.confusion = np.zeros((3, 1, 1), dtype=np.int64)
        self.bins = np.zeros((3, _BINS))  # rows, sum of confidence, right predictions

    def add_labels(
        self,
        truth: Codes,
        predictions: Mapping[str, Codes],
        positive: int,
        of_truth: Floats | None,
        of_prediction: Floats | None,
        squared: Floats | None,
    ) -> tuple[NDArray[np.bool_], Rows]:
        """Take in rows whose labels have come, in that order; the mistakes among the predicted ones, and these rows."""
        predicted = predictions["model"] > 0
        unpredicted = int((~predicted).sum())
        if unpredicted:
            truth, predictions = truth[predicted], {name: given[predicted] for name, given in predictions.items()}
            of_truth, of_prediction, squared = (
                None if areas is None else areas[predicted] for areas in (of_truth, of_prediction, squared)
            )
        if of_truth is None or squared is None:
            of_truth = squared = np.full(len(truth), np.nan)
        rows = Rows(truth, predictions, of_truth, squared, positive=positive or -1)
        wrong = self.add(rows, unpredicted)[:, 0] > 0
        if len(truth):
            self._count(truth, predictions)
        if of_prediction is not None:
            known = ~np.isnan(of_prediction)
            confidence, right = of_prediction[known], ~wrong[known]
            where = np.minimum((confidence * _BINS).astype(np.int64), _BINS - 1)
            self.bins[0] += np.bincount(where, minlength=_BINS)
            np.add.at(self.bins[1], where, confidence)
            self.bins[2] += np.bincount(where[right], minlength=_BINS)
        return wrong, rows

    def _count(self, truth: Codes, predictions: Mapping[str, Codes]) -> None:
        classes, more = self.confusion.shape[1], 1 + max(int(codes.max()) for codes in (truth, *predictions.values()))
        if more > classes:
            self.confusion = np.pad(self.confusion, [(0, 0), (0, more - classes), (0, more - classes)])
            classes = more
        for i, name in enumerate(self.predictors):
            pairs = np.bincount(truth * classes + predictions[name], minlength=classes * classes)
            self.confusion[i] += pairs.reshape(classes, classes)

    @property
    def with_proba(self) -> bool:
        """Whether rows were predicted with probabilities: all after the first label are, if the model has any."""
        return bool(self.bins[0].any())

    def confusions(self, labels: int) -> dict[str, NDArray[np.int64]]:
        """By predictor, of so many labels; the last column holds rows without a prediction."""
        unseen = labels + 1 - self.confusion.shape[1]
        counts = np.pad(self.confusion, [(0, 0), (0, unseen), (0, unseen)])
        return {
            name: np.column_stack([count[1:, 1:], count[1:, 0]])
            for name, count in zip(self.predictors, counts, strict=True)
        }

    def calibration(self) -> dict[str, Any] | None:
        """How often the predictions were right, by how sure the model was of them."""
        if not self.with_proba:
            return None
        rows, confidence, right = self.bins
        shares = [(c / n, r / n) if n else (None, None) for n, c, r in zip(rows, confidence, right, strict=True)]
        return {
            "edges": [i / _BINS for i in range(_BINS + 1)],
            "rows": [int(n) for n in rows],
            "confidence": [c for c, _ in shares],
            "accuracy": [r for _, r in shares],
        }


class SetScoreboard(Saved):
    """How often prediction sets hold the true label, over all rows and over the worst block of them.

    Examples
    --------
    >>> board = SetScoreboard(0.9)
    >>> board.add(np.array([1.0, 0.0, np.nan]), np.array([1.0, 0.0, np.nan]))
    >>> metrics = board.metrics()
    >>> metrics["rows"], metrics["coverage"], metrics["mean_size"], metrics["empty"]
    (2, 0.5, 0.5, 0.5)
    """

    _saved = ("_all", "_lowest")

    def __init__(self, asked: float) -> None:
        self.asked = asked
        #: Rows, rows whose set holds the label, labels in sets, empty sets.
        self._all = [0, 0, 0, 0]
        self._lowest = LowestCoverage(_BLOCK)

    def add(self, held: NDArray[np.float64], size: NDArray[np.float64]) -> None:
        """Take in rows whose labels have come; NaN for those that were not predicted."""
        known = ~np.isnan(size)
        held, size = held[known], size[known]
        counts = (len(held), int(held.sum()), int(size.sum()), int((size == 0).sum()))
        self._lowest.add(held)
        self._all = [before + more for before, more in zip(self._all, counts, strict=True)]

    def metrics(self) -> dict[str, Any]:
        rows, held, labels, empty = self._all
        return {
            "asked": self.asked,
            "rows": rows,
            "coverage": held / rows if rows else None,
            "mean_size": labels / rows if rows else None,
            "empty": empty / rows if rows else None,
            "lowest": self._lowest.metrics(),
            "block_rows": _BLOCK,
        }
