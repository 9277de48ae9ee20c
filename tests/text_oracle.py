"""Hashing of text, slow and obvious: what the compiled tokenizer has to agree with."""

from __future__ import annotations

import codecs
import unicodedata
from collections import Counter

from sklearn.utils import murmurhash3_32

from tests.kernels.unicode_table import is_word, simple_lower

codecs.register_error("as_space", lambda error: (" ", error.end))


def words(text: str) -> list[str]:
    """Runs of at least two word characters."""
    return [word for word in "".join(c if is_word(ord(c)) else " " for c in text).split(" ") if len(word) > 1]


def tokens(text: str, analyzer: str, low: int, high: int) -> list[str]:
    """The n-grams of a text."""
    text = "".join(chr(simple_lower(ord(c))) for c in text)
    if analyzer == "word":
        found = words(text)
        return [" ".join(found[i : i + n]) for n in range(low, high + 1) for i in range(len(found) - n + 1)]
    grams = []
    for word in text.split():
        padded = f" {word} "
        for n in range(low, max(low, min(high, len(padded))) + 1):
            grams += [padded[i : i + n] for i in range(max(1, len(padded) - n + 1))]
    return grams


def row(data: bytes, bits: int, analyzer: str, low: int, high: int, signed: bool) -> dict[int, int]:
    """The counts of a text's hashed n-grams; bytes that are not UTF-8 are spaces."""
    counts: Counter[int] = Counter()
    for token in tokens(data.decode("utf-8", "as_space"), analyzer, low, high):
        hashed = murmurhash3_32(token.encode(), 0)
        counts[abs(hashed) % 2**bits] += -1 if signed and hashed < 0 else 1
    return dict(counts)


def is_stable(text: str) -> bool:
    """Whether this Python knows each character as the compiled table of Unicode does."""
    if unicodedata.unidata_version == "14.0.0":
        return True
    known = unicodedata.ucd_3_2_0.category
    return all(known(c) == unicodedata.category(c) for c in text)
