"""The exact machine with the radial kernel: Parzen densities of the classes, in logarithms and in blocks.

Rows are taken relative to an origin amid them and in units of the kernel's width, to the nearest power of two: u and v
below. A kept row is ready as [u, |u|^2] and a row asked about as [2 s v, -s], s the sigma that is left; their product
is the exponent -s |u - v|^2 without the |v|^2 that all classes share. So one matrix product gives a block of exponents,
which are summed by log-sum-exp: the nearest row decides at any distance.

Far from the origin the two parts of an exponent are large and cancel. A bound of their size says for each row asked
about whether single precision holds the exponents, or double; where neither does, the row is compared with the kept
rows one difference at a time. Kept rows far away from it do not count in the bound: their term is nothing.

Rows asked about on a device are compared there: the kept rows are copied to it once. What is left, a number for each
row and class, comes back to the host.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.base.rows import Floats
from thalweg.learners.kernel_mean.backend import HOST, Backend, DeviceRows, rows_and_backend
from thalweg.learners.kernel_mean.densities import log_scores
from thalweg.learners.kernel_mean.exact import ExactCore, Given, GrowingRows
from thalweg.learners.kernel_mean.tuning import Tuned, leave_one_out, untuned

#: Work done within this many seconds shows nothing.
PATIENCE = 2.0


@contextmanager
def bar(label: str, wanted: bool) -> Iterator[Callable[[float], None]]:
    """A function that reports the share done, from 0 to 1; draws on standard error if that is a terminal."""
    if not (wanted and sys.stderr.isatty()):
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress

    begun, drawn = time.monotonic(), Progress(console=Console(stderr=True), transient=True)
    task = drawn.add_task(label, total=1.0)

    def report(share: float) -> None:
        if not drawn.live.is_started and time.monotonic() - begun > PATIENCE:
            drawn.start()
        drawn.update(task, completed=share)

    try:
        yield report
    finally:
        drawn.stop()


#: Fewer kernel values than this are computed sooner than threads start.
_WORTH_THREADS = 1 << 20
#: Products this small gain nothing from threads, and to limit the number of threads takes longer than they do.
_ONE_THREAD_ANYWAY = 1 << 17
#: Exponents below this add nothing beside exp(0) = 1, and would cost ten times as much where they underflow.
_LEAST = -80.0
#: Stands for minus infinity where differences of exponents are to be taken.
_NOWHERE = -1e300


class Precision(NamedTuple):
    """A type of number, the largest parts of an exponent it is used for, and how far away ready rows are held at most.

    Rounding then costs about 1e-3 of an exponent in single precision, 1e-6 in double. Farther rows are never compared
    with by their ready form: held nearer, their term is nothing all the same, and their squares stay finite.
    """

    dtype: Any
    largest_parts: float
    farthest: float


SINGLE = Precision(np.float32, 3e4, 1e15)
DOUBLE = Precision(np.float64, 1e10, 1e150)


class ParzenCore(ExactCore):
    """Class densities p_c(x) = mean of exp(-sigma |x - x_i|^2)."""

    shifts = True

    def __init__(self, features: int, given: Given) -> None:
        super().__init__(features, given)
        self._precision = SINGLE if given.dtype == np.float32 else DOUBLE
        self._ready: list[GrowingRows] = []
        self._elsewhere: tuple[Backend, dict[int, Any]] | None = None

    @property
    def sigma(self) -> float:
        return self.tuned.sigma if self.given.sigma is None else self.given.sigma

    def insert(self, at: int) -> None:
        super().insert(at)
        self._ready.insert(at, self._room())
        self._elsewhere = None

    def added(self, c: int, new: Floats) -> None:
        self._ready[c].add(self._made_ready(new, self._precision))
        self._elsewhere = None

    def settled(self) -> None:
        ready = [self._room() for _ in self.rows]
        for room, rows in zip(ready, self.rows, strict=True):
            room.add(self._made_ready(rows.filled, self._precision))
        self._ready = ready
        self._elsewhere = None

    def tune(self, kept: list[Floats], on: Backend) -> Tuned:
        """By leave-one-out in double precision, or by the rule without tuning; nothing where all is given."""
        given, counts = self.given, [len(part) for part in kept]
        if None not in (given.sigma, given.rho, given.bias):
            return Tuned(1.0, np.full(len(kept), np.nan), np.zeros(len(kept)))
        rows = np.concatenate(kept)
        if not given.tunes:
            return untuned(rows, np.array(counts) > 0, given.sigma, given.rho, given.bias)
        codes = np.repeat(np.arange(len(kept)), counts)
        with bar("tuning by leave-one-out", given.progress) as report:
            return leave_one_out(rows, codes, len(kept), given.sigma, given.rho, given.bias, report, on)

    def _room(self) -> GrowingRows:
        return GrowingRows(self.n_features + 1, self._precision.dtype)

    def _unit(self) -> float:
        """The power of two next to the root of sigma: rows times it have their neighbours at a distance of about 1."""
        return float(2.0 ** np.round(0.5 * np.log2(self.sigma)))

    def _made_ready(self, rows: Floats, precision: Precision) -> NDArray[Any]:
        """Rows relative to the origin, in units of the width, with their squared length behind them."""
        ready = np.empty((len(rows), self.n_features + 1), dtype=precision.dtype)
        units = (rows - self.origin) * self._unit()
        ready[:, :-1] = np.clip(units, -precision.farthest, precision.farthest)
        np.einsum("ij,ij->i", ready[:, :-1], ready[:, :-1], out=ready[:, -1])
        return ready

    def discriminants(self, X: Floats | DeviceRows) -> Floats:
        """Log of w_c p_c(x) + b_c, up to a number that all classes of a row share."""
        log_p, log_scale = self.log_densities(X)
        rule = self.in_force
        return log_scores(log_p, log_scale, rule.weights, rule.biases, rule.seen)

    def log_densities(self, X: Floats | DeviceRows) -> tuple[Floats, Floats]:
        """Log densities of each row: their sum, the second part being the same for all classes."""
        log_p, log_scale = np.full((len(X), self.n_classes), -np.inf), np.zeros(len(X))
        ready = {c: rows.filled for c, rows in enumerate(self._ready) if len(rows)}
        if not ready or len(X) == 0:
            return log_p, log_scale
        rows, on = rows_and_backend(X)
        unit = self._unit()
        left = self.sigma / unit**2
        V = (rows - on.array(self.origin)) * unit
        with np.errstate(over="ignore", invalid="ignore"):  # infinite or no number: no precision holds the exponents
            lengths = np.sqrt(on.host(on.squared_lengths(V)))
            np.maximum(-left * lengths**2, _NOWHERE, out=log_scale)
            parts = _largest_parts(lengths, ready, left)
        todo = np.ones(len(X), dtype=bool)
        for precision in (SINGLE, DOUBLE) if self._precision is SINGLE else (DOUBLE,):
            held = todo & (parts <= precision.largest_parts) & (lengths <= precision.farthest)
            if held.any():
                asked = V if held.all() else on.xp.take(V, on.array(np.flatnonzero(held)), axis=0)
                log_p[held] = self._by_products(asked, self._ready_on(on, precision), left, on)
            todo &= ~held
        for at in np.flatnonzero(todo).tolist():
            log_p[at], log_scale[at] = self._by_differences(on.host(rows[at, :]))
        return log_p, log_scale

    def _ready_on(self, on: Backend, precision: Precision) -> dict[int, Any]:
        """The ready rows of each class that has any, where they are asked for; of the usual precision kept there."""
        if precision is not self._precision:
            kept = {c: rows.filled for c, rows in enumerate(self.rows) if len(rows)}
            return {c: on.array(self._made_ready(rows, precision)) for c, rows in kept.items()}
        if on is HOST:
            return {c: rows.filled for c, rows in enumerate(self._ready) if len(rows)}
        if self._elsewhere is None or self._elsewhere[0] != on:
            self._elsewhere = on, {c: on.array(rows.filled) for c, rows in enumerate(self._ready) if len(rows)}
        return self._elsewhere[1]

    def _by_products(self, V: Any, ready: dict[int, Any], left: float, on: Backend) -> Floats:
        """Log densities without the part that all classes share, by matrix products."""
        n, longest = V.shape[0], max(rows.shape[0] for rows in ready.values())
        log_p = np.full((n, self.n_classes), -np.inf)
        dtype = next(iter(ready.values())).dtype
        step = on.block // min(on.tile, longest)

        def work(start: int) -> None:
            at = slice(start, min(start + step, n))
            last = on.xp.asarray(on.xp.zeros_like(V[at, :1]) - left, dtype=dtype)
            asked = on.xp.concat([on.xp.asarray(V[at, :] * (2.0 * left), dtype=dtype), last], axis=1)
            for c, rows in ready.items():
                log_p[at, c] = on.host(_log_sums(asked, rows, on)) - np.log(rows.shape[0])  # eq. (2)

        blocks = range(0, n, step)
        if n * longest * V.shape[1] <= _ONE_THREAD_ANYWAY:
            for start in blocks:
                work(start)
        else:
            on.run(work, blocks, n * sum(rows.shape[0] for rows in ready.values()) > _WORTH_THREADS)
        return log_p

    def _by_differences(self, x: Floats) -> tuple[Floats, float]:
        """Log densities of one row relative to its nearest kept row z, and what all classes share: -sigma |x - z|^2.

        |a - x|^2 - |z - x|^2 = (a - z)'((a - x) + (z - x)), in which nothing large cancels.
        """
        kept = {c: rows.filled for c, rows in enumerate(self.rows) if len(rows)}
        distances = {c: np.einsum("ij,ij->i", rows - x, rows - x) for c, rows in kept.items()}
        c = min(distances, key=lambda c: float(distances[c].min()))
        nearest = kept[c][distances[c].argmin()]
        log_p = np.full(self.n_classes, -np.inf)
        for c, rows in kept.items():
            farther = np.einsum("ij,ij->i", rows - nearest, (rows - x) + (nearest - x))
            with np.errstate(over="ignore"):
                exponents = np.maximum(-self.sigma * farther, _NOWHERE)
            highest = exponents.max()
            sums = np.exp(np.maximum(exponents - highest, _LEAST)).sum()  # eq. (6)
            log_p[c] = highest + np.log(sums) - np.log(len(rows))  # eq. (2)
        least = min(float(distance.min()) for distance in distances.values())
        return log_p, max(-self.sigma * least, _NOWHERE)


def _largest_parts(lengths: Floats, ready: dict[int, NDArray[Any]], left: float) -> Floats:
    """A bound of the parts that cancel in an exponent of each row that counts, for rows of these lengths.

    The nearest kept row is no farther than ``lengths + shortest``, so that no row beyond ``counts`` adds anything.
    """
    shortest = np.sqrt(min(float(rows[:, -1].min()) for rows in ready.values()))
    longest = np.sqrt(max(float(rows[:, -1].max()) for rows in ready.values()))
    counts = np.minimum(longest, 2.0 * lengths + shortest + np.sqrt(-_LEAST / left))
    return np.asarray(left * counts * (2.0 * lengths + counts))


def _log_sums(asked: Any, kept: Any, on: Backend) -> Any:
    """Log of the sum of exp(exponent) over all kept rows, in tiles: a running maximum, and the sum relative to it."""
    xp, highest, sums = on.xp, None, None
    m = kept.shape[0]
    for start in range(0, m, on.tile):
        E = asked @ kept[start : min(start + on.tile, m), :].T
        higher = xp.max(E, axis=1)
        if highest is not None:
            higher = xp.maximum(higher, highest)
            sums = sums * xp.exp(highest - higher)
        E -= higher[:, None]
        more = xp.asarray(xp.sum(on.exp(E, _LEAST), axis=1), dtype=xp.float64)  # eq. (6)
        highest, sums = higher, more if sums is None else sums + more
    return highest + xp.log(sums)
