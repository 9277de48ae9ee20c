"""Scores by class from a confusion matrix, and the matrix itself in constant memory, by any average.

Rows of a matrix are the truth, columns the predictions; counts and shares give the same scores. A further column holds
predictions that are none of the classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.errors import InvalidParameter
from thalweg.evaluate.averages import Average, Cumulative, Floats, Windowed


def precision(confusion: ArrayLike) -> Floats:
    """Of the rows predicted as each class, the share that belong to it; NaN for a class that was never predicted.

    Examples
    --------
    >>> precision([[90, 5], [2, 3]]).round(3).tolist()
    [0.978, 0.375]
    """
    right, _, predicted = _margins(confusion)
    return _divided(right, predicted)


def recall(confusion: ArrayLike) -> Floats:
    """Of the rows of each class, the share that was predicted as such; NaN for a class without rows.

    Examples
    --------
    >>> recall([[90, 5], [2, 3]]).round(3).tolist()
    [0.947, 0.6]
    """
    right, true, _ = _margins(confusion)
    return _divided(right, true)


def f1(confusion: ArrayLike) -> Floats:
    """The harmonic mean of precision and recall by class; NaN for a class without rows that was never predicted.

    Examples
    --------
    >>> f1([[90, 5], [2, 3]]).round(3).tolist()
    [0.963, 0.462]
    """
    right, true, predicted = _margins(confusion)
    return _divided(2.0 * right, true + predicted)


def balanced_accuracy(confusion: ArrayLike) -> float:
    """The mean recall over the classes that have rows.

    Examples
    --------
    >>> round(balanced_accuracy([[90, 5], [2, 3]]), 3)
    0.774
    """
    recalls = recall(confusion)
    return float(np.nanmean(recalls)) if not np.isnan(recalls).all() else math.nan


def g_mean(confusion: ArrayLike) -> float:
    """The geometric mean of the recalls over the classes that have rows: 0 where one of them is never found.

    Examples
    --------
    >>> round(g_mean([[90, 5], [2, 3]]), 3)
    0.754
    """
    recalls = recall(confusion)
    recalls = recalls[~np.isnan(recalls)]
    return float(np.prod(recalls) ** (1.0 / len(recalls))) if len(recalls) else math.nan


def matthews(confusion: ArrayLike) -> float:
    """Matthews' correlation of truth and prediction, from -1 to 1; 0 where either is always the same.

    J. Gorodkin, "Comparing two K-category assignments by a K-category correlation coefficient", Computational Biology
    and Chemistry 28, 2004.

    Examples
    --------
    >>> round(matthews([[90, 5], [2, 3]]), 3)
    0.44
    """
    right, true, predicted = _margins(confusion)
    rows = float(true.sum())
    elsewhere = rows - float(predicted.sum())  # predictions that are none of the classes
    agreed = rows * float(right.sum()) - float(true @ predicted)
    spread_true = rows * rows - float(true @ true)
    spread_predicted = rows * rows - float(predicted @ predicted) - elsewhere * elsewhere
    spread = spread_true * spread_predicted
    return agreed / math.sqrt(spread) if spread > 1e-24 * rows**4 else 0.0


def cost(confusion: ArrayLike, costs: ArrayLike) -> float:
    """The mean cost of a row, ``costs[truth, prediction]`` being that of each pair.

    A prediction that is none of the classes costs as much as the dearest one.

    Examples
    --------
    >>> cost([[90, 5], [2, 3]], [[0, 1], [50, 0]])
    1.05
    """
    counts, prices = np.asarray(confusion, dtype=np.float64), np.asarray(costs, dtype=np.float64)
    if counts.shape[1] > len(counts):
        prices = np.column_stack([prices, prices.max(axis=1)])
    total = float(counts.sum())
    return float((counts * prices).sum()) / total if total else math.nan


def kappa(confusion: ArrayLike) -> float:
    """Cohen's kappa: 1 is perfect, 0 is chance agreement at the same class shares.

    NaN while truth and predictions are all of one class.

    Examples
    --------
    >>> kappa([[1, 0], [1, 2]])
    0.5
    """
    right, true, predicted = _margins(confusion)
    rows = float(true.sum())
    chance = 1.0 - float(true @ predicted) / (rows * rows)
    mistake = 1.0 - float(right.sum()) / rows
    # Shares are rounded averages, so that zero may be off by some bits.
    return 1.0 - mistake / chance if chance > 1e-12 else math.nan


def macro(score: Callable[[ArrayLike], Floats], confusion: ArrayLike) -> float:
    """The mean of a score over the classes that have rows; what is not known, as precision without a prediction, is 0.

    Examples
    --------
    >>> round(macro(f1, [[90, 5], [2, 3]]), 3)
    0.712
    """
    held = np.asarray(confusion).sum(axis=1) > 0
    return float(np.nan_to_num(score(confusion)[held]).mean()) if held.any() else math.nan


def _margins(confusion: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Rows of each class that were predicted rightly, all of its rows, and all predictions of it."""
    counts = np.asarray(confusion, dtype=np.float64)
    square = counts[:, : len(counts)]
    return np.diagonal(square), counts.sum(axis=1), square.sum(axis=0)


def _divided(values: Floats, by: Floats) -> Floats:
    return np.asarray(np.divide(values, by, out=np.full(len(values), np.nan), where=by > 0))


#: What each pair of truth and prediction costs: a matrix, or the costs of a false positive and of a false negative.
Costs = Mapping[str, float] | ArrayLike


def cost_matrix(costs: Costs, classes: int, positive: int | None, owner: str) -> Floats:
    """The costs as a matrix; ``fp`` and ``fn`` need a positive class, the place of which is given.

    Examples
    --------
    >>> cost_matrix({"fp": 1, "fn": 50}, classes=2, positive=1, owner="summarise_rare").tolist()
    [[0.0, 1.0], [50.0, 0.0]]
    """
    rule = f"be numbers fp= and fn= of at least 0 with a positive class, or such a matrix of {classes} by {classes}"
    matrix = np.zeros((classes, classes))
    if isinstance(costs, Mapping):
        if positive is None or not set(costs) <= {"fp", "fn"}:
            raise InvalidParameter.of(owner, "costs", rule, costs)
        matrix[:, positive], matrix[positive] = costs.get("fp", 0.0), costs.get("fn", 0.0)
        matrix[positive, positive] = 0.0
    else:
        try:
            matrix = np.array(costs, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidParameter.of(owner, "costs", rule, costs) from None
    if matrix.shape != (classes, classes) or not (np.isfinite(matrix) & (matrix >= 0.0)).all():
        raise InvalidParameter.of(owner, "costs", rule, costs)
    return matrix


class RunningConfusion:
    """The confusion matrix of a stream, in shares, over all rows, over the last ones, or fading.

    Examples
    --------
    >>> from thalweg.evaluate import Windowed
    >>> running = RunningConfusion(Windowed(2), classes=2)
    >>> running.push(np.array([0, 0, 1]), np.array([0, 1, 1]))
    >>> running.shares().tolist()  # the last column: predictions that are no class
    [[0.0, 0.5, 0.0], [0.0, 0.5, 0.0]]
    """

    def __init__(self, average: Average, classes: int) -> None:
        self._classes = classes
        cells = classes * (classes + 1)
        self._counts: _CumulativeCounts
        if isinstance(average, Cumulative):
            self._counts = _CumulativeCounts(cells)
        elif isinstance(average, Windowed):
            self._counts = _WindowedCounts(average.rows, cells)
        else:
            self._counts = _FadingCounts(average.factor, cells)

    def push(self, truth: NDArray[np.int64], predictions: NDArray[np.int64]) -> None:
        """Add rows, -1 standing for a prediction that is no class."""
        self._counts.push(truth * (self._classes + 1) + predictions % (self._classes + 1))

    def shares(self) -> Floats:
        """The share of the rows in each cell; there must have been a row."""
        counts = self._counts.counts.astype(np.float64)
        return np.asarray(counts / counts.sum()).reshape(self._classes, -1)


class _CumulativeCounts:
    def __init__(self, size: int) -> None:
        self.counts: NDArray[Any] = np.zeros(size, dtype=np.int64)

    def push(self, codes: NDArray[np.int64]) -> None:
        self.counts += np.bincount(codes, minlength=len(self.counts))


class _WindowedCounts(_CumulativeCounts):
    def __init__(self, rows: int, size: int) -> None:
        super().__init__(size)
        self._rows, self._last = rows, np.empty(0, dtype=np.int64)

    def push(self, codes: NDArray[np.int64]) -> None:
        self._last = np.concatenate([self._last, codes])[-self._rows :]
        self.counts = np.bincount(self._last, minlength=len(self.counts))


class _FadingCounts(_CumulativeCounts):
    """New rows get growing weights, which are scaled back after so many rows, wherever chunks are cut."""

    def __init__(self, factor: float, size: int) -> None:
        self._factor = factor
        self.counts = np.zeros(size)
        self._rows, self._block = 0, max(1, int(200.0 / -math.log(factor)))

    def push(self, codes: NDArray[np.int64]) -> None:
        while len(codes):
            done = self._rows % self._block
            these, codes = codes[: self._block - done], codes[self._block - done :]
            np.add.at(self.counts, these, self._factor ** -np.arange(done, done + len(these), dtype=np.float64))
            self._rows += len(these)
            if self._rows % self._block == 0:
                self.counts *= self._factor**self._block
