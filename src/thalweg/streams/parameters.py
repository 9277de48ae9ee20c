"""Checks of numbers that streams and evaluations take as parameters."""

from __future__ import annotations

import math
import operator
from numbers import Real
from typing import SupportsIndex, cast

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidParameter


def real_number(owner: str, name: str, value: object, *, positive: bool = False) -> float:
    """The value as a float, or an error that names its owner.

    Examples
    --------
    >>> real_number("MovingPlane", "degrees_per_row", -1, positive=True)
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidParameter: The 'degrees_per_row' parameter of MovingPlane must be a positive finite number, \
got -1.
    """
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not math.isfinite(number) or (positive and number <= 0.0):
        raise InvalidParameter.of(owner, name, f"be a {'positive ' if positive else ''}finite number", value)
    return number


def real_matrix(owner: str, name: str, value: object) -> NDArray[np.float64]:
    """The value as a matrix of finite numbers with at least one row and column, or an error."""
    try:
        matrix = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.size == 0 or not np.isfinite(matrix).all():
        raise InvalidParameter.of(owner, name, "be a matrix of finite numbers", value)
    return matrix


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
