"""The decision rule (5) for any number of classes: the class with the largest w_c p_c(x) + b_c.

With two classes, weights (1 - rho, rho) and biases (0, b) this is the paper's rho p_+ - (1 - rho) p_- + b > 0. Only
differences between biases matter, so they are shifted until the smallest is 0; then every side of the comparison is a
sum of positive terms, and can be compared by its logarithm however small it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.base.rows import Floats

#: A number is about the last class seen, in the order of the labels; several are one for each class.
OneOrEach: TypeAlias = float | Sequence[float]
Seen: TypeAlias = NDArray[np.bool_]


def plain(given: OneOrEach | Floats | None) -> OneOrEach | None:
    """A number, or a sequence of numbers for an array of them."""
    return tuple(np.atleast_1d(given).tolist()) if isinstance(given, np.ndarray) else given


def weights_from(rho: OneOrEach, seen: Seen) -> Floats:
    """The weight w_c of each class, adding up to 1 over the classes seen; 0 for the others.

    A number gives the last class seen the odds rho / (1 - rho) against every other one.

    Examples
    --------
    >>> weights_from(0.7, np.array([True, True])).round(3).tolist()
    [0.3, 0.7]
    >>> weights_from(0.7, np.array([True, False, True, True])).round(3).tolist()
    [0.231, 0.0, 0.231, 0.538]
    """
    places = np.flatnonzero(seen)
    weights = np.zeros(len(seen))
    if len(places) == 1:
        weights[places] = 1.0
    elif isinstance(rho, Sequence):
        weights[places] = np.asarray(rho, dtype=np.float64)[places]
    elif len(places):
        weights[places] = 1.0 - rho
        weights[places[-1]] = rho
    return np.asarray(weights / max(weights.sum(), np.finfo(float).tiny))


def weights_from_tuning(tuned: Floats, seen: Seen) -> Floats:
    """Tuned weights, with the mean of them for a class that came after the tuning and so is NaN."""
    weights = np.where(seen, tuned, 0.0)
    known = weights[seen & ~np.isnan(tuned)]
    weights[np.isnan(weights)] = known.mean() if len(known) else 1.0
    return np.asarray(weights / max(weights.sum(), np.finfo(float).tiny))


def biases_from(bias: OneOrEach, seen: Seen) -> Floats:
    """The bias b_c of each class; a number is that of the last class seen, if it has any other beside it."""
    places = np.flatnonzero(seen)
    biases = np.zeros(len(seen))
    if isinstance(bias, Sequence):
        biases[places] = np.asarray(bias, dtype=np.float64)[places]
    elif len(places) > 1:
        biases[places[-1]] = bias
    return biases


def log_scores(log_p: Floats, log_scale: Floats, weights: Floats, biases: Floats, seen: Seen) -> Floats:
    """Log of w_c p_c(x) + b_c, up to a number that all classes of a row share; minus infinity for classes not seen.

    Parameters
    ----------
    log_p, log_scale : arrays of shape (n, classes) and (n,)
        The log densities are their sum. The part that all classes share is apart because it may be so large that it
        would swallow the digits in which the classes differ.
    weights, biases, seen : arrays of shape (classes,)
        Of each class.
    """
    with np.errstate(divide="ignore"):
        scores = log_p + np.log(weights)  # eq. (3), in logarithms; the log density of a class not seen is -inf
        if biases.any():
            offsets = np.where(seen, biases - biases[seen].min(initial=np.inf), 0.0)
            scores = np.logaddexp(scores + log_scale[:, None], np.log(offsets))  # eq. (5)
    return np.asarray(scores)
