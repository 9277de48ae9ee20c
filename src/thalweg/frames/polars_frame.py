"""polars: Arrow's columns in polars' own hands, so pyarrow is not needed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from thalweg.frames.arrow_frame import array_of
from thalweg.frames.frame import Floats, Frame, InParts

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
                yield InParts(partial(_as_floats, column))
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


def _as_floats(column: Any, start: int, stop: int) -> Floats:
    values: Floats = column.slice(start, stop - start).cast(_types().Float64).to_numpy()
    return values


def values_of(series: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """A Series' values, and where one is null; None where none is."""
    if series.null_count():
        return np.array(series.to_list(), dtype=object), series.is_null().to_numpy()
    return series.to_numpy(), None


def _types() -> Any:
    import polars

    return polars
