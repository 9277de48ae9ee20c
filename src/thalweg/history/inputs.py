"""What features from earlier rows are given of each row, all that a journal need keep of it to have them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thalweg.tables.cells import Words, part_of_words

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Inputs:
    """Rows as a `History` takes them in."""

    #: By row the keys, the bits of the values, and the time.
    numbers: Places
    #: By the place of a value that is a word, the words of the rows: their places among names, -1 for none.
    words: Mapping[int, Words]

    @classmethod
    def checked(cls, numbers: Places, words: Mapping[int, Words], rows: int) -> Inputs:
        """From a file; a `ValueError` where these are not so many rows."""
        own = all(
            len(places) == rows and -1 <= places.min(initial=0) <= places.max(initial=-1) < len(names)
            for places, names in words.values()
        )
        if numbers.dtype != np.int64 or numbers.ndim != 2 or len(numbers) != rows or not own:
            raise ValueError("what features from earlier rows take is not that of its rows")
        return cls(numbers, words)

    def __len__(self) -> int:
        return len(self.numbers)

    def part(self, rows: slice | Places) -> Inputs:
        """Some of the rows."""
        return Inputs(self.numbers[rows], {at: part_of_words(each, rows) for at, each in self.words.items()})

    def without(self, rows: Sequence[int]) -> Inputs:
        """The same with nothing known of some of the rows."""
        numbers, words = self.numbers.copy(), {}
        numbers[list(rows)] = 0
        for at, (places, names) in self.words.items():
            left = places.copy()
            left[list(rows)] = -1
            words[at] = part_of_words((left, names), slice(None))
        return Inputs(numbers, words)
