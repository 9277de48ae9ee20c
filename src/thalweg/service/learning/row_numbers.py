"""Numbers of the rows of a live model by their records, which do not depend on how records come together.

Memory, also in a snapshot: 4,096 marks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.block_scores import BLOCK
from thalweg.saved import Saved

#: Marks that are kept. A row from before the first of them gets its number.
_MARKS = 4096
#: The number of a row that came before the columns were watched.
UNKNOWN = 0


class RowNumbers(Saved):
    """Numbers of rows by their records, from marks that are at least 64 rows apart: at most 63 too low.

    Examples
    --------
    >>> numbers = RowNumbers()
    >>> for seq, rows in ((2, 100), (4, 10), (6, 10)):
    ...     numbers.add(seq, rows)
    >>> [numbers.of(*place) for place in ((1, 0), (2, 99), (4, 3), (6, 0))]
    [0, 100, 104, 101]
    """

    _saved = ("rows", "first", "_seqs", "_before")

    def __init__(self) -> None:
        self.rows = 0
        #: The first record.
        self.first: int | None = None
        self._seqs: list[int] = []
        self._before: list[int] = []

    def add(self, seq: int, rows: int) -> None:
        """Count the rows of the next record."""
        self.first = seq if self.first is None else self.first
        if not self._before or self.rows - self._before[-1] >= BLOCK:
            self._seqs.append(seq)
            self._before.append(self.rows)
            del self._seqs[:-_MARKS], self._before[:-_MARKS]
        self.rows += rows

    def of(self, seq: int, row: int) -> int:
        """The number of a row, from 1, by its record and its place there; `UNKNOWN` before the first record."""
        if self.first is None or seq < self.first:
            return UNKNOWN
        return self._before[max(bisect_right(self._seqs, seq) - 1, 0)] + row + 1


def stretches(numbers: NDArray[np.int64]) -> Iterator[tuple[slice, bool]]:
    """Rows in a stretch each, and whether their numbers are known.

    Examples
    --------
    >>> list(stretches(np.array([0, 0, 7, 8])))
    [(slice(0, 2, None), False), (slice(2, 4, None), True)]
    """
    known = numbers != UNKNOWN
    if len(known) and known.all():
        yield slice(0, len(numbers)), True
        return
    ends = [0, *(np.flatnonzero(np.diff(known)) + 1).tolist(), len(numbers)]
    for begin, end in pairwise(ends):
        if begin < end:
            yield slice(begin, end), bool(known[begin])
