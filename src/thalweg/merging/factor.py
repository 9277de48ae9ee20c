"""A covariance S from its inverse P = L D L' as the kernels keep it, and back.

L is unit lower triangular and D a positive diagonal. S = C E C' with C unit upper triangular from the last column
backwards; then L' = C^-1 and D = E^-1 (``kernels/linear_algebra/triangle.hpp``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

Floats = NDArray[np.float64]


class Factor(NamedTuple):
    """L' without its unit diagonal, and D."""

    above: Floats
    diagonal: Floats

    @classmethod
    def identity(cls, order: int) -> Factor:
        return cls(np.zeros((order, order)), np.ones(order))

    @classmethod
    def inverse_of(cls, covariance: Floats, least: Floats) -> tuple[Factor, bool]:
        """That of S^-1, and whether no feature's variance given the others is below ``least``; it is then held there.

        Examples
        --------
        >>> factor, regular = Factor.inverse_of(np.array([[2.0, 1.0], [1.0, 1.0]]), np.zeros(2))
        >>> factor.apply(np.eye(2)).tolist(), regular
        ([[1.0, -1.0], [-1.0, 2.0]], True)
        """
        try:
            half = np.linalg.cholesky(covariance[::-1, ::-1])[::-1, ::-1]
            left = half.diagonal() ** 2
            regular = bool((left > least).all())
            columns = half / half.diagonal()
        except np.linalg.LinAlgError:
            regular = False
        if not regular:
            columns, left = _held_above(covariance, least)
        inverse = solve_triangular(columns, np.eye(len(covariance)), unit_diagonal=True)
        return cls(np.ascontiguousarray(np.triu(inverse, 1)), 1 / left), regular

    def covariance(self) -> Floats:
        """S, exactly symmetric."""
        order = len(self.diagonal)
        columns = solve_triangular(self.above + np.eye(order), np.eye(order), unit_diagonal=True)
        half = columns / np.sqrt(self.diagonal)
        return np.asarray(half @ half.T)

    def apply(self, rows: Floats) -> Floats:
        """P times each row."""
        lower = self.above.T + np.eye(len(self.diagonal))
        return np.asarray((self.diagonal * (rows @ lower)) @ lower.T)


def _held_above(covariance: Floats, least: Floats) -> tuple[Floats, Floats]:
    """C and E, no entry of E below ``least``: rounding may leave less of a direction without variance, or none."""
    left, columns = covariance.copy(), np.eye(len(covariance))
    for at in range(len(left) - 1, -1, -1):
        left[at, at] = max(left[at, at], least[at], np.finfo(np.float64).tiny)
        columns[:at, at] = left[:at, at] / left[at, at]
        left[:at, :at] -= np.outer(columns[:at, at], left[:at, at])
    return columns, left.diagonal().copy()
