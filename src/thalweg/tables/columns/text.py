"""Columns of running text, as sparse features: the hashed n-grams of each cell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.tables.cells import names, without
from thalweg.tables.columns.column import NOT_ONE, Column, Floats
from thalweg.tables.columns.head import HASH_BITS, ColumnHead
from thalweg.tables.columns.sparse import SparseColumn
from thalweg.text import NGrams
from thalweg.text.hashing import CSR
from thalweg.text.strings import arrow_strings, strings_of

if TYPE_CHECKING:
    import pyarrow as pa

#: Words of a cell of text on average, at least; a word has two letters and more.
LEAST_WORDS = 4
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class TextCells:
    """Texts of Arrow, null where one is missing, and their n-grams as compressed rows where these are all of them."""

    texts: pa.Array
    rows: CSR | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, kept: NDArray[np.int64]) -> TextCells:
        import pyarrow as pa

        return TextCells(self.texts.take(pa.array(kept)))


class TextColumn(SparseColumn):
    """Running text by the counts c of its n-grams, hashed with a sign, as ±log(1 + c); a missing one has none."""

    kind = "text"
    measure = "different words"
    declared_as = "text"
    schema = frozenset[str]()

    def __init__(
        self, name: str, *, ngrams: Sequence[int] = (1, 1), hash_bits: int = HASH_BITS, na: Sequence[str] = ()
    ) -> None:
        low, high = ngrams
        self.ngrams = NGrams((low, high), hash_bits=hash_bits, norm=None)
        runs = "its words" if low == high == 1 else f"runs of {low if low == high else f'{low} to {high}'} words"
        use = f"log(1 + count) of {runs}, hashed into {self.ngrams.width:,} sparse features; a missing text has none"
        super().__init__(name, use, hash_bits=hash_bits, na=na)

    @classmethod
    def detect(cls, head: ColumnHead) -> Column | str | None:
        if head.declared != cls.declared_as:
            may_be = head.detect_text and head.mostly_differs and head.code is None and not head.holds_json
            if not may_be or not seems_text(head.categories):
                return None
        return cls(head.name, ngrams=head.ngrams, hash_bits=head.hash_bits)

    @classmethod
    def described(cls, name: str, said: Mapping[str, Any]) -> Column:
        return cls(name)

    def options(self) -> dict[str, Any]:
        return {"ngrams": list(self.ngrams.ngrams), "hash_bits": self.ngrams.hash_bits}

    def parse(self, column: pa.ChunkedArray) -> TextCells:
        texts = names(without(column, self.na)).combine_chunks()
        return TextCells(texts, self._rows(texts))

    def parse_one(self, value: Any) -> Any:
        if value is None or value == "" or value != value:
            return NOT_ONE if self.na else ""
        # What is all blank is missing by Arrow's rules, and it says what is wrong with a text that is not Unicode.
        return value if type(value) is str and not self.na and not value.isspace() and _is_unicode(value) else NOT_ONE

    def encode_one(self, cell: str, out: list[float], *, learn: bool) -> bool:
        if learn:
            self._remember(lambda words: words.add_texts([cell], self.ngrams), 1)
        return not cell

    def compressed_one(self, cell: str) -> tuple[NDArray[np.int32], Floats]:
        _, indices, counts = self.ngrams.rows(strings_of([cell]))
        return indices, np.copysign(np.log1p(np.abs(counts)), counts)

    def missing(self, parsed: TextCells) -> NDArray[np.bool_]:
        return np.asarray(parsed.texts.is_null().to_numpy(zero_copy_only=False))

    def encode(self, parsed: TextCells, out: Floats, *, learn: bool) -> None:
        """Remember words; there are no dense features to write."""
        if learn:
            self._remember(lambda words: words.add_texts(parsed.texts, self.ngrams), len(parsed))

    def compressed(self, parsed: TextCells) -> CSR:
        """The rows as where each begins, the sorted indices of their entries, and the values."""
        return parsed.rows or self._rows(parsed.texts)

    def _rows(self, texts: pa.Array) -> CSR:
        indptr, indices, counts = self.ngrams.rows(arrow_strings(texts, self.name))
        return indptr, indices, np.copysign(np.log1p(np.abs(counts)), counts)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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
