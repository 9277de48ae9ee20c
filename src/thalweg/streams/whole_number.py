"""Arguments that count something."""

from __future__ import annotations

import operator
from typing import SupportsIndex, cast

import numpy as np

from thalweg.errors import InvalidParameter


def whole_number(owner: str, name: str, value: object, least: int = 0) -> int:
    """The value as an int, or an error that names its owner.

    Examples
    --------
    >>> whole_number("Table", "n", 1.5)
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidParameter: The 'n' parameter of Table must be a whole number of at least 0, got 1.5.
    """
    rule = f"be a whole number of at least {least}"
    if isinstance(value, (bool, np.bool_)):
        raise InvalidParameter.of(owner, name, rule, value)
    try:
        number = operator.index(cast(SupportsIndex, value))
    except TypeError:
        raise InvalidParameter.of(owner, name, rule, value) from None
    if number < least:
        raise InvalidParameter.of(owner, name, rule, value)
    return number
