"""Texts as sparse rows by feature hashing, without a vocabulary: nothing is learned, and new words need no room.

K. Weinberger and others, "Feature hashing for large scale multitask learning", ICML 2009. Each n-gram is hashed to one
of 2 ** hash_bits features, with a sign by the hash, and counted there.

The rows are those of scikit-learn's HashingVectorizer (`thalweg.text.hashing` says where they differ beyond ASCII).

Cost, on 10 MB of the sources of four Python packages and one arm64 core: 9 ns per byte for the words of an Arrow column
and 10 for those of a list, 13 and 11 times as fast as HashingVectorizer; 16 ns per byte with word pairs, 11 times as
fast; 74 ns per byte for character n-grams of 3 to 5 of a list, 16 times as fast.

Dicts and (name, value) pairs have no transformer of their own. scikit-learn's FeatureHasher takes 215 to 265 ns per
pair on the same core, and its indices and signs are the same. A compiled one would take about 100, of which 82 go into
Python's strings.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin

from thalweg.errors import InvalidInput
from thalweg.frames.reading import frame_of
from thalweg.text.hashing import FeatureNames, NGrams
from thalweg.text.strings import strings_of

#: Features that `words_of` names, at the most.
_MOST_WORDS = 1 << 20


class TextHasher(TransformerMixin, BaseEstimator):
    """Hashed counts of the words, word n-grams or character n-grams of texts.

    Texts are a list, a NumPy array, a column of pandas, polars or Arrow, or a frame of one column. A missing one is an
    empty row. There is no state: `fit` checks the parameters only.

    Parameters
    ----------
    ngrams : pair of int, default (1, 1)
        Shortest and longest n-gram, in words or in characters, up to 16.
    analyzer : {"word", "char_wb"}, default "word"
        "word" takes words: runs of at least two letters, marks, numbers and underscores. "char_wb" takes runs of
        characters inside whatever stands between spaces, with a space at both ends.
    hash_bits : int from 1 to 30, default 20
        Binary logarithm of the number of features. Two tokens that share a feature cannot be distinguished.
    signed : bool, default True
        Whether half of the tokens count negatively, so that collisions cancel on average.
    norm : {"l1", "l2", None}, default "l2"
        Norm that each row is divided by.

    Examples
    --------
    >>> from thalweg import TextHasher
    >>> X = TextHasher(ngrams=(1, 2)).transform(["Prices rise again.", "Prices fall", None])
    >>> X.shape, [X[[row]].nnz for row in range(3)]
    ((3, 1048576), [5, 3, 0])
    """

    def __init__(
        self,
        ngrams: tuple[int, int] = (1, 1),
        *,
        analyzer: Literal["word", "char_wb"] = "word",
        hash_bits: int = 20,
        signed: bool = True,
        norm: Literal["l1", "l2"] | None = "l2",
    ) -> None:
        self.ngrams = ngrams
        self.analyzer = analyzer
        self.hash_bits = hash_bits
        self.signed = signed
        self.norm = norm

    def fit(self, X: Any, y: object = None) -> Self:
        """Check the parameters. Nothing is learned."""
        self._ngrams()
        return self

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Check the parameters. Nothing is learned."""
        return self.fit(X)

    def transform(self, X: Any) -> csr_array:
        """A sparse row of each text, of float64, with sorted indices."""
        ngrams = self._ngrams()
        texts = strings_of(_column(X))
        indptr: NDArray[Any]
        indptr, indices, values = ngrams.rows(texts)
        if indptr[-1] <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)  # scikit-learn's learners take no wider one
        rows = csr_array((values, indices, indptr), shape=(len(texts), ngrams.width))
        rows.has_canonical_format = True
        return rows

    def words_of(self, X: Any) -> FeatureNames:
        """The words or n-grams of these texts by their features; of those that share one, the more frequent."""
        return FeatureNames(self.hash_bits, _MOST_WORDS).add_texts(_column(X), self._ngrams())

    def _ngrams(self) -> NGrams:
        return NGrams(**self.get_params())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _column(X: Any) -> Any:
    """The only column of a frame; anything else as it is."""
    frame = None
    with suppress(InvalidInput):  # Arrow's interfaces do not distinguish an array from a table before it is read
        frame = frame_of(X)
    if frame is None:
        return X
    if len(frame.names) != 1:
        change = f"give one of them, as in X[{frame.names[0]!r}]" if frame.names else "it has none"
        raise InvalidInput(f"X must be one column of texts, got a frame of {len(frame.names)} columns: {change}")
    return frame.column(frame.names[0])
