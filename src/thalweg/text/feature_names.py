"""Names for hashed features: which word an index most likely stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from thalweg.kernels import compiled
from thalweg.parameters import Rules, Whole
from thalweg.text.ngrams import NGrams
from thalweg.text.strings import strings_of

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
        found = cls(kept["hash_bits"], kept["limit"])
        for token, count in kept["counts"]:
            found._core.restore(token.encode("utf-8", _ESCAPED), count)
        return found
