"""The loss of the linear model that is best in hindsight, at every row, in constant memory.

After t rows the least squares loss is S_t = min_w Σ_(s ≤ t) |y_s - w'x_s|². To know it for every t would take t fits.
It grows instead by known amounts: with A = Σ x x' over the rows before and r the residuals of a block of rows X from
the weights fitted before it, the innovations z = L⁻¹ r, where L L' = I + X A⁻¹ X' is Cholesky's, are what each row
adds, S_t = S_(t-1) + |z_t|². Nothing is subtracted, so no digits are lost where the loss is small against y.

The moments are kept as the triangle R of a QR decomposition, R'R = A. While A is singular, which the first rows are
and duplicated features remain, each row is solved on its own, with the triangle in place of all rows before.

Cost: O(p² + p b) a row with blocks of b rows; O(p³) while A is singular.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from thalweg.errors import InvalidInput
from thalweg.streams.stream import Floats

#: Rows whose innovations are found at once: long enough for matrix products, short against their squares.
_BLOCK = 64
#: A direction with less than this of its features' size is not there. Well above what rounding leaves of it.
_NEGLIGIBLE = 1e-10
_NO_ROWS = np.empty((0, 0))


class RunningLeastSquares:
    """Least squares over all rows so far: the smallest loss after each."""

    def __init__(self) -> None:
        self._triangle, self._rotated = _NO_ROWS, _NO_ROWS  # R, and the same rotation of y
        self._loss = 0.0

    def totals(self, X: Floats, y: Floats) -> Floats:
        """Take in rows X (rows, features) and y (rows, outputs); the smallest possible loss after each of them."""
        if self._triangle.size == 0:
            self._triangle, self._rotated = np.empty((0, X.shape[1])), np.empty((0, y.shape[1]))
        expected, got = (self._triangle.shape[1], self._rotated.shape[1]), (X.shape[1], y.shape[1])
        if got != expected:
            raise InvalidInput(f"Rows must keep their numbers of features and targets, {expected}, got {got}.")
        totals = np.empty(len(y))
        done = 0
        while done < len(y):
            upto = min(len(y), done + (_BLOCK if self._well_posed() else 1))
            added = self._innovations(X[done:upto], y[done:upto])
            totals[done:upto] = np.cumsum(np.append(self._loss, added))[1:]
            self._loss = float(totals[upto - 1])
            self._take_in(X[done:upto], y[done:upto])
            done = upto
        return totals

    @property
    def weights(self) -> Floats:
        """The best weights so far, of shape (features, outputs)."""
        return _fit(self._triangle, self._rotated)

    def _well_posed(self) -> bool:
        rows, features = self._triangle.shape
        if rows < features:
            return False
        sizes = np.linalg.svd(self._triangle / _sizes(self._triangle), compute_uv=False)
        return bool(sizes[-1] > _NEGLIGIBLE * sizes[0])

    def _innovations(self, X: Floats, y: Floats) -> Floats:
        """What each row adds to the loss."""
        if not self._well_posed():
            return np.array([self._loss_with(X[0], y[0])])
        residuals = y - X @ solve_triangular(self._triangle, self._rotated)
        spread = solve_triangular(self._triangle, X.T, trans="T")
        factor = cholesky(np.eye(len(X)) + spread.T @ spread, lower=True)
        innovations = np.asarray(solve_triangular(factor, residuals, lower=True))
        return np.asarray(np.square(innovations).sum(axis=1))

    def _loss_with(self, x: Floats, y: Floats) -> float:
        rows, targets = np.vstack([self._triangle, x]), np.vstack([self._rotated, y])
        return float(np.square(targets - rows @ _fit(rows, targets)).sum())

    def _take_in(self, X: Floats, y: Floats) -> None:
        rotation, self._triangle = np.linalg.qr(np.vstack([self._triangle, X]))
        self._rotated = rotation.T @ np.vstack([self._rotated, y])
        if not self._well_posed():  # then the rotation leaves in y some of the loss that is already counted
            self._rotated = self._triangle @ self.weights


def _fit(rows: Floats, targets: Floats) -> Floats:
    """Least squares, features in units of their own size; of equals the weights shortest in those units."""
    sizes = _sizes(rows)
    return np.asarray(np.linalg.lstsq(rows / sizes, targets, rcond=_NEGLIGIBLE)[0] / sizes[:, np.newaxis])


def _sizes(rows: Floats) -> Floats:
    sizes = np.linalg.norm(rows, axis=0)
    return np.where(sizes > 0.0, sizes, 1.0)
