"""From JSON to types. What a newer service tells beyond them is passed over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from thalweg.errors import ServiceRefused

T = TypeVar("T")


def read(kind: type[T], given: Mapping[str, Any]) -> T:
    """An object of a JSON reply as a dataclass; lists become tuples where the type says so.

    Examples
    --------
    >>> from thalweg.client import Receipt
    >>> read(Receipt, {"model": "rain", "seq": 7, "learned": 1, "unknown": ["a9"], "later": "more"}).unknown
    ('a9',)
    """
    told = {
        field.name: tuple(given[field.name])
        if isinstance(given[field.name], list) and "tuple" in str(field.type)
        else given[field.name]
        for field in fields(kind)  # type: ignore[arg-type]
        if field.name in given
    }
    try:
        return kind(**told)
    except TypeError:
        raise ServiceRefused(f"what answered is not the service: its {kind.__name__} lacks a part", 200) from None
