"""The exact machine with a kernel that is an inner product but no density: linear, polynomial, or a function.

The score of a class is w_c m_c(x) + b_c, with m_c(x) the mean kernel value of x and the rows of the class: eq. (1).
Such values have either sign: no logarithms here and no densities; probabilities are the softmax of the scores.

The linear kernel's rows are taken relative to an origin amid them, unless a bias is given, which depends on the origin:
the nearest mean is the same, and a large offset costs no digits.

Where no bias is given or tuned, b_c = -w_c |C_c|^2 / 2, C_c the class mean in the kernel's own space: the boundary half
way between the means, section 2. With equal weights this is the nearest mean.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.learners.base.rows import Floats
from thalweg.learners.kernel_mean.backend import Backend
from thalweg.learners.kernel_mean.densities import biases_from, weights_from
from thalweg.learners.kernel_mean.exact import ExactCore, Given
from thalweg.learners.kernel_mean.tuning import (
    FEWEST_ROWS,
    RHOS,
    Tuned,
    best_threshold,
    fewest_errors_of,
    mean_scores,
    middle_of_minima,
)

Gram: TypeAlias = Callable[[Floats, Floats], Floats]

#: Kernel values at a time.
_BLOCK = 1 << 17


def linear(X: Floats, Y: Floats) -> Floats:
    """X'y."""
    return np.asarray(X @ Y.T)


def polynomial(X: Floats, Y: Floats, sigma: float, coef0: float, degree: int) -> Floats:
    """(sigma x'y + coef0) ^ degree."""
    return np.asarray((sigma * (X @ Y.T) + coef0) ** degree)


class GramCore(ExactCore):
    """Class means in the space of a kernel; ``gram`` gives the kernel values of two arrays of rows, shape (n, m).

    ``additive`` says that the kernel values of a sum of rows are the sum of theirs: then a class is its mean, and one
    product. ``sigma`` is the width of a kernel that has one.
    """

    untuned_bias = np.nan

    def __init__(
        self, features: int, given: Given, gram: Gram, additive: bool = False, sigma: float | None = None
    ) -> None:
        super().__init__(features, given)
        self.shifts = additive and given.bias is None
        self._sigma = sigma
        self._gram = gram
        self._additive = additive
        self._norms: list[tuple[int, float]] = []  # of each class the rows counted, and the sum of their kernel values

    def insert(self, at: int) -> None:
        super().insert(at)
        self._norms.insert(at, (0, 0.0))

    def forget(self) -> None:
        super().forget()
        self._norms = [(0, 0.0)] * len(self._norms)

    def restore(self, state: dict[str, NDArray[Any]], /) -> None:
        super().restore(state)
        self._norms = [(0, 0.0)] * self.n_classes

    @property
    def sigma(self) -> float | None:
        return self._sigma

    def discriminants(self, X: Floats) -> Floats:
        """w_c m_c(x) + b_c; minus infinity for a class not seen."""
        scores = np.full((len(X), self.n_classes), -np.inf)
        seen, weights, biases = self.in_force
        half_way = np.isnan(biases[seen]).any()
        X = X - self.origin
        for c, rows in enumerate(self.rows):
            if len(rows):
                bias = -0.5 * weights[c] * self._squared_norm(c) if half_way else biases[c]
                scores[:, c] = weights[c] * self._sums(X, self._kept(c)) / len(rows) + bias  # eq. (1), eq. (5)
        return scores

    def tune(self, kept: list[Floats], on: Backend) -> Tuned:
        """Rho and b of two classes by leave-one-out; else equal weights and the boundary half way."""
        given = self.given
        counts = np.array([len(part) for part in kept])
        seen = counts > 0
        weights = np.where(seen, weights_from(0.5 if given.rho is None else given.rho, seen), np.nan)
        rule = Tuned(1.0, weights, np.full(len(kept), np.nan))
        fixed = given.rho is not None and given.bias is not None
        if fixed or not given.tunes or seen.sum() != 2 or counts.sum() < FEWEST_ROWS or counts[seen].min() < 2:
            return rule
        low, high = np.flatnonzero(seen)
        means = self._leave_one_out([kept[low], kept[high]])
        positive = np.arange(counts.sum()) >= counts[low]
        rhos = RHOS if given.rho is None else np.array([weights[high]])
        scores = mean_scores(means[:, 0], means[:, 1], rhos)
        if given.bias is None:
            errors = fewest_errors_of(scores, positive)
        else:
            step = float(np.diff(biases_from(given.bias, seen)[[low, high]])[0])
            errors = ((scores + step > 0) != positive).sum(axis=1)
        best = middle_of_minima(errors)
        weights[[low, high]] = 1.0 - rhos[best], rhos[best]
        biases = np.where(seen, 0.0, self.untuned_bias)  # announced classes are as those that come later
        biases[high] = best_threshold(scores[best], positive).bias
        return Tuned(1.0, weights, biases)

    def _leave_one_out(self, pair: list[Floats]) -> Floats:
        """Mean kernel value of each row with the other rows of each of two classes, shape (n, 2)."""
        X = np.concatenate(pair)
        means = np.stack([self._sums(X, part) for part in pair], axis=1)
        ends = len(pair[0]), len(X)
        for c, own in enumerate((slice(0, ends[0]), slice(*ends))):
            means[own, c] -= np.concatenate([np.diagonal(self._values(block, block)) for block in _split(X[own], 64)])
            means[:, c] /= len(pair[c])
            means[own, c] *= len(pair[c]) / (len(pair[c]) - 1)
        return means

    def _kept(self, c: int) -> Floats:
        kept = self.rows[c].filled
        return kept - self.origin if self.shifts else kept

    def _sums(self, X: Floats, kept: Floats) -> Floats:
        """Sum of the kernel values of each row with all kept ones."""
        if self._additive:
            return np.asarray(self._values(X, kept.sum(axis=0)[None])[:, 0])
        sums = np.zeros(len(X))
        for tile in _split(kept, 1024):
            sums += np.concatenate([self._values(block, tile).sum(axis=1) for block in _split(X, _BLOCK // len(tile))])
        return sums

    def _squared_norm(self, c: int) -> float:
        """|C_c|^2, the mean kernel value among the rows of a class; only new rows cost anything."""
        kept = self._kept(c)
        if self._additive:
            return float(self._sums(kept.mean(axis=0)[None], kept)[0] / len(kept))
        done, total = self._norms[c]
        if done < len(kept):
            new = kept[done:]
            total += float(self._sums(new, new).sum())
            total += 2.0 * float(self._sums(new, kept[:done]).sum()) if done else 0.0
            self._norms[c] = len(kept), total
        return total / len(kept) ** 2

    def _values(self, X: Floats, Y: Floats) -> Floats:
        values = np.asarray(self._gram(X, Y), dtype=np.float64)
        shape = len(X), len(Y)
        if values.shape == shape and np.isfinite(values).all():
            return values
        given = "numbers that are not finite" if values.shape == shape else f"shape {values.shape}"
        raise InvalidInput(f"the kernel of KernelMeanClassifier must give finite numbers of shape {shape}, got {given}")


def polynomial_core(features: int, given: Given, coef0: float, degree: int) -> GramCore:
    """The polynomial kernel; sigma is 1 / features where none is given."""
    sigma = 1.0 / features if given.sigma is None else given.sigma
    return GramCore(features, given, partial(polynomial, sigma=sigma, coef0=coef0, degree=degree), sigma=sigma)


def _split(rows: Floats, size: int) -> list[Floats]:
    return [rows[start : start + size] for start in range(0, len(rows), max(1, size))]
