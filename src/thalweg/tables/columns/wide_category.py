"""Columns of very many categories, hashed: for a learner of rates by category, or beside sparse columns."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from thalweg.kernels import compiled
from thalweg.tables.columns.category import MOST_CATEGORIES, NamesColumn
from thalweg.tables.columns.column import Column, Floats, invalid
from thalweg.tables.columns.head import HASH_BITS, USUAL_RATES, ColumnHead
from thalweg.tables.columns.sparse import SparseColumn
from thalweg.text.hashing import CSR
from thalweg.text.strings import strings_of

#: Cells that the categories of a wide column are hashed into.
CELLS = 65_536
#: Labels, beside the first, whose rates by category are features, at the most.
MOST_RATES = 8


class HashedColumn(NamesColumn):
    """Very many categories: the number of a cell, by a hash of the name, for a learner that counts labels by cell."""

    kind = "wide category"
    schema: ClassVar[frozenset[str] | None] = frozenset()

    def __init__(self, name: str, *, rates: int, means: bool = False, na: Sequence[str] = ()) -> None:
        if not 1 <= rates <= MOST_RATES:
            raise invalid(name)
        self.rates = rates
        #: Whether the target is a number, whose mean by category is learned.
        self.means = means
        features = (f"{name}: label rates",) if rates == 1 else tuple(f"{name}: rate {i + 2}" for i in range(rates))
        numbers = "one number" if rates == 1 else f"{rates} numbers"
        use = f"{numbers}: how often each label came with its category so far, counted in {CELLS:,} hashed cells"
        if means:
            features = (f"{name}: mean target", *features[1:])
            use = f"the mean target of its category so far, less that of all rows, counted in {CELLS:,} hashed cells"
        super().__init__(name, features, f"{use}; 0 for an empty cell or a new category", na)

    @classmethod
    def detect(cls, head: ColumnHead) -> Column | str | None:
        if max(len(head.categories), len(head.values)) <= MOST_CATEGORIES:
            return None
        return super().detect(head) or cls(head.name, rates=head.rates)

    @classmethod
    def described(cls, name: str, said: Mapping[str, Any]) -> Column:
        return cls(name, rates=USUAL_RATES)

    def options(self) -> dict[str, Any]:
        return {"rates": self.rates} | ({"means": True} if self.means else {})

    def for_numbers(self) -> Column:
        return self.remade(rates=1, means=True)

    def among_sparse(self, hash_bits: int) -> Column:
        return SparseCategoryColumn(self.name, hash_bits=hash_bits, na=self.na)

    def encode(self, parsed: tuple[NDArray[np.int64], list[str]], out: Floats, *, learn: bool) -> None:
        """The number of the cell, -1 where the value is missing; zeros where the rates of further labels will be."""
        places, distinct = parsed
        # The same on every machine and in every version, which Python's own hash is not.
        cells = [zlib.crc32(word.encode(errors="surrogatepass")) % CELLS for word in distinct]
        out[:] = 0.0
        out[:, 0] = np.array([*cells, -1], dtype=np.float64)[places]

    def encode_one(self, cell: str, out: list[float], *, learn: bool) -> bool:
        out.append(zlib.crc32(cell.encode(errors="surrogatepass")) % CELLS if cell else -1.0)
        out += [0.0] * (len(self.features) - 1)
        return not cell


class SparseCategoryColumn(SparseColumn, NamesColumn):
    """A category as the hashed name "column=category", with the value 1 or -1 by its hash; an empty cell has none."""

    kind = "sparse category"
    watched = "cells"

    def __init__(self, name: str, *, hash_bits: int = HASH_BITS, na: Sequence[str] = ()) -> None:
        self.hash_bits = hash_bits
        use = f"a feature for each category, hashed into {1 << hash_bits:,} sparse features; an empty cell has none"
        super().__init__(name, use, hash_bits=hash_bits, na=na)

    @classmethod
    def detect(cls, head: ColumnHead) -> Column | str | None:
        return None  # `HashedColumn` becomes it

    def options(self) -> dict[str, Any]:
        return {"hash_bits": self.hash_bits}

    def encode(self, parsed: tuple[NDArray[np.int64], list[str]], out: Floats, *, learn: bool) -> None:
        """Remember names; there are no dense features to write."""
        if learn:
            places, named = parsed[0].tolist(), self._named(parsed[1])
            self._remember(lambda words: words.add_names([named[place] for place in places if place >= 0]), len(places))

    def parse_one(self, value: Any) -> Any:
        return NamesColumn.parse_one(self, value)

    def encode_one(self, cell: str, out: list[float], *, learn: bool) -> bool:
        if learn and cell:
            self._remember(lambda words: words.add_names(self._named([cell])), 1)
        return not cell

    def compressed_one(self, cell: str) -> tuple[NDArray[np.int32], Floats]:
        indices, signs = compiled.hash_strings(*strings_of(self._named([cell] if cell else [])), self.hash_bits)
        return indices, signs.astype(np.float64)

    def compressed(self, parsed: tuple[NDArray[np.int64], list[str]]) -> CSR:
        """One entry for each row whose cell is not empty."""
        places, distinct = parsed
        indices, signs = compiled.hash_strings(*strings_of(self._named(distinct), self.name), self.hash_bits)
        known = places >= 0
        starts = np.append(0, np.cumsum(known))
        return starts, indices[places[known]], signs[places[known]].astype(np.float64)

    def _named(self, categories: Sequence[str]) -> list[str]:
        return [f"{self.name}={category}" for category in categories]
