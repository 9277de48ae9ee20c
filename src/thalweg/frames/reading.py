"""Which library a table or a series is of. None of them is imported here: one that made an object is already loaded.

What is of none is taken as NumPy takes it, but for what NumPy turns into numbers or text without a word: dates, masked
cells, records, dicts, and labels of several types.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.frames import arrow_frame, data_frames
from thalweg.frames.frame import LABELLED_ONLY, Frame

_NO_FRAMES = (np.ndarray, list, tuple, str)


def frame_of(X: Any) -> Frame | None:
    """X as a frame; None where it is no table of any library, or has no named columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> frame_of(pa.table({"price": [1.0, 2.0]})).names
    ['price']
    >>> frame_of([[1.0], [2.0]]) is None
    True
    """
    if isinstance(X, _NO_FRAMES):
        return None
    if isinstance(X, Frame):
        return X
    if _is(X, "pandas", "DataFrame"):
        return data_frames.PandasFrame(X)
    if _is(X, "polars", "DataFrame"):
        return data_frames.PolarsFrame(X)
    if _is(X, "polars", "LazyFrame"):
        raise InvalidInput("a LazyFrame holds a plan and no rows: collect it, as in model.fit(X.collect(), y)")
    return arrow_frame.ArrowFrame(arrow_frame.table_of(X)) if is_arrow_table(X) else None


def is_arrow_table(X: Any) -> bool:
    """Whether X hands over a table by one of Arrow's interfaces, be it a stream that can be read once."""
    if isinstance(X, _NO_FRAMES) or _is_series(X):
        return False
    return hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")


def is_in_memory(X: Any) -> bool:
    """Whether X is a table with all its rows, as opposed to a stream of them."""
    return _is(X, "pandas", "DataFrame") or _is(X, "polars", "DataFrame", "LazyFrame") or _is_arrow(X)


def reads_once(X: Any) -> bool:
    """Whether the rows of X are gone once they were read."""
    return _is(X, "pyarrow", "RecordBatchReader")


def with_names(X: Any) -> Any:
    """Something with X's column names, of a kind that scikit-learn reads them from; X itself where it is such."""
    if is_arrow_table(X) and (_is_arrow(X) or not is_in_memory(X)):
        return arrow_frame.schema_table_of(X)
    return X


def names_of_columns(X: Any) -> list[Any] | None:
    frame = frame_of(with_names(X))
    return None if frame is None else frame.names


def as_array(y: Any) -> Any:
    """A series of any library as an array, a table of one column as a column; anything else as it is.

    `InvalidInput` names the row of a missing value.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_array(pa.array(["dry", "wet", "dry"]).dictionary_encode())
    array(['dry', 'wet', 'dry'], dtype='<U3')
    """
    if isinstance(y, _NO_FRAMES) or y is None:
        return y
    frame = None
    if is_arrow_table(y):
        with suppress(InvalidInput):  # Arrow's interfaces do not distinguish an array from a table before it is read
            frame = frame_of(y)
    if frame is None:
        return _values(y)
    return np.reshape(_values(frame.column(frame.names[0])), (-1, 1)) if len(frame.names) == 1 else y


def as_they_are(y: Any) -> Any:
    """A list of labels of several types as objects, which NumPy would make all text; numbers, and all else, as it is.

    Examples
    --------
    >>> as_they_are(["a", 1])
    array(['a', 1], dtype=object)
    """
    types = set(map(type, y)) if isinstance(y, list | tuple) else ()
    numbers = all(issubclass(kind, int | float | np.number) and kind is not bool for kind in types)
    return np.fromiter(y, dtype=object, count=len(y)) if len(types) > 1 and not numbers else y


def as_plain(values: Any, name: str) -> Any:
    """These values, lists as an array; `InvalidInput` where they only look like numbers, or ValueError if ragged.

    Examples
    --------
    >>> as_plain([[1, 2], [3, 4]], "X").shape
    (2, 2)
    >>> as_plain(np.array(["2026-01-01"], dtype="M8[D]"), "y")
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidInput: y must hold numbers, got datetime64[D]: make them some, as in (y - y[0]).astype(float)
    """
    if isinstance(values, Mapping) and not hasattr(values, "tocsr"):  # of sparse kinds scikit-learn's check says more
        raise InvalidInput(f"{name} must be an array or a frame, got a {type(values).__name__}: make a frame of it")
    if np.ma.is_masked(values):
        raise InvalidInput(f"{name} must hold a value in every cell, got a masked array: {name}.filled fills it")
    array = np.asarray(values) if isinstance(values, list | tuple) else values
    kind = getattr(getattr(array, "dtype", None), "kind", "")
    if kind == "V":
        raise InvalidInput(f"{name} must hold a number in each cell, got records of {array.dtype}")
    if kind in ("m", "M"):
        change = f"make them some, as in ({name} - {name}[0]).astype(float)"
        raise InvalidInput(f"{name} must hold numbers, got {array.dtype}: {change}")
    if kind == "O" and isinstance(array, np.ndarray):
        for type_ in set(map(type, array.flat)):
            if issubclass(type_, Mapping) and array.ndim == 1:
                rows = "rows as dicts go one by one, as into learn_one, or all as a frame"
                raise InvalidInput(f"{name} must be an array or a frame, got a sequence of dicts: {rows}")
            if issubclass(type_, np.datetime64 | np.timedelta64):
                raise InvalidInput(f"{name} must hold numbers, got {type_.__name__}")
    return array


def sliced(X: Any, start: int, stop: int) -> Any:
    """Rows of an array, a sparse matrix or a frame of any library, as what they are of."""
    if hasattr(X, "tocsr"):
        return X.tocsr()[start:stop]
    frame = frame_of(X)
    return X[start:stop] if frame is None else frame.sliced(start, stop).native


def _values(y: Any) -> NDArray[Any] | Any:
    if _is(y, "polars", "Series"):
        values, missing = data_frames.polars_values(y)
    elif _is(y, "pandas", "Series", "Index") or _is(y, "pandas.api.extensions", "ExtensionArray"):
        values, missing = data_frames.pandas_values(y)
    elif hasattr(y, "__arrow_c_stream__") or hasattr(y, "__arrow_c_array__"):
        values, missing = arrow_frame.values_of(y)
    else:
        return y
    if missing is not None:
        named = getattr(y, "name", None)
        column = "" if named is None else f", column {named!r}"
        where = f"row {missing.argmax()}{column}"
        raise InvalidInput(f"y must hold a value for every row, got a missing one at {where}{LABELLED_ONLY}")
    return values


def _is_arrow(X: Any) -> bool:
    return _is(X, "pyarrow", "Table", "RecordBatch")


def _is_series(X: Any) -> bool:
    return (
        _is(X, "pandas", "Series", "Index")
        or _is(X, "pandas.api.extensions", "ExtensionArray")
        or _is(X, "polars", "Series")
        or _is(X, "pyarrow", "Array", "ChunkedArray")
    )


def _is(X: Any, library: str, *names: str) -> bool:
    module = sys.modules.get(library)
    return module is not None and isinstance(X, tuple(getattr(module, name) for name in names))
