"""Kernel densities of rows, class by class, and the decision rule (5) over them: the largest w_c p_c(x) + b_c.

With two classes, weights (1 - rho, rho) and biases (0, b) the rule is the paper's rho p_+ - (1 - rho) p_- + b > 0. Only
differences between biases matter, so they are shifted until the smallest is 0; then every side of the comparison is a
sum of positive terms, and can be compared by its logarithm however small it is. Densities are computed in blocks of
array work on all cores or on a device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.base.rows import Floats
from thalweg.learners.kernel_mean.backend import HOST, Backend

Codes = NDArray[np.int64]

#: Fewer kernel values than this are computed sooner than threads start.
_WORTH_THREADS = 1 << 22
_SQUARINGS = 4
#: Exponents below this add nothing beside exp(0) = 1. Underflow is slow, and four squarings of this do not underflow.
_LEAST = -44.0


def squared_distances(X: Floats, Y: Floats) -> Floats:
    """Squared Euclidean distances of the rows of X (n) to those of Y (m), shape (n, m), by one matrix product."""
    centre = medians(Y)  # distances do not change, but a common offset would cost their digits
    X, Y = X - centre, Y - centre
    return np.asarray(_squared_distances(X, Y, HOST.squared_lengths(X), HOST.squared_lengths(Y), HOST))


def medians(rows: Floats) -> Floats:
    """The median of each feature, of two the lower: a value that some row has, not one between two far groups."""
    middle = (len(rows) - 1) // 2
    return np.asarray(np.partition(rows, middle, axis=0)[middle])


def _squared_distances(X: Any, Y: Any, squares_x: Any, squares_y: Any, on: Backend) -> Any:
    D = X @ Y.T
    D *= -2.0
    D += squares_x[:, None]
    D += squares_y[None, :]
    return on.at_least(D, 0.0)


def log_class_means(D: Floats, codes: Codes, n_classes: int, sigmas: Floats) -> Floats:
    """Log of the mean of exp(-sigma D) over each class's columns, shape (sigmas, n, classes).

    Parameters
    ----------
    D : array of shape (n, m)
        Squared distances of n rows to m rows with classes; infinity leaves a column out of that row's mean.
    codes : array of shape (m,)
        The class index of each column.
    n_classes : int
        A class without columns has the log density minus infinity.
    sigmas : array
        The widths.
    """
    by_class = np.argsort(codes, kind="stable")
    columns = np.bincount(codes, minlength=n_classes)
    return _by_blocks(lambda at: D[at][:, by_class], np.arange(len(D)), columns, sigmas)


def leave_one_out_log_means(
    X: Floats,
    codes: Codes,
    n_classes: int,
    sigmas: Floats,
    report: Callable[[float], None] = lambda share: None,
    on: Backend = HOST,
) -> Floats:
    """`log_class_means` of each row of X given all the others, in closed form, shape (sigmas, n, classes).

    The term of the row itself is dropped and its class's mean is taken over the rest. ``report`` is called with the
    share done. The work is done ``on`` a device where one is given.
    """
    by_class = np.argsort(codes, kind="stable")
    rows = on.array((X - medians(X))[by_class])
    squares = on.squared_lengths(rows)

    def distances(at: slice) -> Any:
        D = _squared_distances(rows[at, :], rows, squares[at], squares, on)
        D[:, at] += on.array(np.diag(np.full(D.shape[0], np.inf)))
        return D

    return _by_blocks(distances, by_class, np.bincount(codes, minlength=n_classes), sigmas, report, on)


def _by_blocks(
    distances: Callable[[slice], Any],
    order: NDArray[np.int64],
    columns: NDArray[np.int64],
    sigmas: Floats,
    report: Callable[[float], None] = lambda share: None,
    on: Backend = HOST,
) -> Floats:
    """Blocks of the rows in this order; the columns of ``distances`` are sorted by class."""
    n, seen = len(order), np.flatnonzero(columns)
    result = np.full((len(sigmas), n, len(columns)), -np.inf)
    size = max(1, on.block // max(1, int(columns.sum())))
    blocks = [slice(start, min(start + size, n)) for start in range(0, n, size)]

    def work(at: slice) -> None:
        log_p = _log_means_of_block(distances(at), columns[seen], sigmas, on)
        result[:, order[at][:, None], seen] = on.host(log_p)

    on.run(work, blocks, n * columns.sum() * len(sigmas) > _WORTH_THREADS, report)
    return result


def _log_means_of_block(D: Any, columns: NDArray[np.int64], sigmas: Floats, on: Backend) -> Any:
    """Of so many columns of each class, shape (sigmas, n, classes); overwrites the distances."""
    xp, ends = on.xp, np.cumsum(columns).tolist()
    spans = [slice(end - m, end) for end, m in zip(ends, columns.tolist(), strict=True)]
    nearest = xp.stack([xp.min(D[:, span], axis=1) for span in spans], axis=1)
    counts = xp.stack([xp.sum(xp.asarray(xp.isfinite(D[:, span]), dtype=D.dtype), axis=1) for span in spans], axis=1)
    alone = xp.isinf(nearest)  # the only row of its class was left out: a density of nothing
    nearest = xp.where(alone, 0.0, nearest)
    counts = xp.where(alone, 1.0, counts)
    for j, span in enumerate(spans):
        D[:, span] -= nearest[:, j, None]
    log_means: list[Any] = [None] * len(sigmas)
    for at, K in _kernels(D, sigmas, on):
        sums = xp.stack([xp.sum(K[:, span], axis=1) for span in spans], axis=1)
        log_p = xp.log(xp.where(alone, 1.0, sums) / counts) - float(sigmas[at]) * nearest  # eq. (2), in logarithms
        log_means[at] = xp.where(alone, -np.inf, log_p)
    return xp.stack(log_means)


def _kernels(D: Any, sigmas: Floats, on: Backend) -> Iterator[tuple[int, Any]]:
    """Of each width its place and exp(-sigma D), which is overwritten by the next."""
    mantissas, octaves = np.frexp(sigmas)
    K: Any = None
    last, squared = None, 0
    for at in np.lexsort((octaves, mantissas)).tolist():
        sigma = float(sigmas[at])
        if last is not None and sigma == 2.0 * last and squared < _SQUARINGS:
            K *= K
            squared += 1
        else:
            K = on.exp(D * -sigma, _LEAST)  # eq. (6)
            squared = 0
        last = sigma
        yield at, K


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
