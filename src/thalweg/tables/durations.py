"""Lengths of time as numbers of seconds: as pandas and Python write them, in ISO 8601, or as hours:minutes:seconds."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
    found = [cell for cell in cells if seconds_of(cell) is not None]
    clock = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?")
    return len(found) > len(cells) / 2 and not all(clock.fullmatch(cell) for cell in found)
