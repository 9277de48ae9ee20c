"""How often the prediction sets of a run hold the true label, and how large they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.run.lowest_coverage import LowestCoverage
from thalweg.saved import Saved

#: Rows of the blocks of which the lowest coverage is kept.
_BLOCK = 2000


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
