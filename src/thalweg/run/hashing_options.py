"""How text is hashed, as the command line writes it."""

from __future__ import annotations

import re

from thalweg.errors import InvalidParameter

_NGRAMS = re.compile(r"(\d{1,2})(?:-(\d{1,2}))?")


def parse_ngrams(text: str) -> tuple[int, int]:
    """The shortest and the longest run of words.

    Examples
    --------
    >>> parse_ngrams("1-2"), parse_ngrams("3")
    ((1, 2), (3, 3))
    """
    from thalweg.text.ngrams import LONGEST

    found = _NGRAMS.fullmatch(str(text).strip())
    low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= low <= high <= LONGEST:
        rule = f"be a number of words or a range of them within 1 to {LONGEST}, such as 1-2"
        raise InvalidParameter.of_option("ngrams", rule, text)
    return low, high


def check_hashing(ngrams: str, hash_bits: int) -> None:
    """Refuse what cannot be hashed."""
    from thalweg.tables.sparse_column import MOST_HASH_BITS

    parse_ngrams(ngrams)
    if hash_bits > MOST_HASH_BITS:
        raise InvalidParameter.of_option("hash_bits", f"be a whole number of at most {MOST_HASH_BITS}", hash_bits)
