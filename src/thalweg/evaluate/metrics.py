"""Metrics as functions of averages of additive row statistics.

Each row of a record becomes a few numbers (was it a mistake, the surprise at the truth, one-hot truth and
prediction, …). Any average of them, over all rows, the last or fading, gives the same metrics: error, log-loss,
Brier score, Cohen's kappa and kappa-temporal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from thalweg.evaluate.record import Codes, Floats, Record

#: What a probability of zero for the truth counts as: one infinite log-loss would end every average.
_LEAST_PROBABILITY = float(np.finfo(np.float64).eps)

_SCALARS = 5  # three mistakes, surprise, squared distance; then per class: truth and three predictions
_PER_CLASS = 4


@dataclass(frozen=True)
class Means:
    """Averages of the row statistics of one model, beside those of the no-change baseline.

    Attributes
    ----------
    mistake, no_change_mistake : float
        Shares of wrong predictions.
    surprise, squared_distance : float or None
        Means of -log p(truth), and of the squared distance between probabilities and the one-hot truth.
    truth, predicted : arrays
        Shares of each class among the labels, and among the predictions.

    Examples
    --------
    >>> shares = np.array([0.5, 0.5])
    >>> error(Means(0.25, 0.5, None, None, truth=shares, predicted=shares))
    0.25
    """

    mistake: float
    no_change_mistake: float
    surprise: float | None
    squared_distance: float | None
    truth: Floats
    predicted: Floats


def error(means: Means) -> float:
    """The share of wrong predictions.

    Examples
    --------
    >>> shares = np.array([0.5, 0.5])
    >>> error(Means(0.25, 0.5, None, None, truth=shares, predicted=shares))
    0.25
    """
    return means.mistake


def log_loss(means: Means) -> float | None:
    """The mean of -log p(truth), in nats; probabilities below 2.2e-16 count as that.

    Examples
    --------
    >>> shares = np.array([0.5, 0.5])
    >>> log_loss(Means(0.25, 0.5, surprise=0.7, squared_distance=0.4, truth=shares, predicted=shares))
    0.7
    """
    return means.surprise


def brier(means: Means) -> float | None:
    """The mean squared distance between the probabilities and the one-hot truth, from 0 to 2 (Brier 1950).

    Examples
    --------
    >>> shares = np.array([0.5, 0.5])
    >>> brier(Means(0.25, 0.5, surprise=0.7, squared_distance=0.4, truth=shares, predicted=shares))
    0.4
    """
    return means.squared_distance


def kappa(means: Means) -> float:
    """Cohen's kappa: 1 is perfect, 0 is chance agreement at the same class shares.

    NaN while truth and predictions are all of one class.

    Examples
    --------
    >>> shares = np.array([0.5, 0.5])
    >>> kappa(Means(0.25, 0.5, None, None, truth=shares, predicted=shares))
    0.5
    """
    chance = float((means.truth * means.predicted).sum())
    return gain_over(means.mistake, 1.0 - chance)


def kappa_temporal(means: Means) -> float:
    """Kappa-temporal, 1 - error / error of no-change: above 0 only if better than repeating the last label.

    NaN if neither errs, -inf if only no-change is perfect.

    Examples
    --------
    >>> shares = np.array([0.5, 0.5])
    >>> kappa_temporal(Means(0.25, 0.125, None, None, truth=shares, predicted=shares))
    -1.0
    """
    return gain_over(means.mistake, means.no_change_mistake)


def gain_over(mistake: float, reference: float) -> float:
    """One minus an error as a multiple of a reference's; NaN if neither errs, -inf if only the reference is perfect."""
    # Shares are rounded averages of zeros and ones, so a reference of "zero" may be off by some bits.
    if reference > 1e-12:
        return 1.0 - mistake / reference
    return math.nan if mistake <= 1e-12 else -math.inf


def surprise(of_truth: Floats) -> Floats:
    """-log p(truth) of each row, in nats."""
    return np.asarray(-np.log(np.maximum(of_truth, _LEAST_PROBABILITY)))


def row_statistics(record: Record) -> Floats:
    """One row of additive numbers per row of the record."""
    rows, classes = len(record), len(record.classes)
    block = np.zeros((rows, _SCALARS + _PER_CLASS * classes))
    block[:, 0] = record.mistakes
    block[:, 1] = record.no_change != record.y
    block[:, 2] = record.majority != record.y
    if record.proba is not None:
        of_truth = record.proba[np.arange(rows), record.y]
        block[:, 3] = surprise(of_truth)
        block[:, 4] = np.square(record.proba - _one_hot(record.y, classes)).sum(axis=1)
    for place, codes in enumerate((record.y, record.predictions, record.no_change, record.majority)):
        block[:, _SCALARS + place :: _PER_CLASS] = _one_hot(codes, classes)
    return block


def means_of(averages: Floats, *, with_proba: bool) -> tuple[Means, Means, Means]:
    """The averaged statistics of the model, of no-change and of majority."""
    mistake, no_change_mistake, majority_mistake, surprised, squared = averages[:_SCALARS].tolist()
    truth, predicted, no_change, majority = averages[_SCALARS:].reshape(-1, _PER_CLASS).T
    baseline = Means(no_change_mistake, no_change_mistake, None, None, truth, no_change)
    return (
        Means(
            mistake,
            no_change_mistake,
            surprised if with_proba else None,
            squared if with_proba else None,
            truth,
            predicted,
        ),
        baseline,
        replace(baseline, mistake=majority_mistake, predicted=majority),
    )


def _one_hot(codes: Codes, classes: int) -> Floats:
    return np.equal(codes[:, np.newaxis], np.arange(classes)).astype(np.float64)


def pinball_loss(above: Floats, quantile: float) -> Floats:
    """The loss of a predicted quantile of which the targets lie ``above`` by so much.

    Examples
    --------
    >>> pinball_loss(np.array([1.0, -1.0]), 0.9).tolist()
    [0.9, 0.09999999999999998]
    """
    return np.asarray(np.maximum(quantile * above, (quantile - 1.0) * above))
