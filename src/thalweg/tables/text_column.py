"""Columns of running text, as sparse features: the hashed n-grams of each cell.

Such a column has no named features. It has a width, and gives its cells as compressed rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.tables.cells import names, without
from thalweg.tables.kinds import Column, Floats
from thalweg.text import FeatureNames, NGrams
from thalweg.text.ngrams import CSR
from thalweg.text.strings import arrow_strings

if TYPE_CHECKING:
    import pyarrow as pa

#: Words of a cell of text on average, at least; a word has two letters and more.
LEAST_WORDS = 4
_WORD = re.compile(r"[^\W\d_]{2,}")
#: Features whose words are kept, at the most: a checkpoint holds them as JSON.
MOST_NAMES = 16_384


@dataclass(frozen=True)
class TextCells:
    """Texts of Arrow, null where one is missing."""

    texts: pa.Array

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, kept: NDArray[np.int64]) -> TextCells:
        import pyarrow as pa

        return TextCells(self.texts.take(pa.array(kept)))


class TextColumn(Column):
    """Running text as hashed counts of its n-grams; a missing one has none.

    It remembers the words of its most frequent features, so that a report can name them.
    """

    kind = "text"
    sparse = True

    def __init__(self, name: str, *, ngrams: NGrams | None = None, na: Sequence[str] = ()) -> None:
        self.ngrams = NGrams() if ngrams is None else ngrams
        low, high = self.ngrams.ngrams
        unit = "words" if self.ngrams.analyzer == "word" else "characters"
        runs = (
            f"its {unit}" if low == high == 1 else f"runs of {f'{low}' if low == high else f'{low} to {high}'} {unit}"
        )
        told = f"{runs}, hashed into {self.ngrams.width:,} sparse features; a missing text has none"
        super().__init__(name, (), told, na)
        self.words = FeatureNames(self.ngrams.hash_bits, MOST_NAMES)

    @property
    def width(self) -> int:
        """Number of features."""
        return self.ngrams.width

    def parse(self, column: pa.ChunkedArray) -> TextCells:
        return TextCells(names(without(column, self.na)).combine_chunks())

    def missing(self, parsed: TextCells) -> NDArray[np.bool_]:
        return np.asarray(parsed.texts.is_null().to_numpy(zero_copy_only=False))

    def encode(self, parsed: TextCells, out: Floats, *, learn: bool) -> None:
        """Remember words; there are no dense features to write."""
        if learn:
            self.words.add_texts(parsed.texts, self.ngrams)

    def compressed(self, parsed: TextCells) -> CSR:
        """The rows as where each begins, the sorted indices of their entries, and the values."""
        return self.ngrams.rows(arrow_strings(parsed.texts, self.name))

    def state(self) -> dict[str, Any]:
        """The words of features, with their counts."""
        return {"words": self.words.to_json()}

    def restore(self, state: dict[str, Any]) -> None:
        words = FeatureNames.from_json(state["words"])
        if (words.hash_bits, words.limit) != (self.words.hash_bits, self.words.limit):
            raise ValueError(f"column {self.name!r} cannot be as it is described")
        self.words = words


def seems_text(cells: Sequence[str]) -> bool:
    """Whether different cells of a column are running text: at least four words on average.

    Addresses of pages and e-mail, identifiers and dates have fewer: what is not between spaces is one word.

    Examples
    --------
    >>> seems_text(["The meeting moved to Monday", "Please find the minutes attached"])
    True
    >>> seems_text(["https://example.org/a/page/about/rivers", "4711 0815 99 1234"]), seems_text(["Anna Smith"])
    (False, False)
    """
    words = sum(_WORD.search(part) is not None for cell in cells for part in cell.split())
    return bool(cells) and words >= LEAST_WORDS * len(cells)
