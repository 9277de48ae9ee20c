"""How texts become features: which n-grams, hashed into how many features, scaled how; and names for these features.

Definitions are those of scikit-learn's HashingVectorizer, hash and signs included, with two differences beyond ASCII:

- Words contain combining marks, so that scripts that write vowels as marks, such as Devanagari, keep their words whole.
- Lower case maps one character to one: Σ becomes σ at the end of a word, too, and İ becomes i.

Letters, marks, numbers and lower case are those of Unicode 14, compiled in: neither the locale nor the version of
Python changes a row. Text is not normalised: é as one character and é as two are different. A script that writes no
spaces, such as Chinese, needs character n-grams. Bytes that are not valid UTF-8 separate words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from thalweg.kernels import compiled
from thalweg.parameters import FLAG, OneOf, Rule, Rules, Whole, is_whole
from thalweg.text.strings import Strings, strings_of

CSR = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]
#: The longest n-grams, in words or characters.
LONGEST = 16


def _is_range(value: Any) -> bool:
    if not isinstance(value, tuple | list) or len(value) != 2 or not all(map(is_whole, value)):
        return False
    return bool(1 <= value[0] <= value[1] <= LONGEST)


#: Rules of the parameters, also of the transformer that has them.
RULES = Rules(
    ngrams=Rule(f"be a pair of integers that rise within 1 to {LONGEST}", _is_range),
    analyzer=OneOf("word", "char_wb"),
    hash_bits=Whole(1, 30),
    signed=FLAG,
    norm=OneOf("l1", "l2", None),
)


@dataclass(frozen=True)
class NGrams:
    """N-grams of texts as sparse rows of 2 ** `hash_bits` features; `thalweg.TextHasher` is the transformer.

    Parameters
    ----------
    ngrams : pair of int, default (1, 1)
        Shortest and longest n-gram, in words or in characters.
    analyzer : {"word", "char_wb"}, default "word"
        Whether n-grams are of words, or of characters inside words with a space at both ends.
    hash_bits : int from 1 to 30, default 20
        Binary logarithm of the number of features.
    signed : bool, default True
        Whether half of the tokens count negatively, so that collisions cancel on average.
    norm : {"l1", "l2", None}, default "l2"
        Norm that each row is divided by.

    Examples
    --------
    >>> from thalweg.text.strings import strings_of
    >>> indptr, indices, values = NGrams(hash_bits=8, norm=None).rows(strings_of(["to be or not to be", ""]))
    >>> indptr.tolist(), indices.tolist(), values.tolist()
    ([0, 4, 4], [91, 103, 116, 126], [2.0, 1.0, 1.0, -2.0])
    """

    ngrams: tuple[int, int] = (1, 1)
    analyzer: Literal["word", "char_wb"] = "word"
    hash_bits: int = 20
    signed: bool = True
    norm: Literal["l1", "l2"] | None = "l2"

    def __post_init__(self) -> None:
        RULES.check(self)

    def rows(self, texts: Strings) -> CSR:
        """Counts of the n-grams of each text in the CSR layout: indptr, indices, values."""
        return compiled.hash_texts(
            *texts, self.hash_bits, self.analyzer, *self.ngrams, bool(self.signed), self.norm or ""
        )

    @property
    def width(self) -> int:
        """Number of features."""
        return 1 << self.hash_bits


#: As JSON cannot hold bytes: what is not UTF-8 survives the way through a string.
_ESCAPED = "surrogateescape"


class FeatureNames:
    """The most frequent token of each hashed feature, for at most `limit` features.

    Tokens that share a feature vote for its name: one that has more than half of its occurrences wins. When the memory
    is full, all counts are halved and names without votes make room, so that words of a new topic find a place. Tokens
    of more than 128 bytes get no name.

    Parameters
    ----------
    hash_bits : int from 1 to 30, default 20
        Binary logarithm of the number of features.
    limit : int from 1 to 16,777,216, default 65,536
        Number of features with a name, at the most.

    Examples
    --------
    >>> names = FeatureNames().add_texts(["the cat sat", "the dog"], NGrams())
    >>> index = next(index for index in names if names[index] == "cat")
    >>> FeatureNames.from_json(names.to_json())[index], len(names)
    ('cat', 4)
    """

    _rules = Rules(hash_bits=Whole(1, 30), limit=Whole(1, 1 << 24))

    def __init__(self, hash_bits: int = 20, limit: int = 65_536) -> None:
        self.hash_bits = hash_bits
        self.limit = limit
        self._rules.check(self)
        self._core = compiled.FeatureNames(hash_bits, limit)
        self._names: dict[int, str] | None = None

    def add_texts(self, texts: Any, ngrams: NGrams) -> Self:
        """Count the n-grams of texts."""
        self._names = None
        self._core.add_texts(*strings_of(texts, "texts"), ngrams.analyzer, *ngrams.ngrams)
        return self

    def add_names(self, names: Any) -> Self:
        """Count strings that are hashed as a whole, such as "colour=red"."""
        self._names = None
        self._core.add_strings(*strings_of(names, "names"))
        return self

    def get(self, index: int) -> str | None:
        """The name of a feature; None where it has none."""
        return self._by_index().get(index)

    def __getitem__(self, index: int) -> str:
        return self._by_index()[index]

    def __iter__(self) -> Any:
        return iter(self._by_index())

    def __len__(self) -> int:
        return len(self._by_index())

    def _by_index(self) -> dict[int, str]:
        if self._names is None:
            self._names = {index: token.decode("utf-8", "replace") for index, token, _ in self._core.names()}
        return self._names

    def to_json(self) -> dict[str, Any]:
        """All that was counted, as JSON holds it; counting continues from there."""
        counts = [[token.decode("utf-8", _ESCAPED), count] for _, token, count in self._core.names()]
        return {"hash_bits": self.hash_bits, "limit": self.limit, "counts": counts}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_json, (self.to_json(),)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        """Back from `to_json`."""
        names = cls(kept["hash_bits"], kept["limit"])
        for token, count in kept["counts"]:
            names._core.restore(token.encode("utf-8", _ESCAPED), count)
        return names
