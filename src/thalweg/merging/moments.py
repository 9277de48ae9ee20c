"""Moments of rows in groups: weights, means and scatter, which can be merged and subtracted again.

T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances",
COMPSTAT 1982. Of two runs of rows a, then b, with weights n, means m and scatters A about them, and d = m_b - m_a,

    n = n_a + n_b        m = m_a + (n_b / n) d        A = A_a + A_b + (n_a n_b / n) d d'

in each group; the groups share one scatter. Where rows forget, what came before a row is multiplied by its fade: then
n_a and A_a are first multiplied by all the fades of b, and a must be the earlier one. This is exact.

Means are kept relative to the first row, so that a large offset costs no digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from thalweg.errors import InvalidInput

Floats = NDArray[np.float64]

#: Rows that are summed at a time: enough for a matrix product, few enough to stay in the cache.
_BLOCK = 4096
#: No row, however heavy, leaves less of what came before: as in the kernels.
_LEAST_FADE = 1e-12
#: A weight below this share of what it was taken from is the rounding of nothing.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Moments:
    """Moments of rows.

    Attributes
    ----------
    rows : int
        How many, whatever they count for.
    fade : float
        The logarithm of what these rows leave of those before them; 0 where nothing is forgotten.
    last : int
        The group of the last row, -1 before any.
    origin : ndarray of shape (columns,)
        What means are relative to.
    weights, means : ndarray of shape (groups,), (groups, columns)
        What the rows of each group count for, and their mean.
    scatter : ndarray of shape (columns, columns) or (columns,)
        Of all rows about the means of their groups, or its diagonal alone.
    """

    rows: int
    fade: float
    last: int
    origin: Floats
    weights: Floats
    means: Floats
    scatter: Floats

    @classmethod
    def none(cls, columns: int, groups: int, *, diagonal: bool = False) -> Moments:
        """Of no row."""
        scatter = np.zeros(columns if diagonal else (columns, columns))
        return cls(0, 0.0, -1, np.zeros(columns), np.zeros(groups), np.zeros((groups, columns)), scatter)

    @property
    def columns(self) -> int:
        return len(self.origin)

    @property
    def groups(self) -> int:
        return len(self.weights)

    @property
    def weight(self) -> float:
        """What all rows count for."""
        return float(self.weights.sum())

    def with_rows(
        self, rows: Floats, groups: NDArray[np.int64], masses: Floats, *, forgetting: float = 0.0, centred: bool = True
    ) -> Moments:
        """These, then the rows of this array, each in its group and as many times as its mass says.

        A row makes the share ``forgetting`` of what was known be forgotten; of mass w, 1 - (1 - forgetting)^w. Without
        ``centred`` all means are zero and the scatter is the sum of squares.
        """
        whole = self
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            whole = whole.merge(self._of_block(rows[part], groups[part], masses[part], forgetting, centred))
        return whole

    def _of_block(
        self, rows: Floats, groups: NDArray[np.int64], masses: Floats, forgetting: float, centred: bool
    ) -> Moments:
        counted = masses > 0
        if not counted.all():
            rows, groups, masses = rows[counted], groups[counted], masses[counted]
        if len(rows) == 0:
            return Moments.none(self.columns, self.groups, diagonal=self.scatter.ndim == 1)
        news, fades = _shares(masses, forgetting)
        origin = rows[0].copy() if centred else np.zeros(self.columns)
        values = rows - origin
        membership = csr_array((news, (groups, np.arange(len(rows)))), shape=(self.groups, len(rows)))
        weights = np.bincount(groups, news, minlength=self.groups).astype(np.float64)
        means = np.zeros((self.groups, self.columns))
        if centred:
            means = (membership @ values) / np.where(weights > 0, weights, 1.0)[:, np.newaxis]
            values -= means if self.groups == 1 else means[groups]
        if not (news == 1).all():
            values *= np.sqrt(news)[:, np.newaxis]
        scatter = self._squares(values)
        return Moments(len(rows), fades, int(groups[-1]), origin, weights, means, scatter)

    def merge(self, later: Moments) -> Moments:
        if later.rows == 0:
            return self
        if self.rows == 0:
            return later
        kept = np.exp(later.fade)
        before = kept * self.weights
        weights = before + later.weights
        whole = np.where(weights > 0, weights, 1.0)
        apart = later._means_from(self.origin) - self.means
        half = np.sqrt(before * later.weights / whole)[:, np.newaxis] * apart
        return replace(
            self,
            rows=self.rows + later.rows,
            fade=self.fade + later.fade,
            last=later.last,
            weights=weights,
            means=self.means + (later.weights / whole)[:, np.newaxis] * apart,
            scatter=kept * self.scatter + later.scatter + self._squares(half),
        )

    def subtract(self, part: Moments, owner: str, *, squared: int | None = None) -> Moments:
        """Of these rows, less those of a part that is among them; nothing may have been forgotten.

        Only the first ``squared`` columns have sums of squares that are kept, where not all have.
        """
        weights = self.weights - part.weights
        weights[np.abs(weights) <= _ROUNDING * self.weights] = 0.0
        if (weights < 0).any():
            raise InvalidInput(f"what is taken out of {owner} must have been learned by it, got rows that were not")
        left = np.where(weights > 0, weights, 1.0)
        theirs = part._means_from(self.origin)
        shift = (np.where(weights > 0, part.weights, 0.0) / left)[:, np.newaxis] * (self.means - theirs)
        means = np.where((weights > 0)[:, np.newaxis], self.means + shift, 0.0)
        share = weights * part.weights / np.where(self.weights > 0, self.weights, 1.0)
        between = self._squares(np.sqrt(share)[:, np.newaxis] * (means - theirs))
        # A group that is taken out as a whole leaves nothing between: its two means are one.
        scatter = self.scatter - part.scatter - between
        left_of_it, all_of_it = (each if each.ndim == 1 else each.diagonal() for each in (scatter, self.scatter))
        if (left_of_it < -_ROUNDING * all_of_it)[:squared].any():
            raise InvalidInput(f"what is taken out of {owner} must have been learned by it, got rows that were not")
        rows = max(1, self.rows - part.rows) if weights.any() else 0
        last = (self.last if weights[self.last] > 0 else int(weights.argmax())) if rows else -1
        return replace(self, rows=rows, last=last, weights=weights, means=means, scatter=scatter)

    def in_groups(self, places: NDArray[np.int64], groups: int) -> Moments:
        """The same with each group at its place among so many."""
        weights, means = np.zeros(groups), np.zeros((groups, self.columns))
        weights[places], means[places] = self.weights, self.means
        last = int(places[self.last]) if self.last >= 0 else -1
        return replace(self, last=last, weights=weights, means=means)

    def of_groups(self, kept: NDArray[np.int64]) -> Moments:
        """The same without the groups that are not named; the last row's must be."""
        last = int(np.flatnonzero(kept == self.last)[0]) if self.last >= 0 else -1
        return replace(self, last=last, weights=self.weights[kept], means=self.means[kept])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As a file holds them."""
        return {field.name: np.atleast_1d(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], columns: int, groups: int, diagonal: bool) -> Moments:
        """What `arrays` gave; ValueError where it cannot be that."""
        empty = cls.none(columns, groups, diagonal=diagonal)
        shapes = {name: array.shape for name, array in empty.arrays().items()}
        if {name: arrays[name].shape for name in shapes} != shapes:
            raise ValueError("the sums have the wrong shape")
        rows, last = int(arrays["rows"].item()), int(arrays["last"].item())
        moments = replace(
            empty,
            rows=rows,
            fade=float(arrays["fade"].item()),
            last=last,
            **{name: arrays[name].astype(np.float64) for name in ("origin", "weights", "means", "scatter")},
        )
        numbers = (moments.fade, *(getattr(moments, name) for name in ("origin", "weights", "means", "scatter")))
        if not all(np.isfinite(number).all() for number in numbers) or (moments.weights < 0).any() or moments.fade > 0:
            raise ValueError("the sums are not those of rows")
        if rows < 0 or not -1 <= last < groups or (rows > 0) != (last >= 0) or (rows > 0) != (moments.weight > 0):
            raise ValueError("the sums disagree about their rows")
        return moments

    def _means_from(self, origin: Floats) -> Floats:
        return self.means + (self.origin - origin)

    def _squares(self, half: Floats) -> Floats:
        return np.einsum("ij,ij->j", half, half) if self.scatter.ndim == 1 else half.T @ half


def _shares(masses: Floats, forgetting: float) -> tuple[Floats, float]:
    """What each row still counts for after the last one, and the logarithm of what they leave of those before them."""
    if forgetting == 0:
        return masses, 0.0
    fades = np.maximum(masses * np.log1p(-forgetting), np.log(min(_LEAST_FADE, 1 - forgetting)))
    news = np.where(masses == 1, 1.0, -np.expm1(masses * np.log1p(-forgetting)) / forgetting)
    after = np.cumsum(fades[::-1])[::-1]
    return news * np.exp(np.append(after[1:], 0.0)), float(after[0])
