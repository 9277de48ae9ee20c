"""An interval for the mean of numbers that come in time and hang together: from the means of long blocks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

_MOST_BLOCKS = 64
_LEAST_BLOCKS = 10
LEVEL = 0.95


class BlockMeans:
    """Sums of consecutive blocks of equal length; when there are too many, neighbours are joined."""

    def __init__(self) -> None:
        self.length = 1
        self.sums: list[int] = []
        self._open, self._open_rows, self._all, self._rows = 0, 0, 0, 0

    def add(self, values: NDArray[np.int64]) -> None:
        """Take in whole numbers, in order."""
        self._all += int(values.sum())
        self._rows += len(values)
        while len(values):
            take = min(self.length - self._open_rows, len(values))
            self._open += int(values[:take].sum())
            self._open_rows += take
            values = values[take:]
            if self._open_rows == self.length:
                self.sums.append(self._open)
                self._open, self._open_rows = 0, 0
                if len(self.sums) == _MOST_BLOCKS:
                    self.sums = [a + b for a, b in zip(self.sums[::2], self.sums[1::2], strict=True)]
                    self.length *= 2

    def interval(self) -> dict[str, Any]:
        """The mean with Student's interval over the blocks; None while there are too few of them."""
        found: dict[str, Any] = {
            "difference": self._all / self._rows if self._rows else None,
            "low": None,
            "high": None,
            "level": LEVEL,
            "blocks": len(self.sums),
            "block_rows": self.length,
        }
        if len(self.sums) >= _LEAST_BLOCKS:
            means = np.array(self.sums) / self.length
            half = float(stdtrit(len(means) - 1, (1 + LEVEL) / 2) * means.std(ddof=1)) / math.sqrt(len(means))
            found |= {"low": found["difference"] - half, "high": found["difference"] + half}
        return found

    def state(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "length": self.length,
            "sums": self.sums,
            "open": [self._open, self._open_rows],
            "all": [self._all, self._rows],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` gave."""
        self.length, self.sums = int(state["length"]), [int(each) for each in state["sums"]]
        self._open, self._open_rows = (int(each) for each in state["open"])
        self._all, self._rows = (int(each) for each in state["all"])
