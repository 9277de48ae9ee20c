"""Kernel densities of rows, class by class, in blocks of array work on all cores."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from thalweg.learners.base.rows import Floats
from thalweg.parameters import processors

Block = TypeVar("Block")

_lock = threading.Lock()
_inside = 0
_threads_before: list[int] = []


def side_by_side(
    work: Callable[[Block], object],
    blocks: Sequence[Block],
    worth_threads: bool,
    report: Callable[[float], None] = lambda share: None,
) -> None:
    """Call ``work`` with each block, on all cores where that is worth it; ``report`` is called with the share done."""
    with _one_thread_for_products():
        if not worth_threads or len(blocks) < 2:
            for done, block in enumerate(blocks, start=1):
                work(block)
                report(done / len(blocks))
            return
        with ThreadPoolExecutor(processors()) as threads:
            for done, _ in enumerate(threads.map(work, blocks), start=1):
                report(done / len(blocks))


@contextmanager
def _one_thread_for_products() -> Iterator[None]:
    """The first to come in limits the library, the last to leave restores it."""
    global _inside
    with _lock:
        if _inside == 0:
            _threads_before[:] = [library.get_num_threads() for library in _libraries()]
            for library in _libraries():
                library.set_num_threads(1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                for library, threads in zip(_libraries(), _threads_before, strict=True):
                    library.set_num_threads(threads)


@cache
def _libraries() -> tuple[Any, ...]:
    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


Codes = NDArray[np.int64]

#: Numbers of a block: it stays in a core's own cache through all the widths.
_BLOCK = 1 << 16
#: Fewer kernel values than this are computed sooner than threads start.
_WORTH_THREADS = 1 << 22
_SQUARINGS = 4
#: Exponents below this add nothing beside exp(0) = 1. Underflow is slow, and four squarings of this do not underflow.
_LEAST = -44.0


def squared_distances(X: Floats, Y: Floats) -> Floats:
    """Squared Euclidean distances of the rows of X (n) to those of Y (m), shape (n, m), by one matrix product."""
    centre = medians(Y)  # distances do not change, but a common offset would cost their digits
    return _squared_distances(X - centre, Y - centre)


def medians(rows: Floats) -> Floats:
    """The median of each feature, of two the lower: a value that some row has, not one between two far groups."""
    middle = (len(rows) - 1) // 2
    return np.asarray(np.partition(rows, middle, axis=0)[middle])


def _squared_distances(X: Floats, Y: Floats) -> Floats:
    D = X @ Y.T
    D *= -2.0
    D += np.einsum("ij,ij->i", X, X)[:, None]
    D += np.einsum("ij,ij->i", Y, Y)
    return np.maximum(D, 0.0, out=D)


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
    return _by_blocks(lambda at: D[at][:, by_class], len(D), columns, sigmas, lambda share: None)


def leave_one_out_log_means(
    X: Floats, codes: Codes, n_classes: int, sigmas: Floats, report: Callable[[float], None] = lambda share: None
) -> Floats:
    """`log_class_means` of each row of X given all the others, in closed form, shape (sigmas, n, classes).

    The term of the row itself is dropped and its class's mean is taken over the rest. ``report`` is called with the
    share done.
    """
    by_class = np.argsort(codes, kind="stable")
    X = X - medians(X)
    others = X[by_class]
    place = np.empty_like(by_class)
    place[by_class] = np.arange(len(X))

    def distances(at: slice) -> Floats:
        D = _squared_distances(X[at], others)
        D[np.arange(len(D)), place[at]] = np.inf
        return D

    return _by_blocks(distances, len(X), np.bincount(codes, minlength=n_classes), sigmas, report)


def _by_blocks(
    distances: Callable[[slice], Floats],
    n: int,
    columns: NDArray[np.int64],
    sigmas: Floats,
    report: Callable[[float], None],
) -> Floats:
    """Blocks of rows, side by side on all cores; the columns of ``distances`` are sorted by class."""
    result = np.full((len(sigmas), n, len(columns)), -np.inf)
    size = max(1, _BLOCK // max(1, int(columns.sum())))
    blocks = [slice(start, start + size) for start in range(0, n, size)]

    def work(at: slice) -> None:
        _log_means_of_block(distances(at), columns, sigmas, result[:, at])

    side_by_side(work, blocks, n * columns.sum() * len(sigmas) > _WORTH_THREADS, report)
    return result


def _log_means_of_block(D: Floats, columns: NDArray[np.int64], sigmas: Floats, out: Floats) -> None:
    ends = np.cumsum(columns)
    spans = [(c, slice(end - m, end)) for c, (end, m) in enumerate(zip(ends, columns, strict=True)) if m > 0]
    nearest, counts = np.empty((len(D), len(spans))), np.empty((len(D), len(spans)))
    for j, (_, span) in enumerate(spans):
        D[:, span].min(axis=1, out=nearest[:, j])
        counts[:, j] = np.isfinite(D[:, span]).sum(axis=1)
    alone = np.isinf(nearest)  # the only row of its class was left out: a density of nothing
    nearest[alone] = 0.0
    for j, (_, span) in enumerate(spans):
        D[:, span] -= nearest[:, j, None]
    seen = [c for c, _ in spans]
    for at, K in _kernels(D, sigmas):
        sums = np.stack([K[:, span].sum(axis=1) for _, span in spans], axis=1)
        sums[alone], counts[alone] = 1.0, 1.0
        log_p = np.log(sums / counts) - sigmas[at] * nearest  # eq. (2), in logarithms
        log_p[alone] = -np.inf
        out[at][:, seen] = log_p


def _kernels(D: Floats, sigmas: Floats) -> Iterator[tuple[int, Floats]]:
    """Of each width its place and exp(-sigma D), which is overwritten by the next."""
    mantissas, octaves = np.frexp(sigmas)
    K = np.empty_like(D)
    last, squared = None, 0
    for at in np.lexsort((octaves, mantissas)).tolist():
        sigma = sigmas[at]
        if last is not None and sigma == 2.0 * last and squared < _SQUARINGS:
            np.multiply(K, K, out=K)
            squared += 1
        else:
            np.multiply(D, -sigma, out=K)
            np.maximum(K, _LEAST, out=K)
            np.exp(K, out=K)  # eq. (6)
            squared = 0
        last = sigma
        yield at, K
