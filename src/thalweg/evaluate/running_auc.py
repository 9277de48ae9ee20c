"""The areas under the ROC and the precision-recall curve of a stream of scores (prequential AUC).

Over the last rows and fading, they are compiled and exact: ``kernels/evaluate/running_auc.hpp``. Over all rows they
would need all scores. There, probabilities are rounded to 1/64 of their log-odds, and the counts are exact.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.averages import Average, Cumulative, Windowed
from thalweg.evaluate.record import Flags, Floats
from thalweg.kernels import compiled
from thalweg.saved import Saved

#: Bins of a unit of log-odds, and the largest log-odds that are distinguished: doubles near 1 end at 37.
_OF_A_UNIT, _LARGEST = 64, 40


class RunningAuc(Protocol):
    """Takes scores with their truth, and at any time gives both areas."""

    def push(self, scores: Floats, positive: Flags) -> None:
        """Add rows, the newest last."""

    def roc_auc(self) -> float:
        """The share of pairs of a positive and a negative that are in the right order, ties counting one half.

        NaN without a positive or without a negative.
        """

    def average_precision(self) -> float:
        """The mean precision over the positives, each at its own score; NaN without a positive."""


def running_auc(average: Average) -> RunningAuc:
    """An empty one, over the rows that the average takes.

    Examples
    --------
    >>> from thalweg.evaluate import Windowed
    >>> auc = running_auc(Windowed(3))
    >>> auc.push(np.array([0.9, 0.2, 0.4, 0.3]), np.array([False, False, True, False]))
    >>> auc.roc_auc(), auc.average_precision()
    (1.0, 1.0)
    """
    if isinstance(average, Cumulative):
        return BinnedAuc()
    if isinstance(average, Windowed):
        return compiled.RecentAuc(rows=average.rows)
    return compiled.RecentAuc(factor=average.factor)


class BinnedAuc(Saved):
    """Both areas over all rows, in constant memory: probabilities in one bin of log-odds count as ties.

    Examples
    --------
    >>> auc = BinnedAuc()
    >>> auc.push(np.array([0.9, 0.2, 0.4]), np.array([True, False, True]))
    >>> auc.roc_auc(), auc.average_precision()
    (1.0, 1.0)
    """

    _saved = ("counts",)

    def __init__(self) -> None:
        #: Negatives and positives, by bin.
        self.counts = np.zeros((2, 2 * _LARGEST * _OF_A_UNIT + 1), dtype=np.int64)

    def push(self, scores: Floats, positive: Flags) -> None:
        bins = log_odds_bins(scores)
        for at, rows in enumerate((~positive, positive)):
            self.counts[at] += np.bincount(bins[rows], minlength=self.counts.shape[1])

    def roc_auc(self) -> float:
        negatives, positives = self.counts
        below = np.cumsum(negatives) - negatives
        pairs = int(positives.sum()) * int(negatives.sum())
        return float((positives * (2 * below + negatives)).sum()) / (2 * pairs) if pairs else math.nan

    def average_precision(self) -> float:
        negatives, positives = self.counts[:, ::-1]
        found, alarms = np.cumsum(positives), np.cumsum(positives + negatives)
        held = positives > 0
        return float((positives[held] * (found[held] / alarms[held])).sum() / found[-1]) if found[-1] else math.nan


def log_odds_bins(probabilities: Floats) -> NDArray[np.int64]:
    """The bin of each probability, in the order of their sizes; one bin each for 0 and for 1."""
    inside = np.clip(probabilities, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        log_odds = np.log(inside) - np.log1p(-inside)
    bins = np.floor(np.clip(log_odds, -_LARGEST, _LARGEST) * _OF_A_UNIT).astype(np.int64)
    return np.asarray(bins + _LARGEST * _OF_A_UNIT)
