"""From discriminants to probabilities: the softmax, with all classes alike where nothing is known."""

from __future__ import annotations

import numpy as np

from thalweg.learners.rows import Floats


def posteriors(scores: Floats, confidence: float) -> Floats:
    """The probability of each class, a row of scores each; NaN stays NaN.

    Parameters
    ----------
    scores : ndarray of shape (rows, classes)
        Logarithms of densities times priors, up to a constant; minus infinity for a class that was never seen.
    confidence : float > 0
        How much the scores are to be believed; they are multiplied by it.

    Examples
    --------
    >>> import numpy as np
    >>> posteriors(np.array([[0.0, np.log(3.0)], [-np.inf, -np.inf]]), 1.0).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    # Class by class: with few classes, sums along short rows would cost eight times as much.
    by_class = np.ascontiguousarray(scores.T)
    largest = by_class.max(axis=0)
    unknown = np.isneginf(largest)
    if unknown.any():
        by_class = np.where(unknown, 0.0, by_class)
        largest[unknown] = 0.0
    shares = np.exp(confidence * (by_class - largest))
    shares /= shares.sum(axis=0)
    return np.ascontiguousarray(shares.T)
