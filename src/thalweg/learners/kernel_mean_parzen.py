"""The exact machine with the radial kernel: Parzen densities of the classes, in logarithms and in blocks.

A kept row a is held as [a, |a|^2] and a row x asked about as [2 sigma x, -sigma]; their product is the exponent
-sigma |x - a|^2 without the |x|^2 that all classes share. So one matrix product gives a block of exponents, which are
summed by log-sum-exp: the nearest row answers at any distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.kernel_mean_exact import ExactCore
from thalweg.learners.kernel_mean_rule import log_scores
from thalweg.learners.kernel_mean_tuning import Tuned, leave_one_out, untuned
from thalweg.learners.rows import Floats
from thalweg.learners.side_by_side import side_by_side
from thalweg.learners.waiting import bar

#: Kernel values of a block, which stay in a core's own cache, and how many kept rows it has at most.
_BLOCK, _KEPT = 1 << 16, 512
#: Fewer kernel values than this are computed sooner than threads start.
_WORTH_THREADS = 1 << 20
#: Exponents below this add nothing beside exp(0) = 1, and would cost ten times as much where they underflow.
_LEAST = -80.0
#: In single precision, parts of an exponent up to this are rounded by about 1e-3; with larger ones it is not used.
_LARGEST_PART = 1e4
#: Kept rows of single precision lie within this, so that their squares are finite too.
_FARTHEST = 1e18


class ParzenCore(ExactCore):
    """Class densities p_c(x) = mean of exp(-sigma |x - x_i|^2)."""

    extra_columns = 1

    def keep(self, X: Floats) -> NDArray[Any]:
        """Rows relative to the origin, in the precision asked for, with their squared length behind them."""
        X = X - self.origin
        if self.given.dtype == np.float32:
            X = np.clip(X, -_FARTHEST, _FARTHEST).astype(np.float32)
        return self.complete(X)

    def complete(self, features: NDArray[Any]) -> NDArray[Any]:
        """Kept rows from their features."""
        return _with_squares(features)

    def choose_origin(self, first: Floats) -> Floats:
        """The first row: distances do not change, and a large offset costs no digits."""
        return first.copy()

    def tune(self, kept: list[NDArray[Any]]) -> Tuned:
        """By leave-one-out in double precision, or by the rule without tuning; nothing where all is given."""
        given, counts = self.given, [len(part) for part in kept]
        if None not in (given.sigma, given.rho, given.bias):
            return Tuned(1.0, np.full(len(kept), np.nan), np.zeros(len(kept)))
        rows = np.concatenate([part[:, :-1] for part in kept]).astype(np.float64)
        if not given.tunes:
            return untuned(rows, np.array(counts) > 0, given.sigma, given.rho, given.bias)
        codes = np.repeat(np.arange(len(kept)), counts)
        with bar("tuning by leave-one-out", given.progress) as tell:
            return leave_one_out(rows, codes, len(kept), given.sigma, given.rho, given.bias, tell)

    def discriminants(self, X: Floats) -> Floats:
        """Log of w_c p_c(x) + b_c, up to a number that all classes of a row share."""
        log_p, log_scale = self.log_densities(X)
        rule = self.in_force
        return log_scores(log_p, log_scale, rule.weights, rule.biases, rule.seen)

    def log_densities(self, X: Floats) -> tuple[Floats, Floats]:
        """Log densities of each row: their sum, the second part being the same for all classes."""
        if not self.in_force.seen.any() or len(X) == 0:
            return np.full((len(X), self.n_classes), -np.inf), np.zeros(len(X))
        sigma = self.sigma
        X = X - self.origin
        log_scale = -sigma * np.einsum("ij,ij->i", X, X)
        kept = self._in_sufficient_precision(log_scale)
        precision = next(iter(kept.values())).dtype
        log_p = np.full((len(X), self.n_classes), -np.inf)
        step = _BLOCK // min(_KEPT, max(map(len, kept.values())))

        def work(start: int) -> None:
            at = slice(start, start + step)
            asked = np.full((len(X[at]), X.shape[1] + 1), -sigma, dtype=precision)
            np.multiply(X[at], 2.0 * sigma, out=asked[:, :-1], casting="same_kind")
            for c, rows in kept.items():
                log_p[at, c] = _log_sums(asked, rows) - np.log(len(rows))  # eq. (2)

        side_by_side(work, range(0, len(X), step), len(X) * sum(map(len, kept.values())) > _WORTH_THREADS)
        return log_p, log_scale

    def _in_sufficient_precision(self, log_scale: Floats) -> dict[int, NDArray[Any]]:
        """The kept rows of each class that has any: in single precision only where that holds the exponents."""
        kept = {c: rows.filled for c, rows in enumerate(self.rows) if len(rows)}
        if self.given.dtype == np.float64:
            return kept
        longest = max(float(rows[:, -1].max()) for rows in kept.values())
        if max(self.sigma * longest, -log_scale.min()) < _LARGEST_PART:
            return kept
        return {c: _with_squares(rows[:, :-1].astype(np.float64)) for c, rows in kept.items()}


def _with_squares(features: NDArray[Any]) -> NDArray[Any]:
    """Rows with their squared length behind them."""
    kept = np.empty((len(features), features.shape[1] + 1), dtype=features.dtype)
    kept[:, :-1] = features
    with np.errstate(over="ignore"):
        np.einsum("ij,ij->i", features, features, out=kept[:, -1])
    return kept


def _log_sums(asked: NDArray[Any], kept: NDArray[Any]) -> Floats:
    """Log of the sum of exp(exponent) over all kept rows, in tiles: a running maximum, and the sum relative to it."""
    highest, sums = np.full(len(asked), -np.inf, dtype=asked.dtype), np.zeros(len(asked))
    for start in range(0, len(kept), _KEPT):
        E = asked @ kept[start : start + _KEPT].T
        higher = E.max(axis=1)
        if start > 0:
            np.maximum(higher, highest, out=higher)
            sums *= np.exp(highest - higher)
        E -= higher[:, None]
        np.maximum(E, _LEAST, out=E)
        sums += np.exp(E, out=E).sum(axis=1)  # eq. (6)
        highest = higher
    return np.asarray(highest + np.log(sums))
