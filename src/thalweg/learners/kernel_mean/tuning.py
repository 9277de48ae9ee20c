"""Tuning of the kernel mean machine: the grid, the search for a bias, and the choice of width and exponent."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.base.rows import Floats
from thalweg.learners.kernel_mean.backend import HOST, Backend, side_by_side
from thalweg.learners.kernel_mean.densities import (
    OneOrEach,
    biases_from,
    leave_one_out_log_means,
    log_scores,
    weights_from,
)

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
    """For each rho, the weight of the positive class, the number of errors with the best of all biases.

    ``log_p`` are the log densities of the negative and the positive class, shape (n, 2).
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


Codes = NDArray[np.int64]

#: Fewer rows, or classes of one row, say nothing about a width.
FEWEST_ROWS = 16
_ROUNDS = 2
#: Fewer scores than this are sorted sooner than threads start.
_WORTH_THREADS = 1 << 20


class Tuned(NamedTuple):
    """What a tuning found; the weight of a class without rows is NaN, its bias 0."""

    sigma: float
    weights: Floats
    biases: Floats


def leave_one_out(
    rows: Floats,
    codes: Codes,
    n_classes: int,
    sigma: float | None = None,
    rho: OneOrEach | None = None,
    bias: OneOrEach | None = None,
    report: Callable[[float], None] = lambda share: None,
    on: Backend = HOST,
) -> Tuned:
    """The parameters with the fewest leave-one-out errors; given ones are kept. ``report`` gets the share done.

    Densities, O(n^2) of them for each width, are computed ``on`` a device where one is given; biases are searched for
    on the host, in O(n log n) for each width and rho.
    """
    counts = np.bincount(codes, minlength=n_classes)
    seen = counts > 0
    if len(rows) < FEWEST_ROWS or (counts > 1).sum() < 2:
        return untuned(rows, seen, sigma, rho, bias)
    sigmas = width_grid(rows) if sigma is None else np.array([sigma])
    log_p = leave_one_out_log_means(rows, codes, n_classes, sigmas, report, on)
    if seen.sum() > 2:
        return _tune_many(log_p, codes, seen, sigmas, rho, bias)
    minus, plus = np.flatnonzero(seen)
    return _tune_two(log_p[:, :, [minus, plus]], codes == plus, seen, sigmas, rho, bias)


def untuned(
    rows: Floats, seen: NDArray[np.bool_], sigma: float | None, rho: OneOrEach | None, bias: OneOrEach | None
) -> Tuned:
    """The rule without tuning: `scale_width`, equal weights and no bias, where nothing is given."""
    weights = weights_from(0.5 if rho is None else rho, seen)
    return Tuned(
        scale_width(rows) if sigma is None else sigma,
        np.where(seen, weights, np.nan),
        biases_from(0.0 if bias is None else bias, seen),
    )


def scale_width(rows: Floats) -> float:
    """1 / (features x mean variance of a feature): exp(-2) for two rows at the usual distance of each other."""
    variance = float(rows.var(axis=0).mean()) if len(rows) else 0.0
    return 1.0 / (rows.shape[1] * variance) if variance > 1e-300 else 1.0


def width_grid(rows: Floats) -> Floats:
    """The paper's widths, in units of the rows' mean variance to the nearest power of two: 1 for standardised rows."""
    variance = float(rows.var(axis=0).mean())
    return SIGMAS / 2.0 ** np.round(np.log2(variance)) if variance > 1e-300 else SIGMAS


def _tune_two(
    log_p: Floats,
    positive: NDArray[np.bool_],
    seen: NDArray[np.bool_],
    sigmas: Floats,
    rho: OneOrEach | None,
    bias: OneOrEach | None,
) -> Tuned:
    places = np.flatnonzero(seen)
    rhos = RHOS if rho is None else weights_from(rho, seen)[places[-1:]]
    fixed = 0.0 if bias is None else float(np.diff(biases_from(bias, seen)[places])[0])
    table, any_bias = (np.empty((len(sigmas), len(rhos)), dtype=np.int64) for _ in range(2))

    def count(at: int) -> None:
        table[at] = errors_at(log_p[at], positive, rhos, fixed)
        any_bias[at] = fewest_errors(log_p[at], positive, rhos) if bias is None else table[at]

    side_by_side(count, range(len(sigmas)), table.size * len(positive) > _WORTH_THREADS)
    fewest = any_bias.min()
    free = table.min() > fewest + np.sqrt(fewest + 1)
    at, k = divmod(middle_of_minima(any_bias if free else table), len(rhos))
    chosen = best_bias(log_p[at], positive, float(rhos[k])).bias if free else fixed
    weights = np.full(len(seen), np.nan)
    weights[places] = 1.0 - rhos[k], rhos[k]
    return Tuned(float(sigmas[at]), weights, biases_from(chosen, seen))


def _tune_many(
    log_p: Floats, codes: Codes, seen: NDArray[np.bool_], sigmas: Floats, rho: OneOrEach | None, bias: OneOrEach | None
) -> Tuned:
    biases = biases_from(0.0 if bias is None else bias, seen)
    shares = np.bincount(codes, minlength=len(seen)) / len(codes)
    starts = [weights_from(0.5, seen), shares] if rho is None else [weights_from(rho, seen)]

    def errors(of_width: Floats, weights: Floats) -> int:
        scores = log_scores(of_width, np.zeros(len(codes)), weights, biases, seen)
        return int((scores.argmax(axis=1) != codes).sum())

    table = np.array([[errors(of_width, weights) for weights in starts] for of_width in log_p])
    at, k = divmod(middle_of_minima(table), len(starts))
    weights = starts[k]
    if rho is None and not biases.any():
        weights = _each_class_in_turn(log_p[at], codes, seen, weights)
    return Tuned(float(sigmas[at]), np.where(seen, weights, np.nan), biases)


def _each_class_in_turn(log_p: Floats, codes: Codes, seen: NDArray[np.bool_], weights: Floats) -> Floats:
    """Move one class's weight at a time to where errors are fewest, if that makes them fewer."""
    with np.errstate(divide="ignore"):
        log_w = np.log(weights)
    for _ in range(_ROUNDS):
        for c in np.flatnonzero(seen).tolist():
            rivals = log_p + log_w
            rivals[:, c] = -np.inf
            best, ahead = rivals.argmax(axis=1), log_p[:, c] - rivals.max(axis=1)
            # Whatever c's weight, other rows stay wrong.
            matter = np.isfinite(ahead) & ((codes == c) | (codes == best))
            if not matter.any():
                continue
            ahead, own = ahead[matter], codes[matter] == c
            now = int(((ahead + log_w[c] > 0) != own).sum())
            threshold = best_threshold(ahead, own)
            if threshold.errors < now:
                log_w[c] = threshold.bias
    log_w -= log_w[seen].max()
    weights = np.exp(log_w)
    return np.asarray(weights / weights.sum())
