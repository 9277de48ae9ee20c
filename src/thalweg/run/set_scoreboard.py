"""How often the prediction sets of a run hold the true label, and how large they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Rows over which the lowest coverage is taken.
_BLOCK = 2000


class SetScoreboard:
    """Over all rows, and over the worst block of rows.

    Examples
    --------
    >>> board = SetScoreboard(0.9)
    >>> board.add(np.array([1.0, 0.0, np.nan]), np.array([1.0, 0.0, np.nan]))
    >>> found = board.metrics()
    >>> found["rows"], found["coverage"], found["mean_size"], found["empty"]
    (2, 0.5, 0.5, 0.5)
    """

    def __init__(self, asked: float) -> None:
        self.asked = asked
        #: Rows, rows whose set holds the label, labels in sets, empty sets: of all rows, and of the block under way.
        self._all, self._block = [0, 0, 0, 0], [0, 0]
        self._lowest: tuple[float, int] | None = None

    def add(self, held: NDArray[np.float64], size: NDArray[np.float64]) -> None:
        """Take in rows whose labels have come; NaN for those that were not predicted."""
        known = ~np.isnan(size)
        held, size = held[known], size[known]
        counts = (len(held), int(held.sum()), int(size.sum()), int((size == 0).sum()))
        while len(held):
            some = held[: _BLOCK - self._block[0]]
            self._block = [self._block[0] + len(some), self._block[1] + int(some.sum())]
            held = held[len(some) :]
            if self._block[0] == _BLOCK:
                last = self._all[0] + counts[0] - len(held)
                found = (self._block[1] / _BLOCK, last - _BLOCK + 1)
                self._lowest = found if self._lowest is None else min(found, self._lowest)
                self._block = [0, 0]
        self._all = [before + more for before, more in zip(self._all, counts, strict=True)]

    def metrics(self) -> dict[str, Any]:
        rows, held, labels, empty = self._all
        return {
            "asked": self.asked,
            "rows": rows,
            "coverage": held / rows if rows else None,
            "mean_size": labels / rows if rows else None,
            "empty": empty / rows if rows else None,
            "lowest": None if self._lowest is None else {"coverage": self._lowest[0], "row": self._lowest[1]},
            "block_rows": _BLOCK,
        }

    def state(self) -> dict[str, Any]:
        return {"all": self._all, "block": self._block, "lowest": self._lowest}

    def restore(self, state: dict[str, Any]) -> None:
        self._all, self._block = list(state["all"]), list(state["block"])
        self._lowest = None if state["lowest"] is None else (float(state["lowest"][0]), int(state["lowest"][1]))
