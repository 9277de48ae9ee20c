"""The moments at which the absolute residuals changed: `ChangeDetector` over residuals scaled to [0, 1].

The scale is ten times the mean absolute residual of the first rows, beyond which residuals are cut: a single wild row
says nothing of a change. So the smallest change that is marked is a fifth of that mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.drift import ChangeDetector
from thalweg.saved import Saved

#: Rows that settle the scale; they are looked at together once they are there.
FIRST, _TIMES = 1000, 10.0


class ResidualChanges(Saved):
    """Marks where a stream of absolute residuals changes its mean.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> changes = ResidualChanges()
    >>> changes.add(np.abs(rng.normal(size=5000)))
    []
    >>> len(changes.add(2.0 * np.abs(rng.normal(size=5000))))
    1
    >>> [change] = changes.changes()
    >>> 4900 < change["row"] < 5100, round(change["before"], 1), round(change["after"], 1)
    (True, 0.8, 1.6)
    """

    _saved = ("_detector", "_scale", "_first")

    def __init__(self) -> None:
        self._detector = ChangeDetector(whole=False)
        self._scale: float | None = None
        self._first: list[float] = []

    @property
    def left_out(self) -> int:
        """How many changes were found but not kept."""
        return self._detector.left_out

    def skip(self, rows: int) -> None:
        """Count rows that have no prediction, before any that have one."""
        self._detector.skip(rows)

    def add(self, residuals: NDArray[np.float64]) -> list[dict[str, Any]]:
        """Take in absolute residuals, in order; as `ChangeDetector.add`, the changes first seen now."""
        least = 0
        if self._scale is None:
            missing = FIRST - len(self._first)
            self._first += residuals[:missing].tolist()
            residuals = residuals[missing:]
            if len(self._first) < FIRST:
                return []
            self._scale = _TIMES * float(np.mean(self._first)) or 1.0
            residuals = np.concatenate([self._first, residuals])
            self._first = []
            least = self._detector.rows + FIRST
        begun = self._detector.add(np.minimum(residuals / self._scale, 1.0))
        return [
            change
            | {when: self._scale * change[when] for when in ("before", "after")}
            | {"found": max(change["found"], least)}
            for change in begun
        ]

    def changes(self) -> list[dict[str, Any]]:
        """As `ChangeDetector.changes`, with mean absolute residuals for errors."""
        scale = self._scale or 1.0
        return [
            change | {when: scale * change[when] for when in ("before", "seen", "after")}
            for change in self._detector.changes()
        ]
