"""How text is hashed, as the command line writes it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from thalweg.errors import InvalidParameter
from thalweg.option_names import option

if TYPE_CHECKING:
    from thalweg.tables.plan import Plan

_NGRAMS = re.compile(r"(\d{1,2})(?:-(\d{1,2}))?")


def parse_ngrams(text: str) -> tuple[int, int]:
    """The shortest and the longest run of words.

    Examples
    --------
    >>> parse_ngrams("1-2"), parse_ngrams("3")
    ((1, 2), (3, 3))
    """
    from thalweg.text.hashing import LONGEST

    found = _NGRAMS.fullmatch(str(text).strip())
    low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= low <= high <= LONGEST:
        rule = f"be a number of words or a range of them within 1 to {LONGEST}, such as 1-2"
        raise InvalidParameter.of_option("ngrams", rule, text)
    return low, high


def check_hashing(ngrams: str, hash_bits: int) -> None:
    """Refuse what cannot be hashed."""
    from thalweg.tables.columns.head import MOST_HASH_BITS

    parse_ngrams(ngrams)
    if hash_bits > MOST_HASH_BITS:
        raise InvalidParameter.of_option("hash_bits", f"be a whole number of at most {MOST_HASH_BITS}", hash_bits)


def unused_hashing(plan: Plan, *, ngrams: str | None, hash_bits: int | None) -> Iterator[str]:
    """Of options that change nothing, as no column is hashed; None for those that have their defaults."""
    if ngrams is not None and not any(column.kind == "text" for column in plan.columns):
        yield f"{option('ngrams', ngrams)} has no effect: no column is text; {option('text')} names one"
    if hash_bits is not None and not any(column.words is not None for column in plan.columns):
        yield f"{option('hash_bits', hash_bits)} has no effect: no column is hashed into features"
