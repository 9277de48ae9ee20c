"""Times as people write them: which of some common forms a column has, and the same in ISO 8601."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?"
_TIME = rf"(?:[ T]({_CLOCK}))?$"
#: How a month is named where a date is not written in numbers.
_MONTH = re.compile(r"(?i)jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec")
#: A longer cell is no date.
_LONGEST_DATE = 64


@dataclass(frozen=True)
class Form:
    """A way to write a time: its pattern, the same in ISO 8601 with a zero too many, and an example."""

    pattern: str
    iso: str
    example: str


FORMS: Mapping[str, Form] = {
    "day.month.year": Form(rf"^(\d{{1,2}})\.(\d{{1,2}})\.(\d{{4}}){_TIME}", r"\3-0\2-0\1 0\4", "31.01.2024 07:30"),
    "year/month/day": Form(rf"^(\d{{4}})/(\d{{1,2}})/(\d{{1,2}}){_TIME}", r"\1-0\2-0\3 0\4", "2024/01/31 07:30"),
    "month/day/year": Form(rf"^(\d{{1,2}})/(\d{{1,2}})/(\d{{4}}){_TIME}", r"\3-0\1-0\2 0\4", "01/31/2024 07:30"),
    "day/month/year": Form(rf"^(\d{{1,2}})/(\d{{1,2}})/(\d{{4}}){_TIME}", r"\3-0\2-0\1 0\4", "31/01/2024 07:30"),
    "hour:minute": Form(rf"^({_CLOCK})$", r"1970-01-01 0\1", "07:30"),
}
ISO_EXAMPLE = "2008-05-17 or 2008-05-17T12:30:00"


def in_iso(column: pa.ChunkedArray, form: str) -> pa.ChunkedArray:
    """Times of a form in ISO 8601; cells of another form stay as they are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> in_iso(pa.chunked_array([["1.2.2024", "31.12.2024 7:30"]]), "day.month.year").to_pylist()
    ['2024-02-01', '2024-12-31 07:30']
    """
    import pyarrow.compute as pc

    chosen = FORMS[form]
    column = pc.replace_substring_regex(column, chosen.pattern, chosen.iso)
    column = pc.replace_substring_regex(column, r"([- ])0(\d\d)", r"\1\2")  # two digits need no further zero
    return pc.replace_substring_regex(column, r" 0$", "")  # no time of day


def form_of(cells: Sequence[str]) -> str | Literal["unclear"] | None:
    """The form of most cells; "unclear" where days and months cannot be distinguished.

    Examples
    --------
    >>> form_of(["01/31/2024", "02/01/2024"]), form_of(["01/02/2024"]), form_of(["07:30"]), form_of(["red"])
    ('month/day/year', 'unclear', 'hour:minute', None)
    """
    for name, form in FORMS.items():
        matches = [match for cell in cells if (match := re.match(form.pattern, cell))]
        if len(matches) <= len(cells) / 2:
            continue
        if name != "month/day/year":
            return name
        first, second = (max(int(match[i]) for match in matches) for i in (1, 2))
        if first <= 12 and second <= 12:
            return "unclear"
        return "day/month/year" if first > 12 else "month/day/year"
    return None


def seems_a_date(cells: Sequence[str]) -> bool:
    """Whether most cells name a month beside a number.

    Examples
    --------
    >>> seems_a_date(["31-Jan-2024", "Feb 1, 2024"]), seems_a_date(["marble"])
    (True, False)
    """
    return sum(_names_a_month(cell) for cell in cells) > len(cells) / 2


def _names_a_month(cell: str) -> bool:
    return len(cell) <= _LONGEST_DATE and bool(_MONTH.search(cell)) and any(sign.isdigit() for sign in cell)
