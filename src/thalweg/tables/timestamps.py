"""Times as people write them: the forms that are read, which of them a column has, and its cells as times.

A form is one expression of RE2, which Arrow runs over a whole column in linear time; what it finds is put together by
NumPy. Whether the day or the month comes first is settled by the first rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

Times = NDArray[np.datetime64]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?"
)
_NAME = rf"(?P<month>{_NAMED})\.?"
_MONTH, _DAY, _YEAR = r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})", r"(?P<year>\d{4})"
_NTH = rf"{_DAY}(?:st|nd|rd|th)?"
#: A year of four digits, or of two: 1969 to 2068.
_ANY_YEAR = rf"(?:{_YEAR}|'?(?P<yy>\d{{2}}))"
_WEEKDAY = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?"
#: Hours east of Greenwich; those of North America as RFC 5322 has them.
_ZONES = {"": 0, "z": 0, "utc": 0, "gmt": 0, "cet": 1, "cest": 2, "est": -5, "edt": -4, "cst": -6, "cdt": -5} | {
    "mst": -7,
    "mdt": -6,
    "pst": -8,
    "pdt": -7,
}
_ZONE = rf"(?P<zone>(?:utc|gmt)?[+-]\d{{2}}(?::?\d{{2}})?|{'|'.join(filter(None, _ZONES))})(?: \([^()]*\))?"
_SECONDS = r"(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
_HALF_AND_ZONE = rf"(?: ?(?P<half>[ap])\.?m\.?)?(?: ?{_ZONE})?"
_CLOCK = rf"(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}}){_SECONDS}{_HALF_AND_ZONE}"
_CLOCK_OR_HOUR = rf"(?P<hour>\d{{1,2}})(?::(?P<minute>\d{{2}}){_SECONDS})?{_HALF_AND_ZONE}"
#: A longer cell is no time, and a form is tried on all cells where it fits one of so many.
_LONGEST, _SAMPLE = 80, 20
#: Fewer different times say nothing by their order, and a reading is uneven that is so many times less even.
_LEAST_TIMES, _UNEVEN = 4, 5.0


@dataclass(frozen=True)
class Form:
    """A way to write a time: an expression that names its parts, and an example."""

    expression: str
    example: str
    #: The form with day and month exchanged, where both may be meant.
    exchanged: str | None = None
    #: Whether days and months have two digits where years have: else version numbers would be dates.
    padded: bool = False
    #: Whether it names months and no days.
    monthly: bool = False


def _date(date: str, example: str, **more: Any) -> Form:
    """A form of a date that a weekday may stand before or behind, and a time of day behind."""
    whole = rf"(?:{_WEEKDAY},? {{0,2}})?{date}(?:(?:t|,? {{1,3}}(?:at |- )?){_CLOCK_OR_HOUR})?(?:,? ?\(?{_WEEKDAY}\)?)?"
    return Form(whole, example, **more)


#: None is ISO 8601. Of two forms of the same numbers the one that stands first is taken where nothing else decides.
FORMS: Mapping[str | None, Form] = {
    None: _date(rf"{_YEAR}-{_MONTH}-{_DAY}", "2008-05-17 or 2008-05-17T12:30:00"),
    "day.month.year": _date(
        rf"{_DAY}\.{_MONTH}\.{_ANY_YEAR}", "31.01.2024 07:30", exchanged="month.day.year", padded=True
    ),
    "month.day.year": _date(
        rf"{_MONTH}\.{_DAY}\.{_ANY_YEAR}", "01.31.2024 07:30", exchanged="day.month.year", padded=True
    ),
    "year/month/day": _date(rf"{_YEAR}[/.]{_MONTH}[/.]{_DAY}", "2024/01/31 07:30"),
    "month/day/year": _date(rf"{_MONTH}/{_DAY}/{_ANY_YEAR}", "01/31/2024 07:30 AM", exchanged="day/month/year"),
    "day/month/year": _date(rf"{_DAY}/{_MONTH}/{_ANY_YEAR}", "31/01/2024 07:30", exchanged="month/day/year"),
    "month-day-year": _date(
        rf"{_MONTH}-{_DAY}-{_ANY_YEAR}", "01-31-2024 07:30", exchanged="day-month-year", padded=True
    ),
    "day-month-year": _date(
        rf"{_DAY}-{_MONTH}-{_ANY_YEAR}", "31-01-2024 07:30", exchanged="month-day-year", padded=True
    ),
    "day month year": _date(rf"{_NTH}[ ./-]?(?:of )?{_NAME}[ ,./-]{{0,2}}{_ANY_YEAR}", "31 January 2024 07:30"),
    "day/month/year:time": Form(rf"{_DAY}/{_NAME}/{_YEAR}:{_CLOCK}", "31/Jan/2024:07:30:00 +0100"),
    "month day year": _date(rf"{_NAME}[ /-]?{_NTH}(?:,? |[,/-]){_ANY_YEAR}", "Jan 31, 2024 07:30 PM"),
    "year month day": _date(rf"{_YEAR}[ ./-]?{_NAME}[ ./-]?{_DAY}", "2024-Jan-31 07:30"),
    "month day time year": Form(
        rf"(?:{_WEEKDAY},? )?{_NAME} {{1,2}}{_DAY} {_CLOCK} {_YEAR}", "Wed Jan 31 07:30:00 2024"
    ),
    "yearmonthday": Form(
        r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?:[t ]?(?P<hour>\d{2}):?(?P<minute>\d{2})"
        rf"(?::?(?P<second>\d{{2}})(?:\.(?P<fraction>\d{{1,9}}))?)?{_HALF_AND_ZONE})?",
        "20240131T0730",
    ),
    "year-month": Form(rf"{_YEAR}[-/. m](?P<month>\d{{1,2}}|{_NAMED})", "2024-01", monthly=True),
    "month/year": Form(rf"{_MONTH}[/.-]{_YEAR}", "01/2024", monthly=True),
    "month year": Form(
        rf"{_NAME}(?:[ ,./-]{{0,2}}{_YEAR}|(?:[/-]| ?')(?P<yy>\d{{2}}))", "Jan 2024 or Jan-24", monthly=True
    ),
    "year quarter": Form(rf"{_YEAR}[ -]?q(?P<quarter>[1-4])", "2024-Q1", monthly=True),
    "hour:minute": Form(_CLOCK, "07:30"),
}


def examples_in_words() -> str:
    return ", ".join(form.example for form in FORMS.values())


def times_in(cells: pa.ChunkedArray, form: str | None) -> tuple[Times, NDArray[np.bool_]]:
    """Trimmed text as times to the microsecond, in UTC where they have zones; and which cells are no such times.

    Examples
    --------
    >>> import pyarrow as pa
    >>> times_in(pa.chunked_array([["1.2.24", "01.02.24 7:30 PM", "30.2.2024", None]]), "day.month.year")
    (array([                       'NaT', '2024-02-01T19:30:00.000000',
                                  'NaT',                        'NaT'],
          dtype='datetime64[us]'), array([ True, False,  True, False]))
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    chosen = FORMS[form]
    parts = pc.extract_regex(cells, f"(?i)^(?:{chosen.expression})$")
    if isinstance(parts, pa.ChunkedArray):
        parts = parts.combine_chunks()
    texts = {parts.type.field(at).name: parts.field(at) for at in range(parts.type.num_fields)}
    texts = {name: column for name, column in texts.items() if _holds_text(column)}
    values = _values(texts, len(parts))
    date, is_date = _dates(values, texts, padded=chosen.padded)
    of_day, is_clock = _microseconds(values, texts)
    good = np.asarray(parts.is_valid()) & is_date & is_clock
    times = date.astype("datetime64[us]") + of_day.astype("timedelta64[us]")
    times[~good] = np.datetime64("NaT")
    return times, ~good & np.asarray(cells.is_valid())


def time_of(cell: str, form: str | None) -> datetime | None:
    """One cell as `times_in` reads it, without Arrow, which takes long for one; None where that must decide.

    Examples
    --------
    >>> time_of("1.2.2024 7:30 PM", "day.month.year"), time_of("30.2.2024", "day.month.year")
    (datetime.datetime(2024, 2, 1, 19, 30), None)
    """
    match = _pattern(form).fullmatch(cell)
    if match is None:
        return None
    texts = {name: text for name, text in match.groupdict().items() if text}
    year, yy, month, day, hour, minute, second = (texts.get(name, "") for name in _OF_ONE)
    if yy and FORMS[form].padded and len(day) + len(month) != 4:
        return None
    years = int(yy) + (2000 if int(yy) < 69 else 1900) if yy else int(year or 1970)
    months = int(month or 1) if not month or month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
    months = 3 * int(texts["quarter"]) - 2 if "quarter" in texts else months
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    if "half" in texts:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + 12 * (texts["half"].lower() == "p")
    east = _minutes_east(texts["zone"].lower()) if "zone" in texts else 0
    micros = int(texts.get("fraction", "0")[:6].ljust(6, "0"))
    try:
        return datetime(years, months, int(day or 1), hours, minutes, seconds, micros) - timedelta(minutes=east)
    except (ValueError, OverflowError):
        return None


_OF_ONE = ("year", "yy", "month", "day", "hour", "minute", "second")


@lru_cache
def _pattern(form: str | None) -> re.Pattern[str]:
    return re.compile(FORMS[form].expression, re.IGNORECASE | re.ASCII)


#: The parts of a time that are numbers, with what they are where they are not written.
_PARTS = {"year": 1970, "yy": -1, "quarter": 1, "month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0}


def _holds_text(column: pa.Array) -> bool:
    """Whether any cell has a letter: without a call of Arrow's functions, which would take longer than a few rows."""
    return column.get_total_buffer_size() > 0 and bool(column.buffers()[2])


def _values(texts: Mapping[str, Any], rows: int) -> dict[str, NDArray[np.int64]]:
    """The parts as numbers, all of them turned at once; a month by its name, too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    given = [name for name in _PARTS if name in texts]
    parts = {name: np.full(rows, default) for name, default in _PARTS.items()}
    if not given:
        return parts
    cells = pa.concat_arrays([texts[name] for name in given])
    digits = pc.if_else(pc.utf8_is_decimal(cells), cells, "-1")
    numbers = np.asarray(pc.cast(digits, pa.int64())).reshape(len(given), rows)
    for name, values in zip(given, numbers, strict=True):
        parts[name] = np.where(values < 0, _PARTS[name], values)
    if "month" in given and (numbers[given.index("month")] < 0).any():
        named = pc.index_in(pc.utf8_lower(pc.utf8_slice_codeunits(texts["month"], 0, 3)), pa.array(_MONTHS))
        parts["month"] = np.where(named.is_valid(), np.asarray(pc.fill_null(named, 0)) + 1, parts["month"])
    return parts


def _dates(
    values: Mapping[str, NDArray[np.int64]], texts: Mapping[str, Any], *, padded: bool
) -> tuple[Times, NDArray[np.bool_]]:
    import pyarrow.compute as pc

    year, yy, month, day = (values[name] for name in ("year", "yy", "month", "day"))
    good = (month >= 1) & (month <= 12) & (day >= 1)
    if "yy" in texts:
        year = np.where(yy < 0, year, yy + np.where(yy < 69, 2000, 1900))
        if padded:
            digits = pc.add(pc.utf8_length(texts["day"]), pc.utf8_length(texts["month"]))
            good &= (yy < 0) | (np.asarray(digits) == 4)
    if "quarter" in texts:
        month = 3 * values["quarter"] - 2
    first = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    date = first.astype("datetime64[D]") + (day - 1).astype("timedelta64[D]")
    return date, good & (date.astype("datetime64[M]") == first)


def _microseconds(
    values: Mapping[str, NDArray[np.int64]], texts: Mapping[str, Any]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The time of day, less the distance of its zone from UTC."""
    import pyarrow as pa
    import pyarrow.compute as pc

    hour, minute, second = (values[name] for name in ("hour", "minute", "second"))
    good = ((hour < 24) | ((hour == 24) & (minute == 0) & (second == 0))) & (minute < 60) & (second < 60)
    micros = np.zeros(len(hour), dtype=np.int64)
    if "fraction" in texts:
        six = pc.utf8_rpad(pc.utf8_slice_codeunits(texts["fraction"], 0, 6), 6, "0")
        micros = np.asarray(pc.cast(six, pa.int64()))
    if "half" in texts:
        half = pc.utf8_lower(texts["half"])
        has_half = np.asarray(pc.not_equal(half, ""))
        good &= ~has_half | ((hour >= 1) & (hour <= 12))
        hour = np.where(has_half, hour % 12 + 12 * np.asarray(pc.equal(half, "p")), hour)
    if "zone" in texts:
        zones = pc.utf8_lower(texts["zone"]).dictionary_encode()
        east = np.array([_minutes_east(zone) for zone in zones.dictionary.to_pylist()])
        minute = minute - east[np.asarray(zones.indices)]
    return (3600 * hour + 60 * minute + second) * 1_000_000 + micros, good


@lru_cache
def _minutes_east(zone: str) -> int:
    """Minutes that a zone is ahead of UTC."""
    if zone in _ZONES:
        return 60 * _ZONES[zone]
    digits = zone[-6:].lstrip("utcgm").replace(":", "")
    east = 60 * int(digits[1:3]) + int(digits[3:] or 0)
    return -east if digits[0] == "-" else east


@dataclass(frozen=True)
class FoundForm:
    """The form of a column, as its first cells show it."""

    form: str | None
    #: Whether day and month may be exchanged.
    unclear: bool = False
    #: What shows which of them comes first, where both are numbers.
    because: str | None = None
    #: Whether that is the likelier reading only.
    likely: bool = False


def form_of(cells: pa.ChunkedArray) -> FoundForm | None:
    """The form of most of the different cells, which are trimmed text in the order of the rows; None for no times.

    Examples
    --------
    >>> import pyarrow as pa
    >>> for cells in (["01/31/24", "02/01/24"], ["01/02/2024"], ["Sunday, 1 January 2012"], ["red"]):
    ...     print(form_of(pa.chunked_array([cells])))
    FoundForm(form='month/day/year', unclear=False, because='01/31/24 has no other reading', likely=False)
    FoundForm(form='month/day/year', unclear=True, because=None, likely=False)
    FoundForm(form='day month year', unclear=False, because=None, likely=False)
    None
    """
    import pyarrow.compute as pc

    cells = cells.drop_null()
    different = cells.unique()
    possible = pc.and_(pc.less_equal(pc.binary_length(different), _LONGEST), pc.match_substring_regex(different, r"\d"))
    least = len(different) / 2
    if not (pc.sum(possible).as_py() or 0) > least:
        return None
    some = different.filter(possible).take(np.linspace(0, pc.sum(possible).as_py() - 1, _SAMPLE).astype(np.int64))
    counts: dict[str | None, int] = {}
    for name, form in FORMS.items():
        if any(re.fullmatch(form.expression, cell, re.IGNORECASE) for cell in some.to_pylist()):
            fitting = len(different) - int(times_in(different, name)[1].sum())
            counts |= {name: fitting} if fitting > least else {}
    if not counts:
        return None
    best = max(counts, key=counts.__getitem__)  # the first of several
    return _day_or_month_first(cells, different, best) if FORMS[best].exchanged else FoundForm(best)


@lru_cache(maxsize=1024)
def is_time(cell: str) -> bool:
    """Whether a trimmed cell is a time in one of the forms.

    Examples
    --------
    >>> is_time("1949-01"), is_time("31/01/24 7:30 PM"), is_time("A/5")
    (True, True, False)
    """
    import pyarrow as pa

    return form_of(pa.chunked_array([[cell]], pa.string())) is not None


def _day_or_month_first(cells: pa.ChunkedArray, different: pa.Array, form: str | None) -> FoundForm:
    """Which of two readings is right: that of the most cells, or else that of rows in order or at even distances."""
    other = FORMS[form].exchanged
    assert form is not None
    assert other is not None
    readings = {name: times_in(different, name) for name in (form, other)}
    only = readings[other][1] & ~readings[form][1]
    if only.sum() > (readings[form][1] & ~readings[other][1]).sum():
        return FoundForm(form, because=f"{different[int(only.argmax())]} has no other reading")
    if len(np.unique(readings[form][0])) >= _LEAST_TIMES:
        in_order = {name: _is_sorted(times_in(cells, name)[0]) for name in readings}
        one = [name for name, is_sorted in in_order.items() if is_sorted]
        if len(one) == 1:
            return FoundForm(one[0], because="the rows are in time order then", likely=True)
        steps = {name: _unevenness(times) for name, (times, _) in readings.items()}
        if len(one) == 2 and max(steps.values()) > _UNEVEN * min(steps.values()):
            even = min(steps, key=steps.__getitem__)
            return FoundForm(even, because="the times are at even distances then", likely=True)
        days = {name: np.unique(times.astype("datetime64[D]")) for name, (times, _) in readings.items()}
        first = [name for name, dates in days.items() if len(np.unique(dates - dates.astype("datetime64[M]"))) == 1]
        if len(days[form]) > 12 and len(first) == 1:
            return FoundForm(first[0], because="all are the same day of a month then", likely=True)
    return FoundForm(form, unclear="." not in form)


def _is_sorted(times: Times) -> bool:
    known = times[~np.isnat(times)]
    steps = np.diff(known)
    zero = np.timedelta64(0)
    return bool((steps >= zero).all() or (steps <= zero).all())


def _unevenness(times: Times) -> float:
    steps = np.diff(np.unique(times[~np.isnat(times)])).astype(np.float64)
    return float(steps.max() / steps.min())
