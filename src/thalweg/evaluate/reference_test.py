"""Whether means of recent blocks differ from those of a reference, for many series at once.

The last 4, 8 and 16 blocks are compared with all blocks since the reference began by Welch's test. Blocks join the
reference when 16 newer ones are there. Long-run variance and degrees of freedom allow for autocorrelation at lag 1;
the variance is at least that of independent rows; Bernstein's term allows for skewed means of rare indicators.
Cost: O(1) a series and block, and nothing depends on how blocks are cut into calls.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from thalweg.saved import Saved

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: Blocks of the shortest reference and of the longest window; the windows.
REFERENCE, WINDOWS = 16, (4, 8, 16)
#: The age of a series that has no reference yet: it is not tested.
NO_REFERENCE = -(2**40)
#: The highest autocorrelation that is reckoned with; degrees of freedom below which nothing is tested, and at the most.
_HIGHEST, _LEAST_FREEDOM, _FREEDOM = 0.98, 4, 400


class Difference(NamedTuple):
    """The block of the first difference, the series that differ there, and how much."""

    block: int
    series: NDArray[np.int64]
    size: Floats


class ReferenceTest(Saved):
    """Compares recent blocks with a reference, series by series.

    Parameters
    ----------
    ranges, least : arrays
        Of each series: how far apart its values can lie, and the smallest difference that counts.
    rows : int
        Rows of a block.
    false_alarms : float
        Expected false alarms a row, over all series together.
    """

    _saved = ("ring", "squares", "age", "first", "blocks", "last", "sums")

    def __init__(self, ranges: Floats, least: Floats, rows: int, false_alarms: float) -> None:
        count = len(ranges)
        level = min(0.01, false_alarms * rows / max(1, count * len(WINDOWS)))
        freedom = np.arange(_FREEDOM + 1)
        self._critical = stdtrit(np.maximum(freedom, _LEAST_FREEDOM), 1.0 - level / 2)
        self._skew = ranges * math.log(2.0 / level) / (3.0 * rows)
        self._least, self._rows = least, rows
        #: Means and mean squares of the newest blocks, the oldest first.
        self.ring, self.squares = np.zeros((2, REFERENCE, count))
        self.age = np.full(count, NO_REFERENCE)
        #: Of the reference: its first mean, blocks, and sums of means less the first, of their squares, of products of
        #: neighbours, and of mean squares; the last mean that joined.
        self.first, self.blocks, self.last = np.zeros((3, count))
        self.sums = np.zeros((4, count))

    def settle(self, series: Flags, means: Floats, squares: Floats) -> None:
        """Begin a reference for these series with all blocks of the ring, whose means are given anew."""
        known = ~np.isnan(means)
        first = np.where(known, means, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        means, squares = np.where(known, means, first), np.nan_to_num(squares)
        off = means - first
        self.ring[:, series], self.squares[:, series] = means, squares
        self.first[series], self.blocks[series], self.last[series] = first, len(means), off[-1]
        for sums, values in zip(self.sums, (off, np.square(off), off[1:] * off[:-1], squares), strict=True):
            sums[series] = values.sum(axis=0)
        self.age[series] = 0

    def forget(self, series: Flags) -> None:
        """These series have no reference until `settle`."""
        self.age[series] = NO_REFERENCE

    def add(self, means: Floats, squares: Floats) -> Difference | None:
        """Take in blocks up to the first difference; None where there is none, and all were taken."""
        steps = len(means)
        means = np.where(np.isnan(means), self.first, means)
        all_means = np.concatenate([self.ring, means])
        all_squares = np.concatenate([self.squares, np.nan_to_num(squares)])
        ages = self.age + np.arange(1, steps + 1)[:, None]
        joined, blocks, sums = self._references(all_means[:steps], all_squares[:steps], ages > REFERENCE)
        different, size = self._differences(all_means, all_squares, ages, blocks, sums)
        at = int(different.any(axis=1).argmax()) if different.any() else steps - 1
        self.ring, self.squares = all_means[at + 1 : at + 1 + REFERENCE], all_squares[at + 1 : at + 1 + REFERENCE]
        self.age, self.blocks, self.sums = ages[at], blocks[at], sums[:, at]
        self.last = np.where(ages[at] > REFERENCE, joined[at], self.last)
        if not different[at].any():
            return None
        windows = np.flatnonzero(different[at])
        return Difference(at, windows, size[at, windows])

    def reference(self) -> Floats:
        """The mean of each reference."""
        return np.asarray(self.first + self.sums[0] / np.maximum(self.blocks, 1))

    def _references(self, means: Floats, squares: Floats, joins: Flags) -> tuple[Floats, Floats, Floats]:
        """What leaves the ring, and the blocks and sums of the references after each step."""
        off = means - self.first
        before = np.concatenate([self.last[None], off[:-1]])
        if len(joins) > 1:
            begins = joins[1:] & ~joins[:-1]
            before[1:][begins] = np.broadcast_to(self.last, begins.shape)[begins]
        added = np.where(joins, np.stack([off, np.square(off), off * before, squares]), 0.0)
        # cumsum adds one by one, so that chunks do not matter to the last bit
        sums = np.cumsum(np.concatenate([self.sums[:, None], added], axis=1), axis=1)[:, 1:]
        return off, self.blocks + np.cumsum(joins, axis=0), sums

    def _differences(
        self, means: Floats, squares: Floats, ages: NDArray[np.int64], blocks: Floats, sums: Floats
    ) -> tuple[Flags, Floats]:
        """Where a window differs from the reference, and by how many times the bound at the most."""
        count = np.maximum(blocks, 2.0)
        total, square, product, row_square = sums
        mean = total / count
        deviations = np.maximum(square - count * np.square(mean), 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            lag = np.where(deviations > 0, (product - count * np.square(mean)) / deviations, 0.0)
        lag = np.clip(lag + (1.0 + 4.0 * lag) / count + 1.0 / np.sqrt(count), 0.0, _HIGHEST)
        inflation = (1.0 + lag) / (1.0 - lag)
        variance = deviations / (count - 1.0)
        freedom = np.clip(count / inflation - 1.0, 0, _FREEDOM).astype(np.int64)
        tested, critical = freedom >= _LEAST_FREEDOM, self._critical[freedom]
        steps = len(ages)
        different, size = np.zeros(ages.shape, dtype=np.bool_), np.zeros(ages.shape)
        summed = _window_sums(means), _window_sums(np.square(means - self.first)), _window_sums(squares)
        for at, window in enumerate(WINDOWS):
            recent, recent_square, rows_square = (values[at][-steps:] for values in summed)
            recent = recent / window - self.first
            own = np.maximum(recent_square - window * np.square(recent), 0.0) / (window - 1.0)
            pooled = (total + window * recent) / (count + window) + self.first
            independent = (row_square + rows_square) / (count + window) - np.square(pooled)
            least = np.maximum(variance, np.maximum(independent, 0.0) / self._rows)
            error = np.sqrt(inflation * (least / count + np.maximum(least, own) / window))
            gap = np.abs(recent - mean)
            bound = critical * error + self._skew * inflation / window
            passed = tested & (ages >= window) & (gap > bound) & (gap >= self._least)
            different |= passed
            size = np.maximum(size, np.where(passed, gap / np.maximum(bound, 1e-300), 0.0))
        return different, size


def _window_sums(values: Floats) -> list[Floats]:
    """Sums over each of the windows, the newest last; added in an order that does not depend on the steps."""
    two = values[1:] + values[:-1]
    four = two[2:] + two[:-2]
    eight = four[4:] + four[:-4]
    return [four, eight, eight[8:] + eight[:-8]]
