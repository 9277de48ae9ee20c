"""What NumPy turns into numbers without a word, though it is none: dates, masked cells, records, dicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from thalweg.errors import InvalidInput


def as_they_are(y: Any) -> Any:
    """A list of labels of several types as objects, which NumPy would make all text; numbers, and all else, as it is.

    >>> as_they_are(["a", 1])
    array(['a', 1], dtype=object)
    """
    types = set(map(type, y)) if isinstance(y, list | tuple) else ()
    numbers = all(issubclass(each, int | float | np.number) and each is not bool for each in types)
    return np.fromiter(y, dtype=object, count=len(y)) if len(types) > 1 and not numbers else y


def as_plain(values: Any, name: str) -> Any:
    """These values, lists as an array; `InvalidInput` where they only look like numbers, or ValueError if ragged.

    >>> as_plain([[1, 2], [3, 4]], "X").shape
    (2, 2)
    >>> as_plain(np.array(["2026-01-01"], dtype="M8[D]"), "y")
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidInput: y must hold numbers, got datetime64[D]: make them some, as in (y - y[0]).astype(float)
    """
    if isinstance(values, Mapping):
        raise InvalidInput(f"{name} must be an array or a frame, got a {type(values).__name__}: make a frame of it")
    if np.ma.is_masked(values):
        raise InvalidInput(f"{name} must hold a value in every cell, got a masked array: {name}.filled fills it")
    array = np.asarray(values) if isinstance(values, list | tuple) else values
    kind = getattr(getattr(array, "dtype", None), "kind", "")
    if kind == "V":
        raise InvalidInput(f"{name} must hold a number in each cell, got records of {array.dtype}")
    if kind in ("m", "M"):
        change = f"make them some, as in ({name} - {name}[0]).astype(float)"
        raise InvalidInput(f"{name} must hold numbers, got {array.dtype}: {change}")
    if kind == "O" and isinstance(array, np.ndarray):
        for type_ in set(map(type, array.flat)):
            if issubclass(type_, Mapping) and array.ndim == 1:
                rows = "rows as dicts go one by one, as into learn_one, or all as a frame"
                raise InvalidInput(f"{name} must be an array or a frame, got a sequence of dicts: {rows}")
            if issubclass(type_, np.datetime64 | np.timedelta64):
                raise InvalidInput(f"{name} must hold numbers, got {type_.__name__}")
    return array
