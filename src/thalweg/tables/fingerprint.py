"""A checksum of rows that is carried along with them: comparing two shows whether a table still begins as it did.

It is of what the cells hold, and does not depend on how the rows are cut into blocks.
"""

from __future__ import annotations

import itertools
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg.tables.columns.map import map_keys
from thalweg.tables.rows import as_text

if TYPE_CHECKING:
    import pyarrow as pa

    from thalweg.tables.rows import Chunk


class Fingerprint:
    """Two running CRC-32 for each column: of its cells one after the other, and of where each ends.

    A column of maps has four: of how many entries each has, of the keys, of where those end, and of the values.
    """

    def __init__(self, sums: dict[str, list[int]] | None = None) -> None:
        self.sums = {name: list(pair) for name, pair in (sums or {}).items()}

    def begin_again(self) -> Fingerprint:
        """One of no rows that sums as this one does."""
        return Fingerprint({name: [0] * len(sums) for name, sums in self.sums.items()})

    def take(self, chunk: Chunk) -> None:
        """Continue with some rows."""
        for bad in chunk.bad:
            self._add("", f"{bad.row} {bad.what}".encode(), b"")
        for piece in chunk.pieces:
            for name in piece.block.table.column_names:
                for array in piece.column(name).chunks:
                    if map_keys(array.type):
                        self._add(name, *_entries(array))
                    else:
                        raw = piece.block.typed and _has_width(array.type)
                        self._add(name, *(_values(array) if raw else _texts(array)))

    def _add(self, name: str, *content: Any) -> None:
        pairs = itertools.zip_longest(content, self.sums.get(name, ()))
        self.sums[name] = [zlib.crc32(b"" if content is None else content, total or 0) for content, total in pairs]


def _entries(array: pa.Array) -> tuple[Any, ...]:
    """How many entries each map has, and all keys and values, one after the other.

    Numbers of entries are given as 1 for a missing map, 2 for an empty one and so on: a CRC may not feel zeros.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    offsets = np.asarray(array.offsets)
    lengths = np.diff(offsets)
    if array.null_count:
        lengths[array.is_null().to_numpy(zero_copy_only=False)] = -1
    lengths = lengths + 2
    keys, items = (part.slice(offsets[0], offsets[-1] - offsets[0]) for part in (array.keys, array.items))
    numbers = pc.cast(items, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return lengths, *(_values(keys) if pa.types.is_integer(keys.type) else _texts(keys.cast(pa.string()))), numbers


def _has_width(kind: pa.DataType) -> bool:
    import pyarrow.types as types

    return types.is_primitive(kind) and not types.is_boolean(kind)


def _values(array: pa.Array) -> tuple[Any, Any]:
    """The bytes of numbers or times, and which are missing."""
    gaps: Any = b""
    if array.null_count:
        gaps = array.is_null().to_numpy(zero_copy_only=False)
        array = array.drop_null()
    if not len(array):
        return b"", gaps
    width = array.type.bit_width // 8
    return memoryview(array.buffers()[1])[array.offset * width : (array.offset + len(array)) * width], gaps


def _texts(array: pa.Array) -> tuple[Any, Any]:
    """The letters of all cells, and the length of each; -1 for one that is missing."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_nested(array.type) or "binary" in str(array.type):
        array = pa.array([repr(value) for value in array.to_pylist()], pa.string())
    array = as_text(array)
    _, places, letters = array.buffers()
    if places is None or not len(array):
        return b"", b""
    places = np.frombuffer(places, np.int32)[array.offset : array.offset + len(array) + 1]
    lengths = np.diff(places)
    if array.null_count:
        lengths[array.is_null().to_numpy(zero_copy_only=False)] = -1
    return b"" if letters is None else memoryview(letters)[places[0] : places[-1]], lengths
