"""Rows that keep coming, in one array that grows by doubling."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class GrowingRows:
    """An array of rows; adding to it costs what the new rows cost, on average.

    Examples
    --------
    >>> rows = GrowingRows(2, np.float64)
    >>> rows.add(np.ones((3, 2)))
    >>> rows.add(np.zeros((1, 2)))
    >>> rows.filled.shape
    (4, 2)
    """

    def __init__(self, width: int, dtype: Any) -> None:
        self._room: NDArray[Any] = np.empty((0, width), dtype=dtype)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def filled(self) -> NDArray[Any]:
        """The rows so far, not a copy."""
        return self._room[: self._count]

    def add(self, rows: NDArray[Any]) -> None:
        """Append these rows."""
        end = self._count + len(rows)
        if end > len(self._room):
            room = np.empty((max(end, 2 * len(self._room)), self._room.shape[1]), dtype=self._room.dtype)
            room[: self._count] = self.filled
            self._room = room
        self._room[self._count : end] = rows
        self._count = end
