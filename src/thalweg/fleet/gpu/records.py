"""Records of keys: in the GPU's memory, one at each slot, and in the host's, until their rows come again.

Slots in use are the first ones, without gaps. Records lie in pages that never move, so that a fleet grows without a
copy.

Keys whose models had to leave the GPU are a sorted array with a place for each, so that a batch finds its own by binary
search. Their records lie in chunks that never move. Cost: O(k log n) to find k of n keys, and O(n + k) to add or remove
them, 16 bytes moved of each key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.fleet.gpu.layouts import Layout

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
    """Records by slot."""

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
        copies = self._cp.empty((len(slots), self._parts[0].shape[1]))
        for records, own, places in self._by_part(slots):
            copies[own] = records[places]
        return copies

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
        begins = [np.arange(part.data.ptr, part.data.ptr + part.nbytes, size) for part in self._parts]
        self.pages = self._cp.asarray(np.concatenate([np.empty(0, dtype=np.int64), *begins]).astype(np.uint64))


Keys = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Records of a chunk.
_CHUNK = 1 << 14


class ColdModels:
    """Records by key.

    Examples
    --------
    >>> cold = ColdModels(2)
    >>> cold.put(np.array([7, 3]), np.array([[0.7, 7.0], [0.3, 3.0]]))
    >>> is_cold = cold.has(np.array([3, 5]))
    >>> is_cold.tolist(), cold.read(np.array([3])).tolist()
    ([True, False], [[0.3, 3.0]])
    """

    def __init__(self, words: int) -> None:
        self._words = words
        self._chunks: list[Floats] = []
        self.keys: Keys = np.empty(0, dtype=np.int64)
        self._places: Keys = np.empty(0, dtype=np.int64)
        self._free: Keys = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def n_bytes(self) -> int:
        """Memory of the host that is held."""
        held: list[NDArray[Any]] = [self.keys, self._places, self._free, *self._chunks]
        return int(sum(array.nbytes for array in held))

    def has(self, keys: Keys) -> NDArray[np.bool_]:
        """Which of these keys are here."""
        if len(self.keys) == 0:
            return np.zeros(len(keys), dtype=np.bool_)
        at = np.searchsorted(self.keys, keys)
        return np.asarray(self.keys[np.minimum(at, len(self.keys) - 1)] == keys)

    def read(self, keys: Keys) -> Floats:
        """The records of keys that are here."""
        records = np.empty((len(keys), self._words))
        places = self._places[np.searchsorted(self.keys, keys)]
        for chunk, own in self._by_chunk(places):
            records[own] = chunk[places[own] % _CHUNK]
        return records

    def put(self, keys: Keys, records: Floats) -> None:
        """Take in keys that are not here."""
        missing = len(keys) - len(self._free)
        if missing > 0:
            first, more = len(self._chunks) * _CHUNK, -(-missing // _CHUNK)
            self._chunks += [np.empty((_CHUNK, self._words)) for _ in range(more)]
            self._free = np.concatenate([self._free, np.arange(first, first + more * _CHUNK)])
        places, self._free = self._free[: len(keys)], self._free[len(keys) :]
        for chunk, own in self._by_chunk(places):
            chunk[places[own] % _CHUNK] = records[own]
        order = np.argsort(keys)
        at = np.searchsorted(self.keys, keys[order])
        self.keys = np.insert(self.keys, at, keys[order])
        self._places = np.insert(self._places, at, places[order])

    def remove(self, keys: Keys) -> None:
        """Give up keys that are here; memory is kept for others until none is left."""
        at = np.searchsorted(self.keys, keys)
        self._free = np.concatenate([self._places[at], self._free])
        self.keys, self._places = np.delete(self.keys, at), np.delete(self._places, at)
        if len(self.keys) == 0:
            self._chunks, self._free = [], np.empty(0, dtype=np.int64)

    def widen(self, columns: NDArray[np.int64], words: int) -> None:
        """Make records longer: each number goes to the column given, others are zero."""
        for place, chunk in enumerate(self._chunks):
            self._chunks[place] = np.zeros((_CHUNK, words))
            self._chunks[place][:, columns] = chunk
        self._words = words

    def _by_chunk(self, places: Keys) -> list[tuple[Floats, Keys]]:
        """Each chunk that has some of these places, and which of them."""
        order = np.argsort(places)
        used, begins = np.unique(places[order] // _CHUNK, return_index=True)
        return [(self._chunks[at], own) for at, own in zip(used.tolist(), np.split(order, begins)[1:], strict=True)]
