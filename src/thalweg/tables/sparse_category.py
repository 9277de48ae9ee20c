"""Columns of very many categories beside sparse columns: each category is a hashed feature of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thalweg.kernels import compiled
from thalweg.tables.kinds import Floats, NamesColumn
from thalweg.tables.sparse_column import HASH_BITS, SparseColumn
from thalweg.text.ngrams import CSR
from thalweg.text.strings import strings_of


class SparseCategoryColumn(SparseColumn, NamesColumn):
    """A category as the hashed name "column=category", with the value 1 or -1 by its hash; an empty cell has none."""

    kind = "sparse category"

    def __init__(self, name: str, *, hash_bits: int = HASH_BITS, na: Sequence[str] = ()) -> None:
        self.hash_bits = hash_bits
        told = f"a feature for each category, hashed into {1 << hash_bits:,} sparse features; an empty cell has none"
        super().__init__(name, told, hash_bits=hash_bits, na=na)

    def encode(self, parsed: tuple[NDArray[np.int64], list[str]], out: Floats, *, learn: bool) -> None:
        """Remember names; there are no dense features to write."""
        if learn:
            places, named = parsed[0].tolist(), self._named(parsed[1])
            self._remember(lambda words: words.add_names([named[place] for place in places if place >= 0]), len(places))

    def compressed(self, parsed: tuple[NDArray[np.int64], list[str]]) -> CSR:
        """One entry for each row whose cell is not empty."""
        places, distinct = parsed
        indices, signs = compiled.hash_strings(*strings_of(self._named(distinct), self.name), self.hash_bits)
        known = places >= 0
        starts = np.append(0, np.cumsum(known))
        return starts, indices[places[known]], signs[places[known]].astype(np.float64)

    def _named(self, categories: Sequence[str]) -> list[str]:
        return [f"{self.name}={category}" for category in categories]
