"""How often the prediction sets of a run hold the true label, and the lowest coverage of sets or intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.saved import Saved

#: Rows of the blocks of which the lowest coverage is kept.
_BLOCK = 2000


class LowestCoverage(Saved):
    """Over blocks of so many rows.

    Examples
    --------
    >>> lowest = LowestCoverage(2)
    >>> lowest.add(np.array([True, True, True]))
    >>> lowest.add(np.array([False, False]))
    >>> lowest.metrics()
    {'coverage': 0.5, 'row': 3}
    """

    _saved = ("_seen", "block", "lowest")
    _made = (("lowest", lambda: (0.0, 0)),)

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._seen = 0
        #: Rows and those held, of the block under way.
        self.block = [0, 0]
        #: The coverage and the first row of the worst block.
        self.lowest: tuple[float, int] | None = None

    def add(self, held: NDArray[Any]) -> None:
        """Take in whether each row was held."""
        while len(held):
            some = held[: self._rows - self.block[0]]
            self.block = [self.block[0] + len(some), self.block[1] + int(some.sum())]
            self._seen += len(some)
            held = held[len(some) :]
            if self.block[0] == self._rows:
                coverage = (self.block[1] / self._rows, self._seen - self._rows + 1)
                self.lowest = coverage if self.lowest is None else min(coverage, self.lowest)
                self.block = [0, 0]

    def metrics(self) -> dict[str, Any] | None:
        return None if self.lowest is None else {"coverage": self.lowest[0], "row": self.lowest[1]}


class SetScoreboard(Saved):
    """Over all rows, and over the worst block of rows.

    Examples
    --------
    >>> board = SetScoreboard(0.9)
    >>> board.add(np.array([1.0, 0.0, np.nan]), np.array([1.0, 0.0, np.nan]))
    >>> found = board.metrics()
    >>> found["rows"], found["coverage"], found["mean_size"], found["empty"]
    (2, 0.5, 0.5, 0.5)
    """

    _saved = ("_all", "_lowest")

    def __init__(self, asked: float) -> None:
        self.asked = asked
        #: Rows, rows whose set holds the label, labels in sets, empty sets.
        self._all = [0, 0, 0, 0]
        self._lowest = LowestCoverage(_BLOCK)

    def add(self, held: NDArray[np.float64], size: NDArray[np.float64]) -> None:
        """Take in rows whose labels have come; NaN for those that were not predicted."""
        known = ~np.isnan(size)
        held, size = held[known], size[known]
        counts = (len(held), int(held.sum()), int(size.sum()), int((size == 0).sum()))
        self._lowest.add(held)
        self._all = [before + more for before, more in zip(self._all, counts, strict=True)]

    def metrics(self) -> dict[str, Any]:
        rows, held, labels, empty = self._all
        return {
            "asked": self.asked,
            "rows": rows,
            "coverage": held / rows if rows else None,
            "mean_size": labels / rows if rows else None,
            "empty": empty / rows if rows else None,
            "lowest": self._lowest.metrics(),
            "block_rows": _BLOCK,
        }
