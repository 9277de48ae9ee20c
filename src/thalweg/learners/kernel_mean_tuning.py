"""Width, class weights and biases of the kernel mean machine by leave-one-out on the training rows alone.

Leaving a row out of a Parzen estimate is dropping one term, so all n leave-one-out machines cost one pass over
the distances (`kernel_mean_densities`). What the caller has fixed stays fixed.

Two classes: the fewest leave-one-out errors over all widths, all rho and, for each pair, every bias
(`kernel_mean_search`); of equally good ones the middle one. A bias has as many choices as there are rows and is easily
fitted to chance, so there is none unless it saves more than a standard error: with m errors at best, the fewest without
bias win where they are no more than m + sqrt(m + 1). More classes: for every width, the errors with equal weights and
with weights as the classes' shares of the rows; at the best width each class's weight in turn is set by an exact
search, as long as that makes errors fewer, two rounds at most; biases stay 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.kernel_mean_densities import leave_one_out_log_means
from thalweg.learners.kernel_mean_rule import OneOrEach, biases_from, log_scores, weights_from
from thalweg.learners.kernel_mean_search import (
    RHOS,
    SIGMAS,
    best_bias,
    best_threshold,
    errors_at,
    fewest_errors,
    middle_of_minima,
)
from thalweg.learners.rows import Floats
from thalweg.learners.side_by_side import side_by_side

Codes = NDArray[np.int64]

#: Fewer rows, or classes of one row, tell nothing about a width.
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
    tell: Callable[[float], None] = lambda share: None,
) -> Tuned:
    """The parameters with the fewest leave-one-out errors; those given are kept.

    Parameters
    ----------
    rows, codes : arrays of shape (n, features) and (n,)
        The training rows and their class indices.
    n_classes : int
        How many classes there are, with rows or without.
    sigma, rho, bias : optional
        What is fixed already.
    tell : function
        Told the share of the work done.
    """
    counts = np.bincount(codes, minlength=n_classes)
    seen = counts > 0
    if len(rows) < FEWEST_ROWS or (counts > 1).sum() < 2:
        return untuned(rows, seen, sigma, rho, bias)
    sigmas = width_grid(rows) if sigma is None else np.array([sigma])
    log_p = leave_one_out_log_means(rows, codes, n_classes, sigmas, tell)
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
    found = best_bias(log_p[at], positive, float(rhos[k])).bias if free else fixed
    weights = np.full(len(seen), np.nan)
    weights[places] = 1.0 - rhos[k], rhos[k]
    return Tuned(float(sigmas[at]), weights, biases_from(found, seen))


def _tune_many(
    log_p: Floats,
    codes: Codes,
    seen: NDArray[np.bool_],
    sigmas: Floats,
    rho: OneOrEach | None,
    bias: OneOrEach | None,
) -> Tuned:
    biases = biases_from(0.0 if bias is None else bias, seen)
    shares = np.bincount(codes, minlength=len(seen)) / len(codes)
    starts = [weights_from(0.5, seen), shares] if rho is None else [weights_from(rho, seen)]

    def errors(each: Floats, weights: Floats) -> int:
        scores = log_scores(each, np.zeros(len(codes)), weights, biases, seen)
        return int((scores.argmax(axis=1) != codes).sum())

    table = np.array([[errors(each, weights) for weights in starts] for each in log_p])
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
            found = best_threshold(ahead, own)
            if found.errors < now:
                log_w[c] = found.bias
    log_w -= log_w[seen].max()
    weights = np.exp(log_w)
    return np.asarray(weights / weights.sum())
