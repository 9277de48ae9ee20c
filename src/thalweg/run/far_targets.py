"""Targets far beyond all others, which pull a model that learns squared errors: found for a warning.

Of all targets the sum of their distances from a centre is kept, and the few that are farthest, with their rows. Those
are named that are separated from the rest by a factor of ten, and fifty times the mean distance of the others away.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from thalweg.saved import Saved

#: Targets that are kept: one more than may be named.
_KEPT = 9
#: Rows before any target is called far.
_LEAST_ROWS = 20
#: How much farther than the next one, and than the others are on average.
_SEPARATED, _FAR = 10.0, 50.0


class FarTargets(Saved):
    """The farthest targets of a run.

    Examples
    --------
    >>> targets = FarTargets()
    >>> targets.settle(np.ones(3))
    >>> targets.add(np.array([1.5, 67781.0, *np.ones(20)]), np.arange(1, 23))
    >>> targets.sentence("y")
    "row 2: the target 'y' is 67781, far beyond all others, which are within 0.5 of 1"
    """

    _saved = ("_centre", "_sum", "_rows", "_farthest")

    def __init__(self) -> None:
        self._centre = self._sum = 0.0
        self._rows = 0
        #: Distance, target and row of each, the farthest first.
        self._farthest: list[list[float]] = []

    def settle(self, targets: NDArray[np.float64]) -> None:
        """Choose the centre by the first targets."""
        self._centre = float(np.median(targets)) if len(targets) else 0.0

    def add(self, targets: NDArray[np.float64], numbers: NDArray[np.int64]) -> None:
        """Take in targets, with the numbers of their rows."""
        away = np.abs(targets - self._centre)
        # One after the other, so that the sum does not depend on how rows are cut into chunks.
        self._sum = float(np.cumsum(np.append(self._sum, away))[-1])
        self._rows += len(away)
        places = np.argsort(-away, kind="stable")[:_KEPT]
        found = [[float(away[at]), float(targets[at]), int(numbers[at])] for at in places]
        self._farthest = sorted([*self._farthest, *found], key=lambda each: -each[0])[:_KEPT]

    def sentence(self, name: str) -> str | None:
        """The row and the target that is farthest, where it and at most some others are far beyond the rest."""
        if self._rows < _LEAST_ROWS:
            return None
        for count in range(1, len(self._farthest)):
            last, following = self._farthest[count - 1][0], self._farthest[count][0]
            others = self._sum - sum(each[0] for each in self._farthest[:count])
            if last > max(_SEPARATED * following, _FAR * max(others, 0.0) / (self._rows - count)):
                _, value, row = self._farthest[0]
                more = "" if count == 1 else f", and so are those of {count - 1} further row{'s' * (count > 2)}"
                within = (
                    f"are {self._centre:g}" if following == 0.0 else f"are within {following:.3g} of {self._centre:g}"
                )
                return f"row {row:,}: the target {name!r} is {value:g}, far beyond all others, which {within}{more}"
        return None
