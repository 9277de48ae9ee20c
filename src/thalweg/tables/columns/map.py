"""Columns whose cells are maps from indices or names to numbers, as sparse features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.kernels import compiled
from thalweg.tables.cells import LARGEST, BadCell, brief
from thalweg.tables.columns.column import Column, Floats, invalid
from thalweg.tables.columns.head import HASH_BITS, ColumnHead
from thalweg.tables.columns.sparse import INDEX_WIDTH, SparseColumn
from thalweg.text.strings import strings_of

if TYPE_CHECKING:
    import pyarrow as pa

Keys = Literal["index", "name"]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class SparseCells:
    """Compressed rows: sorted indices without duplicates, values that are not zero, and which cells were missing."""

    indptr: Places
    indices: NDArray[np.int32]
    values: Floats
    missing: NDArray[np.bool_]
    #: The names in each cell, as lists of Arrow; None where keys are indices, or are not to be remembered.
    names: Any = None

    def __len__(self) -> int:
        return len(self.missing)

    def __getitem__(self, kept: Places) -> SparseCells:
        lengths = np.diff(self.indptr)[kept]
        indptr = np.append(0, np.cumsum(lengths))
        entries = np.repeat(self.indptr[kept] - indptr[:-1], lengths) + np.arange(indptr[-1])
        names = None if self.names is None else self.names.take(kept)
        return SparseCells(indptr, self.indices[entries], self.values[entries], self.missing[kept], names)


class MapColumn(SparseColumn):
    """Indices as they are, or names hashed with a sign into cells, as scikit-learn's `FeatureHasher` does."""

    kind = "map"
    measure = "entries"
    nested = True
    schema = frozenset({"keys"})

    def __init__(self, name: str, *, keys: Keys, hash_bits: int = HASH_BITS) -> None:
        if keys not in ("index", "name"):
            raise invalid(name)
        self.keys: Keys = keys
        self.hash_bits = hash_bits
        treatment = "sparse features by their indices"
        if keys == "name":
            treatment = f"sparse features by their names, hashed into {1 << hash_bits:,} cells with a sign"
        super().__init__(name, f"{treatment}; a missing cell has none", hash_bits=hash_bits if keys == "name" else None)

    @classmethod
    def detect(cls, head: ColumnHead) -> Column | str | None:
        keys = map_keys(head.cells.type)
        return None if keys is None else cls(head.name, keys=keys)

    @classmethod
    def described(cls, name: str, said: Mapping[str, Any]) -> Column:
        keys = said.get("keys", "name")
        if keys not in ("name", "index"):
            raise InvalidInput(f"the keys of column {name!r} must be name or index")
        return cls(name, keys=keys)

    def options(self) -> dict[str, Any]:
        return {"keys": self.keys} | ({"hash_bits": self.hash_bits} if self.keys == "name" else {})

    def with_na(self, cells: pa.ChunkedArray, na: Sequence[str], *, detect_sentinels: bool) -> Self:
        return self

    def among_sparse(self, hash_bits: int) -> Column:
        return MapColumn(self.name, keys=self.keys, hash_bits=hash_bits)

    def parse(self, column: pa.ChunkedArray) -> SparseCells:
        """The entries of each cell, hashed, sorted, and added up where an index has several."""
        import pyarrow as pa

        rows = len(column)
        if column.null_count == rows:
            return SparseCells(
                np.zeros(rows + 1, np.int64), np.empty(0, np.int32), np.empty(0), np.ones(rows, np.bool_)
            )
        if not pa.types.is_map(column.type):
            at, cell = next((at, cell) for at, cell in enumerate(column) if cell.is_valid)
            raise BadCell(at, f"{brief(str(cell))!r} is not an object of numbers")
        array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        missing = array.is_null().to_numpy(zero_copy_only=False)
        offsets = np.asarray(array.offsets).astype(np.int64)
        if missing.any():  # a missing cell may have entries all the same
            lengths = np.where(missing, 0, np.diff(offsets))
            entries = pa.array(
                np.repeat(offsets[:-1] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
            )
            keys, items = array.keys.take(entries), array.items.take(entries)
            offsets = np.append(0, np.cumsum(lengths))
        else:
            begin, length = int(offsets[0]), int(offsets[-1] - offsets[0])
            keys, items = array.keys.slice(begin, length), array.items.slice(begin, length)
            offsets = offsets - offsets[0]
        values = _numbers(items, offsets)
        if self.keys == "index":
            return _canonical(offsets, self._indices(keys, offsets), values, missing, self.width)
        _require_names(keys, offsets)
        names = pa.LargeListArray.from_arrays(pa.array(offsets), keys)
        return replace(self._hashed(keys, offsets, values, missing), names=names)

    def parse_values(self, values: Sequence[Any]) -> SparseCells | None:
        """The same of dicts; None where `entries` refuses one."""
        try:
            cells = [() if value is None else self.entries(value) for value in values]
        except BadCell:
            return None
        keys = [key for cell in cells for key, _ in cell]
        offsets = np.cumsum([0, *map(len, cells)], dtype=np.int64)
        entries = np.array([value for cell in cells for _, value in cell], dtype=np.float64)
        missing = np.array([value is None for value in values], dtype=np.bool_)
        if self.keys == "name":
            return self._hashed(keys, offsets, entries, missing)
        return _canonical(offsets, np.array(keys, dtype=np.int32), entries, missing, self.width)

    def as_arrow(self, values: Sequence[Any]) -> pa.Array:
        import pyarrow as pa

        cells: list[Any] = []
        for at, value in enumerate(values):
            try:
                cells.append(None if value is None else self.entries(value))
            except BadCell as error:
                raise BadCell(at, error.what) from None
        return pa.array(cells, pa.map_(pa.string() if self.keys == "name" else pa.int64(), pa.float64()))

    def entries(self, cell: object) -> list[tuple[Any, float]]:
        """The entries of a dict by index or name; `BadCell` says which is none."""
        entries = entries_of(cell)
        return entries if self.keys == "name" else [(_as_index(key), value) for key, value in entries]

    def missing(self, parsed: SparseCells) -> NDArray[np.bool_]:
        return parsed.missing

    def encode(self, parsed: SparseCells, out: Floats, *, learn: bool) -> None:
        """Remember names; there are no dense features to write."""
        if learn and parsed.names is not None:
            self._remember(lambda words: words.add_names(parsed.names.flatten()), len(parsed))

    def compressed(self, parsed: SparseCells) -> tuple[Places, NDArray[np.int32], Floats]:
        """The rows as where each begins, the indices of their entries, and the values."""
        return parsed.indptr, parsed.indices, parsed.values

    def _indices(self, keys: Any, offsets: Places) -> NDArray[np.int32]:
        import pyarrow as pa

        try:
            indices = (keys if pa.types.is_int32(keys.type) else keys.cast(pa.int64())).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid as error:
            texts = map(str, keys.to_pylist())
            at, text = next((at, text) for at, text in enumerate(texts) if not _is_index(text))
            what = f"the feature {brief(text)!r} is not an index, and those of this column are, as in svmlight files"
            raise BadCell(_row(at, offsets), what) from error
        if len(indices) and not 0 <= indices.min() <= indices.max() < INDEX_WIDTH:
            at = int(((indices < 0) | (indices >= INDEX_WIDTH)).argmax())
            raise BadCell(_row(at, offsets), f"the index {indices[at]} is not between 0 and {INDEX_WIDTH - 1}")
        return np.asarray(indices.astype(np.int32, copy=False))

    def _hashed(self, names: Any, offsets: Places, values: Floats, missing: NDArray[np.bool_]) -> SparseCells:
        """Entries by their names; those of one feature are added up in their order."""
        strings = strings_of(names, self.name)
        indptr, indices, sums = compiled.hash_entries(*strings, offsets, values, self.hash_bits)
        _require_learnable(sums, indptr)
        return SparseCells(indptr, indices, sums, missing)


def entries_of(cell: object) -> list[tuple[Any, float]]:
    """The entries of an object of numbers, true and false as 1 and 0, without those that are null.

    Examples
    --------
    >>> entries_of({"free": 2, "money": True, "now": None})
    [('free', 2.0), ('money', 1.0)]
    """
    if not isinstance(cell, dict):
        raise BadCell(0, f"{brief(str(cell))!r} is not an object of numbers")
    entries = []
    for key, value in cell.items():
        if value is None:
            continue
        if not isinstance(value, int | float):
            raise BadCell(0, f"{brief(str(value))!r}, the value of {brief(str(key))!r}, is not a number")
        if not abs(value) <= LARGEST:
            raise BadCell(
                0, f"{value!r:.40}, the value of {brief(str(key))!r}, is beyond the numbers that can be learned"
            )
        entries.append((key, float(value)))
    return entries


def _as_index(key: Any) -> int:
    """An index, which is text in JSON.

    Examples
    --------
    >>> _as_index("17"), _as_index(17)
    (17, 17)
    """
    text = str(key)
    if not _is_index(text):
        raise BadCell(0, f"the key {brief(text)!r} is not an index between 0 and {INDEX_WIDTH - 1}")
    return int(text)


def _is_index(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= len(str(INDEX_WIDTH)) and int(text) < INDEX_WIDTH


def map_keys(kind: pa.DataType) -> Keys | None:
    """What the keys of a type are; None for types that are no maps from indices or names to numbers."""
    import pyarrow.types as types

    if not types.is_map(kind) or not _is_number(kind.item_type):
        return None
    if types.is_integer(kind.key_type):
        return "index"
    return "name" if types.is_string(kind.key_type) or types.is_large_string(kind.key_type) else None


def _is_number(kind: pa.DataType) -> bool:
    import pyarrow.types as types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _numbers(items: Any, offsets: Places) -> Floats:
    """The values, 0 for those that are missing, as zeros are left out anyway."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _is_number(items.type):
        raise BadCell(0, f"values of type {items.type} are no numbers")
    values: Floats = pc.fill_null(pc.cast(items, pa.float64(), safe=False), 0.0).to_numpy()
    _, at = compiled.first_bad(values[None])
    if at >= 0:
        raise BadCell(_row(at, offsets), f"{float(values[at])!r} is beyond the numbers that can be learned")
    return values


def _canonical(
    indptr: Places, indices: NDArray[np.int32], values: Floats, missing: NDArray[np.bool_], width: int
) -> SparseCells:
    rising = np.diff(indices) > 0
    starts = indptr[1:-1]
    rising[starts[(starts > 0) & (starts < len(indices))] - 1] = True  # where one row ends and the next begins
    if not rising.all() or not values.all():
        from scipy.sparse import csr_array

        rows = csr_array((values, indices, indptr), shape=(len(missing), width), copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        indptr, indices, values = rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data
        _require_learnable(values, indptr)
    return SparseCells(indptr, indices, values, missing)


def _require_learnable(sums: Floats, indptr: Places) -> None:
    _, at = compiled.first_bad(sums[None])
    if at >= 0:
        what = "the values of one feature add up to a number beyond those that can be learned"
        raise BadCell(_row(at, indptr), what)


def _require_names(keys: Any, offsets: Places) -> None:
    import pyarrow as pa

    if len(keys) and pa.types.is_integer(keys.type):
        what = f"the feature {keys[0]} is an index, and those of this column are names, as in Vowpal Wabbit files"
        raise BadCell(_row(0, offsets), what)


def _row(entry: int, offsets: Places) -> int:
    return int(np.searchsorted(offsets, entry, side="right")) - 1
