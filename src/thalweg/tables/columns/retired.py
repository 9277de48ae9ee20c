"""A column that is no longer used: its features stay, with the values of a missing cell, and cells are ignored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.tables.columns.column import Column, Floats

if TYPE_CHECKING:
    import pyarrow as pa


class RetiredColumn(Column):
    """Features of a column as they were, each with one value for all rows: a learner that knows them needs no other."""

    kind = "retired"

    def __init__(self, name: str, *, features: Sequence[str], values: Sequence[float], na: Sequence[str] = ()) -> None:
        if len(features) != len(values):
            raise ValueError(f"column {name!r} cannot be as it is described")
        self.values = tuple(float(value) for value in values)
        super().__init__(name, tuple(features), "retired: its cells are ignored", na)

    def options(self) -> dict[str, Any]:
        return {"features": self.features, "values": self.values}

    @property
    def optional(self) -> bool:
        return True

    @classmethod
    def of(cls, column: Column) -> RetiredColumn:
        """The column as if all later cells were missing."""
        import pyarrow as pa

        features = np.empty((1, len(column.features)))
        column.encode(column.parse(pa.chunked_array([pa.nulls(1)])), features, learn=False)
        return cls(column.name, features=column.features, values=features[0].tolist())

    def parse(self, column: pa.ChunkedArray) -> NDArray[np.bool_]:
        return np.zeros(len(column), dtype=np.bool_)

    def parse_values(self, values: Sequence[Any]) -> NDArray[np.bool_]:
        return np.zeros(len(values), dtype=np.bool_)

    def missing(self, parsed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return parsed

    def encode(self, parsed: NDArray[np.bool_], out: Floats, *, learn: bool) -> None:
        out[:] = self.values
