"""Frames of pandas, with columns in blocks of one type and types with a missing value of their own, and of polars.

polars has Arrow's columns in its own hands, so pyarrow is not needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from thalweg.frames.arrow_frame import array_of
from thalweg.frames.frame import Floats, Frame, InParts


class PandasFrame(Frame):
    """A ``pandas.DataFrame``.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = PandasFrame(pd.DataFrame({"price": [1, 2], "up": [True, False]}))
    >>> frame.names, frame.rows().tolist()
    (['price', 'up'], [[1.0, 1.0], [2.0, 0.0]])
    """

    def as_one_array(self) -> NDArray[Any] | None:
        """The one block of a frame whose columns are of one type, in rows or in columns."""
        rows, width = self.native.shape
        kinds = set(self.native.dtypes)
        if len(kinds) > 1 or not all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in kinds):
            return None
        first, last = (self.native.iloc[:, place].to_numpy() for place in (0, -1))
        apart = (last.ctypes.data - first.ctypes.data) // first.itemsize
        in_rows = first.strides == (width * first.itemsize,) and apart == width - 1
        in_columns = first.flags.c_contiguous and apart == (width - 1) * rows
        values: NDArray[Any] | None = self.native.to_numpy() if in_rows or in_columns else None
        return values

    def columns(self) -> Iterator[NDArray[Any] | InParts]:
        """Each column; text is read as a number, as NumPy would read it."""
        for place in range(self.native.shape[1]):
            column = self.native.iloc[:, place]
            if column.dtype.kind not in "biufO":
                raise TypeError(f"it holds {column.dtype}")
            if isinstance(column.dtype, np.dtype):
                yield column.to_numpy()
            else:
                yield InParts(partial(_pandas_floats, column.array))

    def is_null(self, row: int, column: int) -> bool:
        cell = self.native.iat[row, column]
        return cell is None or type(cell).__name__ == "NAType"

    def sliced(self, start: int, stop: int) -> Self:
        return type(self)(self.native.iloc[start:stop])

    def column(self, name: Any) -> Any:
        return self.native[name]

    def arrow_column(self, name: Any) -> Any:
        return array_of(self.native[name], name)

    def select(self, names: list[Any]) -> Any:
        return self.native[names]


def _pandas_floats(column: Any, start: int, stop: int) -> Floats:
    values: Floats = column[start:stop].to_numpy(dtype=np.float64, na_value=np.nan)
    return values


def pandas_values(series: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """A Series' values, and where one is missing; None where none is, or where NaN says so itself."""
    import pandas as pd

    kind = series.dtype
    if isinstance(kind, np.dtype) and kind.kind != "O":
        return np.asarray(series), None
    missing = np.asarray(pd.isna(series))
    if missing.any():
        return np.asarray(series, dtype=object), missing
    if isinstance(kind, pd.CategoricalDtype):
        codes = series.cat.codes if hasattr(series, "cat") else series.codes
        return pandas_values(kind.categories)[0].take(np.asarray(codes)), None
    of_numbers = kind.kind in "biuf" and hasattr(series, "to_numpy")
    return (series.to_numpy(dtype=getattr(kind, "numpy_dtype", None)) if of_numbers else np.asarray(series)), None


#: Types of whole numbers that neither Arrow nor NumPy has.
_NOT_IN_ARROW = ("Int128", "UInt128")


class PolarsFrame(Frame):
    def as_one_array(self) -> NDArray[Any] | None:
        """A single column of float64."""
        if self.native.width != 1 or self.native.to_series(0).dtype != _types().Float64:
            return None
        column: Floats = self.native.to_series(0).to_numpy()
        return column.reshape(-1, 1)

    def columns(self) -> Iterator[NDArray[Any] | InParts]:
        polars = _types()
        for column in self.native.iter_columns():
            kind = column.dtype
            to_cast = kind.is_decimal() or kind in (polars.Boolean, polars.Null) or str(kind) in _NOT_IN_ARROW
            if not (to_cast or kind.is_numeric()):
                raise TypeError(f"it holds {kind}")
            if to_cast or column.null_count() or column.n_chunks() > 1:
                yield InParts(partial(_polars_floats, column))
            else:
                yield column.to_numpy()

    def is_null(self, row: int, column: int) -> bool:
        return self.native[row, column] is None

    def sliced(self, start: int, stop: int) -> Self:
        return type(self)(self.native.slice(start, stop - start))

    def column(self, name: Any) -> Any:
        return self.native.get_column(name)

    def arrow_column(self, name: Any) -> Any:
        column = self.native.get_column(name)
        if str(column.dtype) in _NOT_IN_ARROW:
            column = column.cast(_types().Float64)
        return array_of(column.to_list()) if column.dtype == _types().Object else column.to_arrow()

    def select(self, names: list[Any]) -> Any:
        return self.native.select(names)


def _polars_floats(column: Any, start: int, stop: int) -> Floats:
    values: Floats = column.slice(start, stop - start).cast(_types().Float64).to_numpy()
    return values


def polars_values(series: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """A Series' values, and where one is null; None where none is."""
    if series.null_count():
        return np.array(series.to_list(), dtype=object), series.is_null().to_numpy()
    return series.to_numpy(), None


def _types() -> Any:
    import polars

    return polars
