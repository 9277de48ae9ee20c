"""How long labels take to come, by label: medians from counts in cells of delays, in constant memory.

A label that comes later than others is underrepresented among the known labels of recent rows: of the flights of the
last hours, those that landed late are missing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.saved import Saved
from thalweg.tables.clock import NEVER

Places = NDArray[np.int64]

#: Cells in which delays double; the widest are 2.2 % wide.
_PER_OCTAVE = 32
_CELLS = 64 * _PER_OCTAVE
#: Labels of a class before its median is compared, and the ratio of medians from which on they differ.
_LEAST_ROWS, _LEAST_RATIO = 50, 1.25
#: Standard errors of a median's rank.
_SURE = 3.0
_MICROSECONDS = 1e6


class LabelDelays(Saved):
    """Counts of rows by label and delay, each cell with its smallest and its largest delay.

    Delays are in microseconds, or in the steps of a counter. The delay of a label that came before its row is 0.

    Examples
    --------
    >>> delays = LabelDelays(counts=True)
    >>> delays.add(np.repeat([1, 2], 100), np.zeros(200, dtype=np.int64), np.repeat([10, 40], 100))
    >>> found = delays.metrics(["ok", "late"])
    >>> found["labels"], found["medians"], found["differ"]
    (['ok', 'late'], [10.0, 40.0], ['ok', 'late'])
    """

    _saved = ("counts", "_cells")

    def __init__(self, *, counts: bool = False) -> None:
        #: Whether times are those of a counter.
        self.counts = counts
        #: By label and cell: rows, the smallest and the largest delay.
        self._cells: dict[tuple[int, int], list[int]] = {}

    def add(self, labels: Places, now: Places, due: Places) -> None:
        """Take in rows with their labels by number, 0 for none, when they came, and when their labels come."""
        has = (labels > 0) & (due != NEVER) & (now != NEVER)
        delays = np.maximum(due[has] - now[has], 0)
        cells = np.zeros(len(delays), dtype=np.int64)
        cells[delays > 0] = 1 + np.floor(_PER_OCTAVE * np.log2(delays[delays > 0])).astype(np.int64)
        order = np.lexsort((delays, cells, labels[has]))
        keys, begins, rows = np.unique((labels[has] * _CELLS + cells)[order], return_index=True, return_counts=True)
        delays = delays[order]
        for key, count, least, most in zip(
            keys.tolist(), rows.tolist(), delays[begins].tolist(), delays[begins + rows - 1].tolist(), strict=True
        ):
            cell = self._cells.setdefault(divmod(key, _CELLS), [0, least, most])
            cell[:] = [cell[0] + count, min(cell[1], least), max(cell[2], most)]

    def metrics(self, known: Sequence[str]) -> dict[str, Any] | None:
        """For ``metrics.json``: the median of each label, and whether they differ; None before the first label."""
        cells: dict[int, list[list[int]]] = {}
        for (label, _), cell in sorted(self._cells.items()):
            cells.setdefault(label, []).append(cell)
        if not cells:
            return None
        rows = {label: sum(count for count, *_ in held) for label, held in cells.items()}
        medians = {label: _median(held) for label, held in cells.items()}
        many = sorted((label for label in rows if rows[label] >= _LEAST_ROWS), key=medians.__getitem__)
        return {
            "kind": "counter" if self.counts else "time",
            "labels": [known[label - 1] for label in cells],
            "rows": list(rows.values()),
            "medians": [median / (1 if self.counts else _MICROSECONDS) for median in medians.values()],
            "differ": [known[label - 1] for label in (many[0], many[-1])]
            if many and _differ(cells[many[0]], cells[many[-1]])
            else None,
        }


def _median(cells: Sequence[Sequence[int]], errors: float = 0.0) -> float:
    """The median to half the width of a cell, or the delay so many standard errors of its rank away."""
    ends = np.cumsum([count for count, *_ in cells])
    rank = (ends[-1] - 1 + errors * math.sqrt(ends[-1])) / 2
    _, least, most = cells[int(np.searchsorted(ends, np.clip(rank, 0, ends[-1] - 1), side="right"))]
    return (least + most) / 2


def _differ(first: Sequence[Sequence[int]], last: Sequence[Sequence[int]]) -> bool:
    """Whether the last median is larger than the first, beyond chance and by a ratio that matters."""
    beyond_chance = _median(last, -_SURE) > _median(first, _SURE)
    return beyond_chance and _median(last) >= _LEAST_RATIO * _median(first)
