"""Rows whose labels came after the end of the stream: predicted and in the predictions, but in no score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def as_ranges(numbers: NDArray[np.int64]) -> list[list[int]]:
    """Row numbers as their first and last ones, for ``metrics.json``.

    Examples
    --------
    >>> as_ranges(np.array([9, 3, 4, 5]))
    [[3, 5], [9, 9]]
    """
    ordered = np.sort(numbers)
    parts = np.split(ordered, np.flatnonzero(np.diff(ordered) > 1) + 1) if len(ordered) else []
    return [[int(part[0]), int(part[-1])] for part in parts]


def in_ranges(ranges: Sequence[Sequence[int]], first: int, count: int) -> NDArray[np.bool_]:
    """Which of ``count`` rows, numbered from ``first``, lie in one of the ranges.

    Examples
    --------
    >>> in_ranges([[3, 5], [9, 9]], 5, 5).tolist()
    [True, False, False, False, True]
    """
    found = np.zeros(count, dtype=np.bool_)
    for low, high in ranges:
        found[max(low - first, 0) : max(high + 1 - first, 0)] = True
    return found
