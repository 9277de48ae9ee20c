"""pandas: columns in blocks of one type, and types with a missing value of their own."""

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
                yield InParts(partial(_as_floats, column.array))

    def is_null(self, row: int, column: int) -> bool:
        cell = self.native.iat[row, column]
        return cell is None or type(cell).__name__ == "NAType"

    def sliced(self, start: int, stop: int) -> Self:
        return type(self)(self.native.iloc[start:stop])

    def column(self, name: Any) -> Any:
        return self.native[name]

    def arrow_column(self, name: Any) -> Any:
        return array_of(self.native[name])

    def select(self, names: list[Any]) -> Any:
        return self.native[names]


def _as_floats(column: Any, start: int, stop: int) -> Floats:
    values: Floats = column[start:stop].to_numpy(dtype=np.float64, na_value=np.nan)
    return values


def values_of(series: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
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
        return values_of(kind.categories)[0].take(np.asarray(codes)), None
    of_numbers = kind.kind in "biuf" and hasattr(series, "to_numpy")
    return (series.to_numpy(dtype=getattr(kind, "numpy_dtype", None)) if of_numbers else np.asarray(series)), None
