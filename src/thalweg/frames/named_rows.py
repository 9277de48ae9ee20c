"""Rows that lie as an array, with names for its columns: how a stream that knows its names hands them on."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Self

from numpy.typing import NDArray

from thalweg.frames.frame import Floats, Frame


class NamedRows(Frame):
    """An array of numbers and a name for each column. Nothing is copied.

    >>> import numpy as np
    >>> rows = NamedRows(np.array([[1.0, 2.0], [3.0, 4.0]]), ["price", "demand"])
    >>> rows.names, rows.sliced(1, 2).rows().tolist()
    (['price', 'demand'], [[3.0, 4.0]])
    """

    def __init__(self, values: Floats, names: Sequence[Hashable]) -> None:
        self.values = values
        self._names = names

    @property
    def native(self) -> Self:
        """Itself: no library stands behind it."""
        return self

    @property
    def names(self) -> list[Any]:
        """The names of the columns."""
        return list(self._names)

    def __len__(self) -> int:
        return len(self.values)

    def as_it_lies(self) -> NDArray[Any]:
        """The array."""
        return self.values

    def columns(self) -> Iterator[NDArray[Any]]:
        """Each column."""
        return iter(self.values.T)

    def _require_distinct_names(self, name: str) -> None:
        """Whoever made it saw to that; and River's features may be called anything."""

    def is_null(self, row: int, column: int) -> bool:
        """Never: NaN is a number here."""
        return False

    def sliced(self, start: int, stop: int) -> Self:
        """These rows."""
        return type(self)(self.values[start:stop], self._names)

    def column(self, name: Any) -> NDArray[Any]:
        """One column."""
        values: NDArray[Any] = self.values[:, self.names.index(name)]
        return values

    def select(self, names: list[Any]) -> Self:
        """These columns."""
        return type(self)(self.values[:, [self.names.index(name) for name in names]], names)
