"""Numbers as people write them: which of some common forms a column has, and the same as programs write them.

``$1,234.50``, ``12 %``, ``1 234,5``, ``(1.89)`` for a negative number, ``.5`` and ``1.5e3`` are numbers. A column has
one decimal separator and one unit, by most of its first cells.

Durations are numbers of seconds: as pandas and Python write them, in ISO 8601, or as hours:minutes:seconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from thalweg.tables.rows import as_text

if TYPE_CHECKING:
    import pyarrow as pa

Decimal = Literal[".", ","]
DECIMALS: tuple[Decimal, Decimal] = (".", ",")
#: A number as programs write it. It never backtracks.
NUMBER = re.compile(r"[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?+", re.ASCII)
#: A longer cell is written by no person, and one with more digits is beyond the numbers that can be learned.
_LONGEST_NUMBER, _MOST_DIGITS = 64, 50
#: Signs that may stand before or behind a number, of which a column has one.
_UNITS = frozenset(
    [
        *("%", "‰", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₪", "US$", "R$", "C$", "A$", "HK$", "USD", "EUR", "GBP"),
        *("CHF", "JPY", "CNY", "INR", "AUD", "CAD", "SEK", "NOK", "DKK", "PLN", "BRL", "kr", "zł"),
    ]
)
#: What is left of a number without these is its unit.
_OF_NUMBERS = re.compile(r"[\d.,'’()+\-−\s]+")
_MINUS = "[-−]"
_BLANK = r"[ \x{a0}\x{2007}\x{2009}\x{202f}]"
#: Between the groups of thousands, beside a comma or a point.
_APART = r"'’ \x{a0}\x{2007}\x{2009}\x{202f}"


def number_pattern(decimal: Decimal, unit: str = "") -> str:
    """The numbers that people write with a decimal separator and a unit, as an expression of RE2.

    Groups of thousands, a sign, brackets or a last minus for a negative number, and a power of ten are allowed.
    """
    groups = rf"[1-9]\d{{0,2}}(?:[.{_APART}]\d{{3}}){{1,9}}"
    if decimal == ".":  # in India the groups before the last have two digits
        groups = rf"[1-9]\d{{0,2}}(?:[,{_APART}]\d{{2,3}}){{0,9}}[,{_APART}]\d{{3}}"
    point = "," if decimal == "," else r"\."
    number = rf"(?:(?:\d+|{groups})(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?"
    if unit:
        number = rf"(?:{re.escape(unit)}{_BLANK}?)?[+−-]?{number}(?:{_BLANK}?{re.escape(unit)})?"
    return rf"^(?:[+−-]?{_BLANK}?{number}|{number}-|\({number}\))$"


@cache
def number_expression(decimal: Decimal, unit: str) -> re.Pattern[str]:
    """`number_pattern` for Python, which writes letters otherwise."""
    pattern = re.sub(r"\\x\{([0-9a-f]{1,4})\}", lambda code: chr(int(code[1], 16)), number_pattern(decimal, unit))
    return re.compile(pattern, re.ASCII)


def unit_of(cell: str) -> str | None:
    """The unit of a number, such as $ or %; an empty text for one without, None for what is no number.

    Examples
    --------
    >>> unit_of("$1,234.50"), unit_of("(1.89)"), unit_of("1.5e3"), unit_of("12 kg")
    ('$', '', '', None)
    """
    if len(cell) > _LONGEST_NUMBER or not 0 < sum(map(str.isdigit, cell)) <= _MOST_DIGITS:
        return None
    unit = _OF_NUMBERS.sub("", cell)
    unit = "" if unit in ("e", "E") else unit
    if unit and unit not in _UNITS:
        return None
    fits = any(number_expression(decimal, unit).match(cell) for decimal in DECIMALS)
    return unit if fits else None


@dataclass(frozen=True)
class NumberForm:
    """How the numbers of a column are written."""

    decimal: Decimal = "."
    #: What may stand before or behind them.
    unit: str = ""
    #: A cell that may be another number by the other decimal separator, which only other columns can settle.
    unclear: str | None = None


def number_form(
    cells: Collection[str], decimal: Decimal | None = None, otherwise: Callable[[str], Decimal] = lambda cell: "."
) -> NumberForm | None:
    """The form of most cells; None where they are no numbers, or amounts in several units.

    ``otherwise`` says which decimal separator a cell has, where these cells could have either.

    Examples
    --------
    >>> number_form(["1,5", "2"]).decimal, number_form(["1,250", "2,375,000"]).decimal, number_form(["a,b"])
    (',', '.', None)
    >>> number_form(["1,250", "2,375"], otherwise=lambda cell: ",")
    NumberForm(decimal=',', unit='', unclear='1,250')
    """
    by_cell = {cell: unit for cell in cells if (unit := unit_of(cell)) is not None}
    units = {unit for unit in by_cell.values() if unit}
    if len(units) > 1 or len(by_cell) <= len(cells) / 2:
        return None
    unit = units.pop() if units else ""
    fitting = {
        sign: sum(number_expression(sign, unit).match(cell) is not None for cell in by_cell)
        for sign in ((decimal,) if decimal else DECIMALS)
    }
    best = max(fitting, key=lambda sign: fitting[sign])
    if fitting[best] <= len(cells) / 2:
        return None
    if len(set(fitting.values())) == 2 or decimal is not None:
        return NumberForm(best, unit)
    marked = next((cell for cell in by_cell if "," in cell or "." in cell), None)
    return NumberForm(".", unit) if marked is None else NumberForm(otherwise(marked), unit, unclear=marked)


def plain_numbers(column: pa.ChunkedArray, decimal: Decimal, unit: str = "") -> tuple[pa.ChunkedArray, Any]:
    """Numbers as people write them in the form that programs read, and which cells are none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> plain_numbers(pa.chunked_array([["1,5", "1.234,5", "(1,50)", "1.5", None]]), ",")[0].to_pylist()
    ['1.5', '1234.5', '-1.50', None, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = as_text(column)
    wrong = pc.invert(pc.match_substring_regex(column, number_pattern(decimal, unit)))
    column = pc.if_else(wrong, pa.scalar(None, column.type), column)
    negative = pc.match_substring_regex(column, rf"^\(|^\D*{_MINUS}|-$")
    bare = pc.replace_substring(column, unit, "") if unit else column
    bare = pc.replace_substring_regex(bare, rf"[^\d{decimal}eE+-]", "")
    bare = pc.replace_substring(pc.replace_substring_regex(bare, r"^[+-]+|-$", ""), ",", ".")
    return pc.if_else(negative, pc.binary_join_element_wise("-", bare, ""), bare), pc.fill_null(wrong, False)


def is_number(cell: str, form: NumberForm = NumberForm()) -> bool:  # noqa: B008 - immutable
    """Whether one cell is a number of a form."""
    if number_expression(form.decimal, form.unit).match(cell):
        return True
    try:
        float(cell if form.decimal == "." else "")
    except ValueError:
        return False
    return "_" not in cell


_AMOUNT = r"\d+(?:[.,]\d+)?"
_CLOCK = re.compile(r"(?:([+-]?\d+) days?)?,?(?: ?([+-]?)(\d+):(\d{2}):(\d{2}(?:\.\d+)?))?")
_ISO = re.compile(
    rf"([+-]?)P(?:({_AMOUNT})W)?(?:({_AMOUNT})D)?(?:T(?:({_AMOUNT})H)?(?:({_AMOUNT})M)?(?:({_AMOUNT})S)?)?",
    re.IGNORECASE,
)
_SECONDS = (604_800.0, 86_400.0, 3_600.0, 60.0, 1.0)
#: A longer cell is no duration.
_LONGEST = 64


def seconds_of(cell: str) -> float | None:
    """A duration in seconds; None for what is none.

    Examples
    --------
    >>> seconds_of("1 days 02:03:04"), seconds_of("26:00:00.5"), seconds_of("PT1H30M"), seconds_of("red")
    (93784.0, 93600.5, 5400.0, None)
    >>> seconds_of("-1 days +23:59:59")
    -1.0
    """
    if not cell or len(cell) > _LONGEST:
        return None
    if match := _ISO.fullmatch(cell):
        sign, *amounts = match.groups()
        if all(amount is None for amount in amounts):
            return None
        whole = sum(
            float(amount.replace(",", ".")) * unit for amount, unit in zip(amounts, _SECONDS, strict=True) if amount
        )
        return -whole if sign == "-" else whole
    if match := _CLOCK.fullmatch(cell):
        days, sign, hours, minutes, seconds = match.groups()
        if days is None and hours is None:
            return None
        time = 0.0 if hours is None else int(hours) * 3600.0 + int(minutes) * 60.0 + float(seconds)
        return int(days or 0) * 86_400.0 + (-time if sign == "-" else time)
    return None


def are_durations(cells: Sequence[str]) -> bool:
    """Whether most cells are durations, and not all of them may be times of day.

    Examples
    --------
    >>> are_durations(["02:03:04", "26:00:00"]), are_durations(["02:03:04", "07:30:00"]), are_durations(["PT5M"])
    (True, False, True)
    """
    durations = [cell for cell in cells if seconds_of(cell) is not None]
    clock = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?")
    return len(durations) > len(cells) / 2 and not all(clock.fullmatch(cell) for cell in durations)
