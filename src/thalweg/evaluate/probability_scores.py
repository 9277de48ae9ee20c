"""How good the probability of one class is: whether it ranks the rows, and whether it comes true.

The areas under the ROC and the precision-recall curve of a stream (prequential AUC) are compiled and exact over the
last rows and fading: ``kernels/evaluate/running_auc.hpp``. Over all rows they would need all scores. There,
probabilities are rounded to 1/64 of their log-odds, and the counts are exact. Reliability is how often the class came,
by what was said of it.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
        hits, alarms = np.cumsum(positives), np.cumsum(positives + negatives)
        held = positives > 0
        return float((positives[held] * (hits[held] / alarms[held])).sum() / hits[-1]) if hits[-1] else math.nan


def log_odds_bins(probabilities: Floats) -> NDArray[np.int64]:
    """The bin of each probability, in the order of their sizes; one bin each for 0 and for 1."""
    inside = np.clip(probabilities, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        log_odds = np.log(inside) - np.log1p(-inside)
    bins = np.floor(np.clip(log_odds, -_LARGEST, _LARGEST) * _OF_A_UNIT).astype(np.int64)
    return np.asarray(bins + _LARGEST * _OF_A_UNIT)


#: Ends of the bins: narrow ones near 0, where nearly all probabilities of a rare class lie.
EDGES = np.array([0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
BINS = len(EDGES) - 1


class Reliability(NamedTuple):
    """The reliability curve of P(class), by bins of it, and its expected error.

    Attributes
    ----------
    probability, observed : arrays
        By bin, the mean probability, and the share of rows that were of the class; NaN in a bin without rows.
    rows : array
        The share of the rows in each bin.
    expected_error : float
        The expected calibration error (ECE): the mean of abs(probability - observed), weighted by the rows.

    Examples
    --------
    >>> curve = reliability_of(np.stack([[4.0, 2.0], [0.4, 1.8], [0.0, 2.0]]))
    >>> curve.probability.tolist(), curve.observed.tolist(), round(curve.expected_error, 3)
    ([0.1, 0.9], [0.0, 1.0], 0.1)
    """

    probability: Floats
    observed: Floats
    rows: Floats
    expected_error: float


def bins_of(probability: Floats) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """The bin of each probability; an edge belongs to the bin below it."""
    return np.searchsorted(EDGES[1:-1], probability)


def bin_statistics(probability: Floats, positive: Flags) -> Floats:
    """One row of additive numbers for each: by bin, whether it is in it, its probability there, and its truth there."""
    block = np.zeros((len(probability), 3 * BINS))
    rows, bins = np.arange(len(probability)), bins_of(probability)
    block[rows, bins] = 1.0
    block[rows, BINS + bins] = probability
    block[rows, 2 * BINS + bins] = positive
    return block


def reliability_of(sums: ArrayLike) -> Reliability:
    """The curve from sums or averages by bin: of rows, of probabilities and of positives, a line each."""
    rows, said, came = np.asarray(sums, dtype=np.float64)
    held = rows > 0
    total = float(rows.sum())
    probability, observed = (
        np.divide(values, rows, out=np.full(len(rows), np.nan), where=held) for values in (said, came)
    )
    expected = float(np.abs(said - came)[held].sum()) / total if total else math.nan
    return Reliability(probability, observed, rows / total if total else rows, expected)
