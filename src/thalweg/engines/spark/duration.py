"""Spans of time as a user writes them."""

from __future__ import annotations

from datetime import timedelta

from thalweg.errors import InvalidParameter

_UNITS = ("milliseconds", "seconds", "minutes", "hours", "days", "weeks")


def as_span(value: str | timedelta, owner: str, parameter: str) -> timedelta:
    """A span that is not negative: a timedelta, or words such as ``"90 minutes"``.

    Examples
    --------
    >>> as_span("1 hour", "learn_stream", "wait")
    datetime.timedelta(seconds=3600)
    """
    span = value if isinstance(value, timedelta) else _from_words(value)
    if span is None or span < timedelta(0):
        rule = f"be a timedelta or words such as '2 hours', in {', '.join(_UNITS)}"
        raise InvalidParameter.of(owner, parameter, rule, value)
    return span


def _from_words(words: object) -> timedelta | None:
    number, _, unit = str(words).strip().partition(" ")
    unit = unit.strip().removesuffix("s") + "s"
    try:
        return timedelta(**{unit: float(number)}) if unit in _UNITS else None
    except (ValueError, OverflowError):
        return None


def microseconds(span: timedelta) -> int:
    """A span as a whole number."""
    return span // timedelta(microseconds=1)
