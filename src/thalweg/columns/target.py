"""The column of labels: text as it stands in the table. Only an empty cell is no label: ``none`` and ``NA`` are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.columns.cells import BadCell, names, numbers
from thalweg.errors import InvalidInput

if TYPE_CHECKING:
    from thalweg.sources.chunks import Chunk

#: Beyond this many different numbers among the first rows a target is taken for a quantity.
_MOST_CLASSES = 100


@dataclass(frozen=True)
class Target:
    """The labels of a table."""

    name: str

    def require_classes(self, head: Chunk) -> None:
        """Refuse a target that is a quantity and not a class."""
        column = head.column(self.name)
        try:
            values = numbers(column)
        except BadCell:
            return
        known = np.unique(values[~np.isnan(values)])
        if len(known) > _MOST_CLASSES or (known != np.floor(known)).any():
            raise InvalidInput(
                f"{head.pieces[0].block.file}: the target {self.name!r} must hold classes, but it has {len(known):,} "
                f"different numbers in the first {len(values):,} rows, such as {known[len(known) // 2]:g}"
            )

    def labels(self, chunk: Chunk) -> tuple[list[str], NDArray[np.int32]]:
        """The different labels in the order of their arrival, and which of them each row has; -1 for none."""
        import pyarrow.compute as pc

        encoded = names(chunk.column(self.name)).combine_chunks().dictionary_encode()
        places: NDArray[np.int32] = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
        return encoded.dictionary.to_pylist(), places
