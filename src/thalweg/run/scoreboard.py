"""Scores of a run in constant memory, for any number of classes, with an interval for the error from block means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from thalweg.evaluate.averages import FadingMean, HistoryPoints, WindowedMean
from thalweg.evaluate.confusion import kappa
from thalweg.evaluate.metrics import gain_over, surprise

_MOST_BLOCKS = 64
_LEAST_BLOCKS = 10
LEVEL = 0.95


Floats = NDArray[np.float64]


class BlockMeans:
    """Sums of consecutive blocks of equal length; when there are too many, neighbours are joined."""

    def __init__(self) -> None:
        self.length = 1
        self.sums: list[float] = []
        #: Whole while all values are.
        self._open: float = 0
        self._all: float = 0
        self._open_rows = self._rows = 0

    def add(self, values: NDArray[Any]) -> None:
        self._all = add_in_order(self._all, values)
        self._rows += len(values)
        while len(values):
            take = min(self.length - self._open_rows, len(values))
            self._open = add_in_order(self._open, values[:take])
            self._open_rows += take
            values = values[take:]
            if self._open_rows == self.length:
                self.sums.append(self._open)
                self._open, self._open_rows = 0, 0
                if len(self.sums) == _MOST_BLOCKS:
                    self.sums = [a + b for a, b in zip(self.sums[::2], self.sums[1::2], strict=True)]
                    self.length *= 2

    @property
    def rows(self) -> int:
        return self._rows

    @property
    def mean(self) -> float | None:
        """The mean of all rows."""
        return self._all / self._rows if self._rows else None

    def interval(self, least: float = -math.inf) -> dict[str, Any]:
        """The mean with Student's interval over the blocks; None while there are too few of them."""
        return student_interval(self.mean, np.array(self.sums) / self.length, self.length, least)

    def state(self) -> dict[str, Any]:
        return {
            "length": self.length,
            "sums": self.sums,
            "open": [self._open, self._open_rows],
            "all": [self._all, self._rows],
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.length, self.sums = int(state["length"]), list(state["sums"])
        self._open, self._open_rows = state["open"]
        self._all, self._rows = state["all"]


def student_interval(
    difference: float | None, means: Floats, block_rows: int, least: float = -math.inf
) -> dict[str, Any]:
    """A difference with Student's interval from the means of blocks; no ends while there are too few of them.

    ``least`` is the lowest difference there can be: less a baseline's error, as no error is below 0.
    """
    found: dict[str, Any] = {
        "difference": difference,
        "low": None,
        "high": None,
        "level": LEVEL,
        "blocks": len(means),
        "block_rows": block_rows,
    }
    if difference is not None and len(means) >= _LEAST_BLOCKS:
        half = float(stdtrit(len(means) - 1, (1 + LEVEL) / 2) * means.std(ddof=1)) / math.sqrt(len(means))
        found |= {"low": max(difference - half, least), "high": difference + half}
    return found


Flags = NDArray[np.bool_]

PREDICTORS = ("model", "no_change", "majority")
WINDOW = 1000
FADE = 0.999
#: Points of the curve, at the most.
MOST_POINTS = 600
_BINS = 10


class Scoreboard:
    def __init__(self) -> None:
        #: Rows that are scored, and those before them that came before any label: they have no prediction.
        self.rows = self.unpredicted = 0
        self.mistakes = np.zeros(3, dtype=np.int64)
        #: Truth by prediction, by their numbers, for each predictor; 0 stands for none.
        self.confusion = np.zeros((3, 1, 1), dtype=np.int64)
        self.surprise = self.squared = 0.0
        #: Rows that were predicted with a probability: all after the first label, if the model has any.
        self.with_proba = 0
        self.bins = np.zeros((3, _BINS))  # rows, sum of confidence, right predictions
        #: After so many rows, the windowed and then the fading errors of all three.
        self.history = HistoryPoints[list[float]](MOST_POINTS)
        self.blocks = {name: BlockMeans() for name in PREDICTORS[1:]}
        self._recent, self._fading = WindowedMean(WINDOW, 3), FadingMean(FADE, 3)

    def add(
        self,
        truth: NDArray[np.int64],
        predictions: dict[str, NDArray[np.int64]],
        of_truth: Floats | None,
        of_prediction: Floats | None,
        squared: Floats | None,
    ) -> NDArray[np.bool_]:
        """Take in rows whose labels have come, in that order; the mistakes among the predicted ones are given back."""
        predicted = predictions["model"] > 0
        if not predicted.all():
            self.unpredicted += int((~predicted).sum())
            truth, predictions = truth[predicted], {name: given[predicted] for name, given in predictions.items()}
            of_truth, of_prediction, squared = (
                None if each is None else each[predicted] for each in (of_truth, of_prediction, squared)
            )
        wrong = np.array([predictions[name] != truth for name in PREDICTORS])
        if len(truth) == 0:
            return np.asarray(wrong[0])
        self._count(truth, predictions)
        self._add_points(wrong.T)
        self.mistakes += wrong.sum(axis=1)
        self.rows += len(truth)
        for i, name in enumerate(PREDICTORS[1:], 1):
            self.blocks[name].add(wrong[0].astype(np.int64) - wrong[i])
        if of_truth is not None and of_prediction is not None and squared is not None:
            known = ~np.isnan(of_prediction)
            of_truth, of_prediction, squared, right = (
                of_truth[known],
                of_prediction[known],
                squared[known],
                ~wrong[0, known],
            )
            self.with_proba += len(of_prediction)
            self.surprise = add_in_order(self.surprise, surprise(of_truth))
            self.squared = add_in_order(self.squared, squared)
            where = np.minimum((of_prediction * _BINS).astype(np.int64), _BINS - 1)
            self.bins[0] += np.bincount(where, minlength=_BINS)
            np.add.at(self.bins[1], where, of_prediction)
            self.bins[2] += np.bincount(where[right], minlength=_BINS)
        return np.asarray(wrong[0])

    def _count(self, truth: NDArray[np.int64], predictions: dict[str, NDArray[np.int64]]) -> None:
        classes, more = self.confusion.shape[1], 1 + max(int(each.max()) for each in (truth, *predictions.values()))
        if more > classes:
            self.confusion = np.pad(self.confusion, [(0, 0), (0, more - classes), (0, more - classes)])
            classes = more
        for i, name in enumerate(PREDICTORS):
            pairs = np.bincount(truth * classes + predictions[name], minlength=classes * classes)
            self.confusion[i] += pairs.reshape(classes, classes)

    def _add_points(self, wrong: Flags) -> None:
        """Points of the curve that fall among these rows."""
        at = self.history.due_among(self.rows, len(wrong))
        points = (at + self.unpredicted + self.rows + 1)[:, np.newaxis].astype(np.float64)
        errors = self._recent.push_and_average(wrong, at), self._fading.push_and_average(wrong, at)
        for point in np.concatenate([points, *errors], axis=1).tolist():
            self.history.add(point)

    # ------------------------------------------------------------------ what it says

    def score(self, name: str) -> dict[str, Any]:
        """Error, kappa and the rest of one predictor; None where it is not known."""
        i = PREDICTORS.index(name)
        if self.rows == 0:
            return {"error": None, "recent": None, "kappa": None, "kappa_temporal": None}
        error, no_change = (float(self.mistakes[each] / self.rows) for each in (i, 1))
        found: dict[str, float | None] = {
            "error": error,
            "recent": float(self._recent.mean()[i]),
            "kappa": _known(kappa(self.confusion[i])),
            "kappa_temporal": _known(gain_over(error, no_change)),
        }
        if name == "model" and self.with_proba:
            found |= {"log_loss": self.surprise / self.with_proba, "brier": self.squared / self.with_proba}
        return found

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

    def curve(self) -> dict[str, Any]:
        points = self.history.points
        columns = list(zip(*points, strict=True)) if points else [()] * 7
        return {
            "rows": [int(row) for row in columns[0]],
            "window": WINDOW,
            "error": {name: list(columns[1 + i]) for i, name in enumerate(PREDICTORS)},
            "fade": FADE,
            "fading": {name: list(columns[4 + i]) for i, name in enumerate(PREDICTORS)},
        }

    # ------------------------------------------------------------------ checkpoints

    def state(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "unpredicted": self.unpredicted,
            "mistakes": self.mistakes.tolist(),
            "confusion": self.confusion.tolist(),
            "surprise": self.surprise,
            "squared": self.squared,
            "with_proba": self.with_proba,
            "bins": self.bins.tolist(),
            "every": self.history.every,
            "points": self.history.points,
            "blocks": {name: blocks.state() for name, blocks in self.blocks.items()},
            "last": self._recent.state(),
            "faded": self._fading.sums.tolist(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.rows, self.unpredicted = int(state["rows"]), int(state["unpredicted"])
        self.mistakes = np.array(state["mistakes"], dtype=np.int64)
        self.confusion = np.array(state["confusion"], dtype=np.int64)
        self.surprise, self.squared = float(state["surprise"]), float(state["squared"])
        self.with_proba, self.bins = int(state["with_proba"]), np.array(state["bins"])
        self.history.restore(state)
        for name, blocks in state["blocks"].items():
            self.blocks[name].restore(blocks)
        self._recent.restore(state["last"])
        self._fading.sums = np.array(state["faded"])


def add_in_order(total: float, values: NDArray[Any]) -> float:
    """One by one: numpy's own sum adds in pairs, which depends on where the rows are cut. Whole numbers stay whole."""
    if values.dtype.kind in "iu" and isinstance(total, int):
        return total + int(values.sum())
    found: float = np.cumsum(np.concatenate([[total], values]))[-1].item()
    return found


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
