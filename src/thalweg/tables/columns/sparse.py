"""What columns with sparse features share: a width in place of named features, and names for hashed features.

A cell has few entries of very many possible ones, so such a column gives its cells as compressed rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any, ClassVar, Literal

from thalweg.tables.columns.column import NOT_ONE, Column, invalid
from thalweg.tables.columns.head import MOST_HASH_BITS
from thalweg.text import FeatureNames

#: Indices are below this, so that they and their number are 32-bit integers.
INDEX_WIDTH = 2**31 - 1
#: Features whose names are kept, at the most: a checkpoint holds them as JSON.
MOST_NAMES = 16_384
#: The names of fewer rows are counted at once.
_MANY_ROWS = 256


class SparseColumn(Column):
    """Hashes names into 2 ** `hash_bits` features and remembers the most frequent names, or takes indices as they are.

    Parameters
    ----------
    hash_bits : int or None
        Binary logarithm of the number of features; None for indices.
    """

    sparse = True
    watched: ClassVar[Literal["cells", "steps", "entries"] | None] = "entries"

    def __init__(self, name: str, treatment: str, *, hash_bits: int | None, na: Sequence[str] = ()) -> None:
        if hash_bits is not None and not 1 <= hash_bits <= MOST_HASH_BITS:
            raise invalid(name)
        super().__init__(name, (), treatment, na)
        self._words = None if hash_bits is None else FeatureNames(hash_bits, MOST_NAMES)
        #: Counts the names of the rows encoded last, and the thread that counts those of the rows before.
        self._count: Callable[[FeatureNames], object] | None = None
        self._counting: Thread | None = None
        self._width = INDEX_WIDTH if hash_bits is None else 1 << hash_bits

    @property
    def width(self) -> int:
        """The size of the index space."""
        return self._width

    @property
    def words(self) -> FeatureNames | None:  # type: ignore[override]
        """The names of features, for reports; None for indices, and in models saved before names were kept."""
        self._settle()
        return self._words

    def parse_one(self, value: Any) -> Any:
        return NOT_ONE

    def _remember(self, count: Callable[[FeatureNames], object], rows: int) -> None:
        """Count names, but not before they are asked for or others come: `undo` takes no copy of all counts.

        Beside many rows the earlier names are counted in the background: a run learns meanwhile.
        """
        if self._words is not None:
            self._settle(in_background=rows >= _MANY_ROWS)
            self._count = count

    def _settle(self, *, in_background: bool = False) -> None:
        """Count what is still to be counted."""
        if self._counting is not None:
            self._counting.join()
        count, words = self._count, self._words
        self._count = self._counting = None
        if count is None or words is None:
            return
        if in_background:
            self._counting = Thread(target=count, args=(words,), daemon=True)
            self._counting.start()
        else:
            count(words)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_words": self.words, "_count": None, "_counting": None}

    def mark(self) -> None:
        """Nothing is kept: `undo` drops what was not counted yet."""
        self._settle()

    def undo(self, mark: Any) -> None:
        self._count = None

    def state(self) -> dict[str, Any]:
        """The names of features, with their counts."""
        words = self.words
        return {} if words is None else {"words": words.to_json()}

    def restore(self, state: dict[str, Any]) -> None:
        self._count = None
        if "words" not in state:
            self._words = None
            return
        words, own = FeatureNames.from_json(state["words"]), self._words
        if own is None or (words.hash_bits, words.limit) != (own.hash_bits, own.limit):
            raise invalid(self.name)
        self._words = words
