"""A column of keys: which model a row belongs to. A key is a text or a whole number, hashed to one number."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.tables.cells import MOST_LETTERS, BadCell, brief, names
from thalweg.tables.columns.column import Column, Floats

if TYPE_CHECKING:
    import pyarrow as pa

#: Bits of a hash: as many as a double holds exactly. Of a million keys two share one with probability 6e-5.
_BITS = 53
_WHAT = "a key must be a text or a whole number"


def key_number(key: str | int) -> float:
    """The number that stands for a key, the same on every machine: 17 and "17" are one key.

    Examples
    --------
    >>> key_number("pump 3") == key_number(" pump 3"), key_number(17) == key_number("17")
    (True, True)
    """
    digest = hashlib.blake2b(str(key).strip().encode(errors="surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "little") >> (64 - _BITS))


class KeyColumn(Column):
    """The number of each key. A row without a key cannot be used."""

    kind = "key"
    required = True

    def __init__(self, name: str, na: Sequence[str] = ()) -> None:
        super().__init__(
            name, (f"{name}: key",), "chooses the model of a row by its key, and is no feature of that model", na
        )

    def parse(self, column: pa.ChunkedArray) -> Floats:
        """Numbers of keys, NaN where one is missing."""
        import pyarrow as pa

        if column.null_count == len(column):
            return np.full(len(column), np.nan)
        cells = column
        if pa.types.is_dictionary(column.type):
            cells = column.cast(column.type.value_type)
        if pa.types.is_floating(cells.type):
            values = cells.to_numpy()
            if len(wrong := np.flatnonzero(~np.isnan(values) & (values != np.floor(values)))):
                raise BadCell(int(wrong[0]), f"{_WHAT}, got {values[wrong[0]]}")
        elif not (pa.types.is_integer(cells.type) or _is_text(cells.type)):
            raise BadCell(0, f"{_WHAT}, got a value of type {cells.type}")
        encoded = names(cells).combine_chunks().dictionary_encode()
        words = encoded.dictionary.to_pylist()
        for at, word in enumerate(words):
            if len(word) > MOST_LETTERS:
                raise BadCell(encoded.indices.to_pylist().index(at), f"a key may have at most {MOST_LETTERS} letters")
        numbers = np.array([*map(key_number, words), np.nan])
        places = encoded.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
        return np.asarray(numbers[places])

    def parse_values(self, values: Sequence[Any]) -> Floats:
        codes = np.empty(len(values))
        for at, value in enumerate(values):
            whole = type(value) is int or (type(value) is float and value.is_integer())
            if type(value) is str and len(value) > MOST_LETTERS:
                raise BadCell(at, f"a key may have at most {MOST_LETTERS} letters")
            if not (value is None or whole or type(value) is str):
                raise BadCell(at, f"{_WHAT}, got {brief(repr(value))}")
            empty = value is None or (type(value) is str and not value.strip())
            codes[at] = np.nan if empty else key_number(int(value) if whole else value)
        return codes

    def missing(self, parsed: Floats) -> NDArray[np.bool_]:
        return np.isnan(parsed)

    def encode(self, parsed: Floats, out: Floats, *, learn: bool) -> None:
        out[:, 0] = parsed


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
