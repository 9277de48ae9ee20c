"""Records of keys in the GPU's memory, one at each slot, and when each was last used.

Slots in use are the first ones, without gaps. Records lie in pages that never move, so that a fleet grows without a
copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.fleet.gpu.layout import Layout

#: Keys to a page of records, as in step.cu.
PAGE = 1 << 12


def gaps_and_fillers(xp: Any, dropped: Any, count: int) -> tuple[Any, Any]:
    """Slots that are to be filled where some of the first ``count`` are dropped, and the last ones that fill them.

    Examples
    --------
    >>> gaps, fillers = gaps_and_fillers(np, np.array([4, 1]), 6)
    >>> gaps.tolist(), fillers.tolist()
    ([1], [5])
    """
    left = count - len(dropped)
    stays = xp.ones(count, dtype=bool)
    stays[dropped] = False
    return xp.flatnonzero(~stays[:left]), left + xp.flatnonzero(stays[left:])


def longest_unused(xp: Any, used: Any, wanted: int) -> Any:
    """So many slots, of those whose last use is given, that were used longest ago.

    Examples
    --------
    >>> longest_unused(np, np.array([5, 2, 9, 1]), 2).tolist()
    [3, 1]
    """
    return xp.argsort(used)[:wanted]


class Records:
    """Records by slot.

    Parameters
    ----------
    cp : module
        CuPy.
    """

    def __init__(self, cp: Any) -> None:
        self._cp = cp
        #: Records of some pages each.
        self._parts: list[Any] = []
        #: Where every page begins.
        self.pages = cp.zeros(0, dtype=cp.uint64)
        #: The number of the batch that used a slot last.
        self.used = cp.zeros(0, dtype=cp.int64)

    @property
    def n_bytes(self) -> int:
        """Memory that is held."""
        return int(sum(array.nbytes for array in (self.pages, self.used, *self._parts)))

    def __len__(self) -> int:
        return len(self.used)

    @property
    def largest_part(self) -> int:
        """Slots that are copied at a time where records become longer."""
        return max(map(len, self._parts), default=0)

    def grow(self, slots: int, layout: Layout) -> None:
        """Add room until there are so many slots, rounded up to whole pages."""
        pages = -(-(slots - len(self)) // PAGE)
        self._parts.append(self._cp.zeros((pages * PAGE, layout.stored)))
        self.used = self._cp.concatenate([self.used, self._cp.zeros(pages * PAGE, dtype=self._cp.int64)])
        self._find_pages(layout)

    def widen(self, columns: NDArray[np.int64], narrow: Layout, wider: Layout) -> None:
        """Make records longer: each number goes to the column given, others are zero."""
        to = self._cp.asarray(columns)
        for place, records in enumerate(self._parts):
            self._parts[place] = self._cp.zeros((len(records), wider.stored))
            self._parts[place][:, to] = records[:, : narrow.words]
        self._find_pages(wider)

    def read(self, slots: Any) -> Any:
        """Copies of the records at these slots."""
        found = self._cp.empty((len(slots), self._parts[0].shape[1]))
        for records, own, places in self._by_part(slots):
            found[own] = records[places]
        return found

    def write(self, slots: Any, values: Any) -> None:
        """Set the first numbers of the records at these slots."""
        for records, own, places in self._by_part(slots):
            records[places, : values.shape[1]] = values[own]

    def drop(self, dropped: Any, count: int) -> Any:
        """Give up some of the first ``count`` slots; returns the new slot of each, -1 for those given up."""
        cp, left = self._cp, count - len(dropped)
        gaps, fillers = gaps_and_fillers(cp, dropped, count)
        self.write(gaps, self.read(fillers))
        self.used[gaps] = self.used[fillers]
        for records, _, places in self._by_part(cp.arange(left, count)):
            records[places] = 0  # for the next new keys
        moved = cp.arange(count)
        moved[fillers] = gaps
        moved[dropped] = -1
        return moved

    def _by_part(self, slots: Any) -> Iterator[tuple[Any, Any, Any]]:
        begin = 0
        for records in self._parts:
            own = self._cp.flatnonzero((slots >= begin) & (slots < begin + len(records)))
            if len(own):
                yield records, own, slots[own] - begin
            begin += len(records)

    def _find_pages(self, layout: Layout) -> None:
        size = 8 * PAGE * layout.stored
        begins = [np.arange(each.data.ptr, each.data.ptr + each.nbytes, size) for each in self._parts]
        self.pages = self._cp.asarray(np.concatenate([np.empty(0, dtype=np.int64), *begins]).astype(np.uint64))
