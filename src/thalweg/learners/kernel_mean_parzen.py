"""The exact machine with the radial kernel: Parzen densities of the classes, in logarithms and in blocks.

A kept row a is held as [a, |a|^2, 1] and a row x asked about as [2 sigma x, -sigma, -sigma |x|^2]; their product is the
exponent -sigma |x - a|^2. So one matrix product gives a block of exponents, which needs only an exponential and a sum
after it. Where a sum is so small that terms may have underflowed, or exponents so large that their rounding tells, the
row is answered again by log-sum-exp in double precision, without the |x|^2 that all classes share: it is right at any
distance.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.growing_rows import GrowingRows
from thalweg.learners.kernel_mean_exact import ExactCore
from thalweg.learners.kernel_mean_rule import log_scores
from thalweg.learners.kernel_mean_tuning import Tuned, leave_one_out, untuned
from thalweg.learners.rows import Floats
from thalweg.learners.waiting import bar

#: A block of kernel values: rows asked about, and kept rows. It stays in a core's own cache.
_ROWS, _KEPT = 128, 512
#: Fewer kernel values than this are computed sooner than threads start.
_WORTH_A_THREAD = 1 << 20
#: A sum of kernel values above this has lost nothing to underflow.
_SURE = {np.dtype(np.float64): 1e-250, np.dtype(np.float32): 1e-25}
#: Parts of an exponent below this are rounded by no more than 1e-6 (single precision: 1e-3).
_LARGEST_PART = {np.dtype(np.float64): 1e10, np.dtype(np.float32): 1e4}
#: Kept rows of single precision lie within this, so that their squares are finite too.
_FARTHEST = {np.dtype(np.float64): np.inf, np.dtype(np.float32): 1e18}


class ParzenCore(ExactCore):
    """Class densities p_c(x) = mean of exp(-sigma |x - x_i|^2)."""

    extra_columns = 2

    def keep(self, X: Floats) -> NDArray[Any]:
        """Rows relative to the origin, in the precision asked for, with their squared length and 1 behind them."""
        farthest = _FARTHEST[self.given.dtype]
        return self.complete(np.clip(X - self.origin, -farthest, farthest).astype(self.given.dtype))

    def complete(self, features: NDArray[Any]) -> NDArray[Any]:
        """Kept rows from their features."""
        kept = np.ones((len(features), self.n_features + 2), dtype=self.given.dtype)
        kept[:, :-2] = features
        with np.errstate(over="ignore"):
            kept[:, -2] = np.einsum("ij,ij->i", features, features)
        return kept

    def choose_origin(self, first: Floats) -> Floats:
        """The first row: distances do not change, and a large offset costs no digits."""
        return first.copy()

    def tune(self, kept: list[NDArray[Any]]) -> Tuned:
        """By leave-one-out in double precision, or by the rule without tuning."""
        rows = np.concatenate([part[:, :-2] for part in kept]).astype(np.float64)
        counts = [len(part) for part in kept]
        given = self.given
        if not given.tunes or None not in (given.sigma, given.rho, given.bias):
            return untuned(rows, np.array(counts) > 0, given.sigma, given.rho, given.bias)
        codes = np.repeat(np.arange(len(kept)), counts)
        with bar("tuning by leave-one-out", given.progress) as tell:
            return leave_one_out(rows, codes, len(kept), given.sigma, given.rho, given.bias, tell)

    def discriminants(self, X: Floats) -> Floats:
        """Log of w_c p_c(x) + b_c, up to a number that all classes of a row share."""
        log_p, log_scale = self.log_densities(X)
        return log_scores(log_p, log_scale, self.weights, self.biases, self.seen)

    def log_densities(self, X: Floats) -> tuple[Floats, Floats]:
        """Log densities of each row: their sum, the second part being the same for all classes."""
        X = X - self.origin
        log_scale = -self.sigma * np.einsum("ij,ij->i", X, X)
        log_p = np.full((len(X), self.n_classes), -np.inf)
        blocks = [slice(start, start + _ROWS) for start in range(0, len(X), _ROWS)]

        def work(at: slice) -> None:
            for c, rows in enumerate(self.rows):
                if len(rows):
                    log_p[at, c] = self._log_means(X[at], log_scale[at], rows)

        if len(blocks) < 2 or len(X) * self.counts.sum() < _WORTH_A_THREAD:
            for at in blocks:
                work(at)
        else:
            with ThreadPoolExecutor(os.cpu_count()) as threads:
                list(threads.map(work, blocks))
        return log_p, log_scale

    def _log_means(self, X: Floats, log_scale: Floats, rows: GrowingRows) -> Floats:
        """Of one class: log p(x) less ``log_scale``."""
        kept, sigma = rows.filled, self.sigma
        with np.errstate(over="ignore", invalid="ignore"):
            asked = np.empty((len(X), kept.shape[1]), dtype=kept.dtype)
            asked[:, :-2] = 2.0 * sigma * X
            asked[:, -2] = -sigma
            asked[:, -1] = log_scale
            sums = np.zeros(len(X))
            for start in range(0, len(kept), _KEPT):
                K = asked @ kept[start : start + _KEPT].T
                sums += np.exp(K, out=K).sum(axis=1)  # eq. (6)
        sure = (sums > _SURE[kept.dtype]) & (-log_scale < _LARGEST_PART[kept.dtype])
        if not sigma * kept[:, -2].max() < _LARGEST_PART[kept.dtype]:
            sure[:] = False
        log_sums = np.log(np.where(sure, sums, 1.0)) - log_scale
        if not sure.all():
            log_sums[~sure] = self._log_sums_far(X[~sure], kept)
        return np.asarray(log_sums - np.log(len(kept)))  # eq. (2)

    def _log_sums_far(self, X: Floats, kept: NDArray[Any]) -> Floats:
        """Log of the sum of exp(2 sigma x a - sigma |a|^2), in tiles: running maximum, and sum relative to it."""
        highest, sums = np.full(len(X), -np.inf), np.zeros(len(X))
        for start in range(0, len(kept), _KEPT):
            A = kept[start : start + _KEPT, :-2].astype(np.float64)
            E = self.sigma * (2.0 * X @ A.T - np.einsum("ij,ij->i", A, A))
            higher = np.maximum(highest, E.max(axis=1))
            E -= higher[:, None]
            sums = sums * np.exp(highest - higher) + np.exp(E, out=E).sum(axis=1)
            highest = higher
        return highest + np.log(sums)
