"""The column of labels: text as it stands in the table. Only an empty cell is no label: ``none`` and ``NA`` are.

Whole numbers are written without a point, so that 1 and 1.0 are one class.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.tables.cells import BadCell, brief, names, numbers

if TYPE_CHECKING:
    from thalweg.tables.rows import Chunk

#: Beyond this many different numbers among the first rows a target is taken for a quantity; text needs more than this
#: many, and more than one for every two rows, to be taken for names or times.
_MOST_CLASSES = 100
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0*")


@dataclass(frozen=True)
class Target:
    """The labels of a table."""

    name: str
    #: Whether the user says that its numbers are classes, whatever they are.
    declared: bool = False

    def require_classes(self, head: Chunk) -> None:
        """Refuse a target that is a quantity and not a class."""
        if self.declared or self.name in head.nominal:
            return
        column = head.column(self.name)
        try:
            values = numbers(column)
        except BadCell:
            self._require_repeated_texts(head)
            return
        known = np.unique(values[~np.isnan(values)])
        if len(known) > _MOST_CLASSES or (known != np.floor(known)).any():
            raise InvalidInput(
                f"{head.pieces[0].block.file}: the target {self.name!r} must hold classes, but it has {len(known):,} "
                f"different numbers in the first {len(values):,} rows, such as {known[len(known) // 2]:g}; "
                f"if they are classes nevertheless, say so with --categorical {self.name}"
            )

    def _require_repeated_texts(self, head: Chunk) -> None:
        """Refuse texts most of which occur once, such as dates, names or keys: each would become a class."""
        known, places = self.labels(head)
        labelled = int((places >= 0).sum())
        if len(known) > max(_MOST_CLASSES, labelled // 2):
            raise InvalidInput(
                f"{head.pieces[0].block.file}: the target {self.name!r} must hold classes, but it has {len(known):,} "
                f"different values in the first {len(places):,} rows, such as {brief(known[0])!r}; "
                f"if they are classes nevertheless, say so with --categorical {self.name}"
            )

    def labels(self, chunk: Chunk) -> tuple[list[str], NDArray[np.int32]]:
        """The different labels in the order of their arrival, and which of them each row has; -1 for none."""
        import pyarrow.compute as pc

        encoded = names(chunk.column(self.name)).combine_chunks().dictionary_encode()
        places: NDArray[np.int32] = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
        written = [plain_label(label) for label in encoded.dictionary.to_pylist()]
        different = list(dict.fromkeys(written))
        if len(different) < len(written):
            at = {label: place for place, label in enumerate(different)}
            places = np.array([*(at[label] for label in written), -1], dtype=np.int32)[places]
        return different, places


def plain_label(label: str) -> str:
    """A whole number without a point; anything else as it is.

    Examples
    --------
    >>> plain_label("1.0"), plain_label("1.5"), plain_label("v1.0")
    ('1', '1.5', 'v1.0')
    """
    whole = _WHOLE.fullmatch(label)
    return label if whole is None else whole[1]
