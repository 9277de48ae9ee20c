"""Records of keys whose models had to leave the GPU, in the host's memory, until their rows come again.

Keys are a sorted array with a place for each, so that a batch finds its own by binary search. Records lie in chunks
that never move. Cost: O(k log n) to find k of n keys, and O(n + k) to add or remove them, 16 bytes moved of each key.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Records of a chunk.
_CHUNK = 1 << 14


class ColdModels:
    """Records by key.

    Parameters
    ----------
    words : int
        Numbers in a record.

    Examples
    --------
    >>> cold = ColdModels(2)
    >>> cold.put(np.array([7, 3]), np.array([[0.7, 7.0], [0.3, 3.0]]))
    >>> found = cold.has(np.array([3, 5]))
    >>> found.tolist(), cold.read(np.array([3])).tolist()
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
