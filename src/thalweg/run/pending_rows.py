"""Rows whose labels came after the end of the stream: predicted and in the predictions, but in no score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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


def pending_ranges(metrics: Mapping[str, Any]) -> list[list[int]] | None:
    """The rows of a run whose labels had not come by its end; None where its version did not record them.

    Examples
    --------
    >>> pending_ranges({"rows": {"pending": 0}})
    []
    >>> pending_ranges({"rows": {"pending": 3, "predicted": 99, "unpredicted": 1}, "run": {"options": {"delay": 3}}})
    [[98, 100]]
    """
    rows = metrics["rows"]
    if not rows["pending"] or "pending_rows" in rows:
        return list(rows.get("pending_rows", []))
    options = metrics["run"]["options"]
    if options.get("label_time") is not None or not options.get("delay"):
        return None
    last = int(rows["predicted"] + rows.get("unpredicted", 0))
    return [[last - int(options["delay"]) + 1, last]]
