"""The lowest coverage of consecutive blocks of rows, for prediction sets and for intervals."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from thalweg.saved import Saved


class LowestCoverage(Saved):
    """Over blocks of so many rows.

    Examples
    --------
    >>> import numpy as np
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
                found = (self.block[1] / self._rows, self._seen - self._rows + 1)
                self.lowest = found if self.lowest is None else min(found, self.lowest)
                self.block = [0, 0]

    def metrics(self) -> dict[str, Any] | None:
        return None if self.lowest is None else {"coverage": self.lowest[0], "row": self.lowest[1]}
