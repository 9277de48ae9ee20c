"""What options ask, as they are written: references, numbers of alerts, n-grams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thalweg.errors import InvalidParameter
from thalweg.option_fields import UNITS, parse_per
from thalweg.option_names import option

if TYPE_CHECKING:
    from thalweg.tables.plan import Plan


@dataclass(frozen=True)
class AlertsAsked:
    """So many alerts in so many rows, or in a unit of time.

    Examples
    --------
    >>> AlertsAsked.parse("100/10000rows"), AlertsAsked.parse("5/hour").microseconds
    (AlertsAsked(count=100, rows=10000, unit=None), 3600000000)
    """

    count: int
    rows: int | None
    unit: str | None

    @classmethod
    def parse(cls, text: str) -> AlertsAsked:
        asked = parse_per(text)
        if asked is None:
            rule = f"be a number of alerts per {', '.join(UNITS)} or number of rows, such as 100/day or 100/10000rows"
            raise InvalidParameter.of_option("alerts", rule, text)
        return cls(*asked)

    @property
    def microseconds(self) -> int | None:
        """The length of a period, where it is one of time."""
        return None if self.unit is None else UNITS[self.unit]


#: Models that a run can be compared with, and labelled rows of the first fit and between fits.
REFERENCES, REFERENCE_ROWS = ("frozen", "retrained", "prompt"), 2000


def parse_against(text: str) -> tuple[str, ...]:
    """The references that ``--against`` names.

    Examples
    --------
    >>> parse_against("retrained, frozen")
    ('frozen', 'retrained')
    """
    given = [name.strip() for name in text.split(",")]
    if not set(given) <= set(REFERENCES) or len(set(given)) < len(given):
        raise InvalidParameter.of_option("against", f"be {', '.join(REFERENCES)}, or several with commas between", text)
    return tuple(name for name in REFERENCES if name in given)


_NGRAMS = re.compile(r"(\d{1,2})(?:-(\d{1,2}))?")


def parse_ngrams(text: str) -> tuple[int, int]:
    """The shortest and the longest run of words.

    Examples
    --------
    >>> parse_ngrams("1-2"), parse_ngrams("3")
    ((1, 2), (3, 3))
    """
    from thalweg.text.hashing import LONGEST

    match = _NGRAMS.fullmatch(str(text).strip())
    low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
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
