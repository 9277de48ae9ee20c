"""How often each label came: whether the target is a quantity after all, and whether classes are very many.

The first rows settle the task. Where they hold a few whole numbers, as those of a file sorted by its target do, later
rows may show that the target is a quantity: by the same rule, `quantity_among`, over all labels so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.saved import Saved
from thalweg.tables.target import quantity_among

#: Classes beyond which a warning is given: the time of a row grows with their number.
_MANY = 200


class LabelCounts(Saved):
    """Counts of labels by their number, 0 standing for none.

    Examples
    --------
    >>> counts = LabelCounts()
    >>> counts.add(["0", "1"], np.array([1, 2, 2]))
    >>> counts.add(["0", "1", "0.5"], np.array([3, 0]))
    '3 different numbers'
    """

    _saved = ("_counts", "_open")

    def __init__(self) -> None:
        self._counts: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        #: Whether they may still turn out to be a quantity.
        self._open = True
        #: Whether they became very many with those added last.
        self.are_many_now = False

    def add(self, known: Sequence[str], labels: NDArray[Any]) -> str | None:
        """Take in the labels of some rows, by number; what they are, where it shows now that they are a quantity.

        ``known`` are all labels so far.
        """
        before = len(self._counts)
        self._counts = (
            np.pad(self._counts, (0, len(known) - before)) + np.bincount(labels, minlength=len(known) + 1)[1:]
        )
        self.are_many_now = before <= _MANY < len(known)
        if not self._open or len(known) == before:
            return None
        try:
            values = np.array(known, dtype=np.float64)
        except ValueError:
            values = np.full(len(known), np.nan)
        found = quantity_among(values, self._counts) if np.isfinite(values).all() else None
        self._open = found is None and bool(
            np.isfinite(values).all()
        )  # one that is no number makes all of them classes
        return found
