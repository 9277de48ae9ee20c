"""Importance over time: samples of a few rows each, in blocks of equal length, and their fading mean.

When there are too many blocks, neighbours are joined, so that memory is constant and no sample is lost. Rows of one
sample are predicted by one model, whose own error they share. So the standard error of a mean is the larger of two: by
the spread of rows, and by the spread of samples.

Cost: O(g) for a sample of g columns, beside that of `replace_groups`; memory O(96 g).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.explain.importance import Replaced

Floats = NDArray[np.float64]

#: Blocks that are kept at the most, and rows of the first ones.
MOST_BLOCKS, FIRST_LENGTH = 96, 64
#: Rows over which the fading mean remembers, and so many distances between samples at the least.
MEMORY, _LEAST_DISTANCES = 1000, 3
#: Increase and effect, each as sums and squares of rows, then of samples.
_SUMS = 8


class Estimate(NamedTuple):
    """Means and standard errors by column; a standard error is NaN where it is not known."""

    increase: Floats
    increase_error: Floats
    effect: Floats
    effect_error: Floats
    #: How many samples they are means of.
    samples: float

    @property
    def varied(self) -> NDArray[np.bool_]:
        """Columns that made any difference."""
        return np.asarray((self.increase != 0.0) | (self.increase_error != 0.0))


@dataclass
class Sums:
    """Weighted sums of some samples: of rows and of samples their weights, and those squared."""

    weights: Floats
    values: Floats
    first: int = 0
    last: int = 0

    @classmethod
    def of(cls, row: int, replaced: Replaced) -> Sums:
        count = float(len(replaced.increase))
        parts: list[Floats] = []
        for each in replaced:
            total = each.sum(axis=0)
            mean = total / count
            parts += [total, (each**2).sum(axis=0), mean, mean**2]
        return cls(np.array([count, count, 1.0, 1.0]), np.array(parts), row, row)

    @classmethod
    def together(cls, parts: Iterable[Sums]) -> Sums:
        first, *others = parts
        found = cls(first.weights.copy(), first.values.copy(), first.first, first.last)
        for each in others:
            found.weights += each.weights
            found.values += each.values
            found.last = max(found.last, each.last)
        return found

    def fade(self, factor: float) -> None:
        self.weights *= [factor, factor**2, factor, factor**2]
        self.values *= factor

    def estimate(self) -> Estimate:
        (increase, increase_error), (effect, effect_error) = (self._mean(at) for at in (0, 4))
        return Estimate(increase, increase_error, effect, effect_error, float(self.weights[2]))

    def _mean(self, at: int) -> tuple[Floats, Floats]:
        means: list[Floats] = []
        errors: list[Floats] = []
        for kind in (0, 1):
            weight, squared = self.weights[2 * kind : 2 * kind + 2]
            total, squares = self.values[at + 2 * kind : at + 2 * kind + 2]
            mean = total / weight
            many = weight**2 / squared
            variance = np.maximum(squares / weight - mean**2, 0.0)
            means.append(mean)
            errors.append(np.sqrt(variance / (many - 1.0)) if many > 1.5 else np.full(len(mean), np.nan))
        return means[0], np.fmax(*errors)


class ImportanceOverTime:
    """Samples of importance by the row at which they were taken.

    Examples
    --------
    >>> over_time = ImportanceOverTime(columns=1, distance=100)
    >>> for row in range(0, 12800, 100):
    ...     over_time.add(row, Replaced(np.full((2, 1), row / 12800), np.zeros((2, 1))))
    >>> over_time.length, len(over_time.blocks)
    (256, 50)
    >>> over_time.recent().increase.round(1)
    array([0.9])
    """

    def __init__(self, columns: int, distance: int) -> None:
        self._columns = columns
        self._memory = max(MEMORY, _LEAST_DISTANCES * distance)
        self.length = FIRST_LENGTH
        #: By their number, those that have samples.
        self.blocks: dict[int, Sums] = {}
        self._fading: Sums | None = None

    def add(self, row: int, replaced: Replaced) -> None:
        """Take a sample of rows that come after so many."""
        sums = Sums.of(row, replaced)
        if self._fading is None:
            self._fading = Sums.together([sums])
        else:
            self._fading.fade(exp((self._fading.last - row) / self._memory))
            self._fading = Sums.together([self._fading, sums])
        while row // self.length >= MOST_BLOCKS:
            self.length *= 2
            joined: dict[int, list[Sums]] = {}
            for number, each in self.blocks.items():
                joined.setdefault(number // 2, []).append(each)
            self.blocks = {number: Sums.together(each) for number, each in joined.items()}
        number = row // self.length
        held = [self.blocks[number]] if number in self.blocks else []
        self.blocks[number] = Sums.together([*held, sums])

    def copy(self) -> ImportanceOverTime:
        """As it is now, for another thread to read while samples are added here."""
        found = ImportanceOverTime.__new__(ImportanceOverTime)
        found._columns, found._memory, found.length = self._columns, self._memory, self.length
        found.blocks = dict(self.blocks)  # blocks are replaced and never changed
        found._fading = None if self._fading is None else Sums.together([self._fading])
        return found

    def recent(self) -> Estimate | None:
        """The fading mean."""
        return None if self._fading is None else self._fading.estimate()

    def overall(self) -> Estimate | None:
        """The mean of all samples."""
        return Sums.together(self.blocks.values()).estimate() if self.blocks else None

    def between(self, begin: float, end: float) -> Estimate | None:
        """The mean of the blocks with samples from one row to another; None where there is none."""
        within = [each for each in self.blocks.values() if begin <= each.first and each.last <= end]
        return Sums.together(within).estimate() if within else None

    def state(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        """What JSON holds, and arrays."""
        kept = [*self.blocks.values(), *([] if self._fading is None else [self._fading])]
        plain = {"length": self.length, "blocks": list(self.blocks), "rows": [[each.first, each.last] for each in kept]}
        return plain, {
            "weights": np.array([each.weights for each in kept]).reshape(-1, 4),
            "values": np.array([each.values for each in kept]).reshape(-1, _SUMS, self._columns),
        }

    def restore(self, plain: dict[str, Any], arrays: dict[str, Floats]) -> None:
        kept = [
            Sums(weights.copy(), values.copy(), *rows)
            for weights, values, rows in zip(arrays["weights"], arrays["values"], plain["rows"], strict=True)
        ]
        self.length = int(plain["length"])
        self.blocks = dict(zip(plain["blocks"], kept, strict=False))
        self._fading = kept[-1] if kept else None
