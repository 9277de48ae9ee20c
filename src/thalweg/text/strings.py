"""Strings of any library as Arrow lays them out: offsets into one array of UTF-8 bytes.

pandas, polars and pyarrow are not imported for lists and NumPy arrays. Of Arrow's columns the bytes are not copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput, MissingExtra

#: Strings that are encoded together: one letter beyond ASCII slows down those in its batch only.
_BATCH = 128


class Strings(NamedTuple):
    """String i lies in ``data[offsets[i] : offsets[i + 1]]``; offsets have 32 or 64 bits."""

    offsets: NDArray[Any]
    data: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.offsets) - 1


def strings_of(values: Any, name: str = "X") -> Strings:
    """A sequence of str, or a column of strings of any library; a missing one is empty.

    Examples
    --------
    >>> strings_of(["ab", None, "é"])
    Strings(offsets=array([0, 2, 2, 4]), data=array([ 97,  98, 195, 169], dtype=uint8))
    """
    if isinstance(values, str | bytes):
        raise InvalidInput(f"{name} must be a sequence of texts, got one {type(values).__name__}: put it into a list")
    array = getattr(values, "array", values)  # what a Series of pandas holds
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__") or _is_arrow_backed(array):
        return arrow_strings(_arrow_column(values, array, name), name)
    shape = np.shape(values) if hasattr(values, "shape") else ()
    if len(shape) > 1 and shape[1:] != (1,):
        raise InvalidInput(f"{name} must be one column of texts, got an array of shape {shape}")
    strings = (values.reshape(-1) if len(shape) > 1 else values).tolist() if hasattr(values, "tolist") else list(values)
    return _from_list(strings, name)


def arrow_strings(column: Any, name: str = "X") -> Strings:
    """An array or a chunked array of Arrow's strings."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    types = pa.types
    if not any(fits(kind) for fits in (types.is_null, types.is_string, types.is_large_string, types.is_string_view)):
        raise InvalidInput(f"{name} must hold texts, got a column of type {column.type}")
    cells = column if types.is_string(column.type) and isinstance(column, pa.Array) else column.cast(pa.large_string())
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    if cells.null_count:
        cells = cells.fill_null("")
    _, offsets, data = cells.buffers()
    width = np.int32 if types.is_string(cells.type) else np.int64
    places = np.zeros(1, width) if offsets is None else np.frombuffer(offsets, width)
    return Strings(
        places[cells.offset : cells.offset + len(cells) + 1],
        np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8),
    )


def _is_arrow_backed(array: Any) -> bool:
    return hasattr(array, "__arrow_array__") and "pyarrow" in str(getattr(array, "dtype", ""))


def _arrow_column(values: Any, array: Any, name: str) -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtra.of("pyarrow", "files", f"reading a {type(values).__name__}") from error
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        if hasattr(values, "__arrow_c_stream__"):
            return pa.chunked_array(values)
        return pa.array(array)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be one column of texts, got a {type(values).__name__}") from error


def _from_list(values: Sequence[Any], name: str) -> Strings:
    sizes: list[int] = []
    pieces: list[bytes] = []
    for start in range(0, len(values), _BATCH):
        part = values[start : start + _BATCH]
        try:
            joined = "".join(part)
        except TypeError:
            part = [_text(value, row, name) for row, value in enumerate(part, start)]
            joined = "".join(part)
        pieces.append(_encoded(joined))
        sizes += map(len, part if joined.isascii() else map(_encoded, part))
    offsets = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return Strings(offsets, np.frombuffer(b"".join(pieces), np.uint8))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(value: Any, row: int, name: str) -> str:
    if isinstance(value, str):
        return value
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value):
        return ""
    raise InvalidInput(f"{name} must hold texts, got {value!r} of type {type(value).__name__} at row {row}")
