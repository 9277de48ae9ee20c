"""Rows in memory as columns of Arrow: those of an array, a frame of any library, or a sparse matrix."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from thalweg.errors import InvalidInput
from thalweg.frames.arrow_frame import array_of, pyarrow_for, values_of
from thalweg.frames.reading import as_plain, as_they_are, frame_of
from thalweg.tables.sparse_rows import FEATURES


def free_name(name: str, taken: Collection[str]) -> str:
    """A name that no column has: this one if it is free."""
    while name in taken:
        name += "_"
    return name


def are_dicts(X: Any) -> bool:
    """Whether these are rows as dicts."""
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(row, Mapping) for row in X)


def columns_of(X: Any) -> dict[str, Any]:
    """The columns by name, whatever they hold; those of an array by their places.

    Examples
    --------
    >>> {name: column.to_pylist() for name, column in columns_of([{"a": 1}, {"a": None, "b": "x"}]).items()}
    {'a': [1, None], 'b': [None, 'x']}
    """
    pyarrow_for(X)
    if hasattr(X, "tocsr"):
        return sparse_column(X)
    if are_dicts(X):
        names = dict.fromkeys(name for row in X for name in row)
        _require_text(list(map(str, names)))
        return {str(name): array_of([row.get(name) for row in X], name) for name in names}
    frame = frame_of(X)
    if frame is not None:
        words = list(map(str, frame.names))
        if not words or len(set(words)) < len(words):
            twice = next((name for name in words if words.count(name) > 1), None)
            what = "at least one column" if twice is None else f"a different name for each column, got {twice!r} twice"
            raise InvalidInput(f"X must have {what}")
        _require_text(words)
        return dict(zip(words, map(frame.arrow_column, frame.names), strict=True))
    try:
        rows = np.asarray(as_plain(X, "X"))
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"X must be a table of rows and columns: {error}") from error
    if rows.ndim != 2:
        change = ". Reshape your data: X.reshape(1, -1) is one row" if rows.ndim == 1 else ""
        raise InvalidInput(f"X must have the shape (rows, columns), got {rows.shape}{change}")
    if rows.shape[1] == 0:
        none = f"0 feature(s) (shape={rows.shape}) while a minimum of 1 is required."
        raise InvalidInput(f"X must have at least one column, got {none}")
    return numbers_by_column(rows, names_by_place(rows.shape[1]))


def _require_text(names: list[str]) -> None:
    """Arrow takes no other names of columns."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError as error:
        bad = next(name for name in names if error.object[error.start] in name)
        raise InvalidInput(f"the column {bad!r} has half of a character, a lone surrogate, in its name") from error


def names_by_place(columns: int) -> list[str]:
    """What the columns of an array are called."""
    return [f"x{at + 1}" for at in range(columns)]


def numbers_by_column(rows: Any, names: list[str]) -> dict[str, Any]:
    return {name: series_of(rows[:, at], "X") for at, name in enumerate(names)}


def sparse_column(X: Any) -> dict[str, Any]:
    """One column of maps from index to value, as files of svmlight give it."""
    import pyarrow as pa

    rows = X.tocsr()
    offsets = pa.array(rows.indptr.astype(np.int32))
    keys, values = pa.array(rows.indices.astype(np.int32)), pa.array(rows.data.astype(np.float64))
    return {FEATURES: pa.MapArray.from_arrays(offsets, keys, values)}


def series_of(values: Any, name: str) -> Any:
    """Values of any library as an array of Arrow; null where one is missing."""
    pa = pyarrow_for(values)
    if hasattr(values, "to_arrow"):  # polars
        values = values.to_arrow()
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if np.ma.is_masked(values):
        raise InvalidInput(f"{name} must hold a value in every cell, got a masked array: {name}.filled fills it")
    if not hasattr(values, "dtype") and (hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")):
        values = values_of(values)[0]
    array = as_they_are(values)
    if not hasattr(array, "dtype"):
        array = np.asarray(array)
    if array.ndim != 1:
        raise InvalidInput(f"{name} must have one value for each row, got the shape {array.shape}")
    return array_of(array.tolist() if array.dtype.kind == "O" and isinstance(array, np.ndarray) else array)
