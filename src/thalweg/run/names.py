"""The labels of a run by number, in the order of their arrival: numbers are compared and counted faster than words.

0 stands for no label and for no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.labels import Labels

Codes = NDArray[np.int64]


class Names:
    """Words that were met, and their numbers.

    Examples
    --------
    >>> names = Names()
    >>> names.numbers(["up", "down"], np.array([1, 0, -1, 1])).tolist()
    [2, 1, 0, 2]
    >>> names.words(np.array([2, 0])).tolist()
    ['down', '']
    """

    def __init__(self, known: Sequence[str] = ()) -> None:
        self.known = list(known)
        self._settle()

    def __len__(self) -> int:
        return len(self.known)

    def _settle(self) -> None:
        self._words: NDArray[np.str_] = np.array(["", *self.known])
        self._sorted = Labels.of(self._words)
        self._numbers = self._sorted.encode(self._words)[1].argsort()

    def numbers(self, words: Sequence[str], places: NDArray[Any]) -> Codes:
        """The numbers of the words at these places, -1 standing for none; words are in the order of their arrival."""
        new = [word for word in words if word not in self._sorted.codes]
        if new:
            self.known += new
            self._settle()
        return self.of_answers(np.array([*words, ""])).take(places)

    def of_answers(self, answers: NDArray[np.str_]) -> Codes:
        """The numbers of words all of which were met."""
        return self._numbers.take(self._sorted.encode(answers)[1])

    def places_among(self, classes: Sequence[str]) -> Codes:
        """By number, the place of each word among the classes; one past the last for what is none of them."""
        place = {name: at for at, name in enumerate(classes)}
        return np.array([place.get(word, len(classes)) for word in self._words.tolist()], dtype=np.int64)

    def words(self, numbers: Codes) -> NDArray[np.str_]:
        """The words with these numbers; the empty one for 0."""
        return self._words.take(numbers)
