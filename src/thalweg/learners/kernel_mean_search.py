"""The exact search for the bias b of eq. (5): of all thresholds the one with fewest errors, for many rho at once.

For two classes the rule calls a row positive where s + b > 0, s = rho p_+(x) - (1 - rho) p_-(x). Only the order of the
scores matters, so they are sorted once for each rho and one sweep counts the errors of every threshold between
neighbours. Where both densities underflow, s keeps the sign that their logarithms give: b = 0 then still decides right.

The sweep needs each score's label. It rides in the last bit of the score, so that plain values are sorted, several
times faster than indices; scores closer than 1e-10 of themselves count as equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.rows import Floats

#: The grids that reproduce the paper's table.
SIGMAS: Floats = 2.0 ** np.arange(-12, 7.01, 0.5)
RHOS: Floats = np.arange(101) / 100

#: Scores below this keep their sign only. Biases are exact above it.
_TINY = 1e-300
_EQUAL = 1e-10
#: Scores sorted at a time: they stay in a core's own cache.
_BLOCK = 1 << 16

Labels = NDArray[np.bool_]


class Threshold(NamedTuple):
    """How many rows a rule calls wrong, and the bias with which it does."""

    errors: int
    bias: float


def density_scores(log_p: Floats, rhos: Floats) -> Floats:
    """Rho p_+ - (1 - rho) p_- from log densities [minus, plus] of shape (n, 2); shape (rhos, n)."""
    minus, plus = np.exp(log_p.T)
    scores = mean_scores(minus, plus, rhos)
    far = np.flatnonzero(np.maximum(minus, plus) < _TINY * 1e10)
    if len(far):
        with np.errstate(divide="ignore"):
            ahead = (np.log(rhos)[:, None] + log_p[far, 1]) > (np.log1p(-rhos)[:, None] + log_p[far, 0])
        faint = scores[:, far]
        scores[:, far] = np.where(np.abs(faint) < _TINY, np.where(ahead, _TINY, -_TINY), faint)
    return scores


def mean_scores(minus: Floats, plus: Floats, rhos: Floats) -> Floats:
    """Rho m_+ - (1 - rho) m_- of the rows' mean kernel values with each class; shape (rhos, n)."""
    rhos = np.asarray(rhos)[:, None]
    return np.asarray(rhos * plus - (1.0 - rhos) * minus)  # eq. (4)


def fewest_errors(log_p: Floats, positive: Labels, rhos: Floats) -> NDArray[np.int64]:
    """For each rho the number of errors with the best of all biases.

    Parameters
    ----------
    log_p : array of shape (n, 2)
        Log densities of the negative and the positive class.
    positive : array of bool, shape (n,)
        Whether a row is of the positive class.
    rhos : array
        The weights of the positive class.
    """
    step = max(1, _BLOCK // max(1, len(log_p)))
    parts = [
        fewest_errors_of(density_scores(log_p, rhos[at : at + step]), positive) for at in range(0, len(rhos), step)
    ]
    return np.concatenate(parts)


def fewest_errors_of(scores: Floats, positive: Labels) -> NDArray[np.int64]:
    """The fewest errors of any threshold on each row of ``scores``, shape (rhos, n)."""
    bits = scores.view(np.int64)
    labelled = ((bits & ~np.int64(1)) | positive).view(np.float64)
    labelled.sort(axis=1)
    errors = _errors_below(labelled.view(np.int64) & 1)
    k, rows, n = errors.argmin(axis=1), np.arange(len(scores)), scores.shape[1]
    fewest = errors[rows, k]
    between = (k > 0) & (k < n)
    pairs = np.stack([labelled[rows, np.maximum(k - 1, 0)], labelled[rows, np.minimum(k, n - 1)]], axis=1)
    tied = between & ~_apart(pairs)[:, 0]  # no threshold parts equal scores: only then all gaps must be looked at
    errors[tied, 1:-1] = np.where(_apart(labelled[tied]), errors[tied, 1:-1], n + 1)
    fewest[tied] = errors[tied].min(axis=1)
    return np.asarray(fewest)


def best_bias(log_p: Floats, positive: Labels, rho: float) -> Threshold:
    """The bias with fewest errors; among equally good ones the middle one."""
    return best_threshold(density_scores(log_p, np.array([rho]))[0], positive)


def best_threshold(scores: Floats, positive: Labels) -> Threshold:
    """The bias b with fewest errors of "positive where score + b > 0"; among equally good ones the middle one."""
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    errors = _errors_below(positive[order].astype(np.int64)[None])[0]
    errors[1:-1][~_apart(ordered[None])[0]] = len(scores) + 1
    best = np.flatnonzero(errors == errors.min())
    k = int(best[len(best) // 2])
    beyond = max(1e-9 * float(np.abs(ordered).max()), 2.0 * _TINY)  # to a threshold beyond all scores
    if k == 0:
        cut = ordered[0] - beyond
    elif k == len(scores):
        cut = ordered[-1] + beyond
    else:
        cut = 0.5 * ordered[k - 1] + 0.5 * ordered[k]
    return Threshold(int(errors[k]), -float(cut))


def errors_at(log_p: Floats, positive: Labels, rhos: Floats, bias: float) -> NDArray[np.int64]:
    """For each rho the number of errors with this bias."""
    rhos = np.asarray(rhos)[:, None]
    with np.errstate(divide="ignore"):
        plus, minus = np.log(rhos) + log_p[:, 1], np.log1p(-rhos) + log_p[:, 0]
        if bias > 0:
            plus = np.logaddexp(plus, np.log(bias))
        elif bias < 0:
            minus = np.logaddexp(minus, np.log(-bias))
    return np.asarray(((plus > minus) != positive).sum(axis=1))  # eq. (5)


def middle_of_minima(table: NDArray[np.int64]) -> int:
    """The flat index of the smallest entry; of several, the middle one in reading order."""
    best = np.flatnonzero(table.ravel() == table.min())
    return int(best[len(best) // 2])


def _errors_below(positive: NDArray[np.int64]) -> NDArray[np.int64]:
    """Errors when the k lowest scores are called negative, for k = 0 … n; labels in the order of the scores."""
    rows, n = positive.shape
    errors = np.zeros((rows, n + 1), dtype=np.int64)
    np.cumsum(positive, axis=1, out=errors[:, 1:])
    errors *= 2  # positives below, and negatives above: all negatives less the k - positives that are below
    errors += (n - errors[:, -1:] // 2) - np.arange(n + 1)
    return errors


def _apart(ordered: Floats) -> NDArray[np.bool_]:
    """Whether each score lies truly above the one before it."""
    low, high = ordered[:, :-1], ordered[:, 1:]
    return np.asarray(high - low > _EQUAL * np.maximum(np.abs(low), np.abs(high)))
