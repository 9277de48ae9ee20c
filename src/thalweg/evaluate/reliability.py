"""Whether the probability of one class can be trusted: how often the class came, by what was said of it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from thalweg.evaluate.record import Flags, Floats

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
