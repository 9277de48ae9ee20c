"""Numbers that stand for a missing value, such as -999: repeated, and far from all other values of their column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: A sentinel occurs so often, and in this share of the values.
_LEAST_COUNT, _LEAST_SHARE = 3, 0.002
#: Without the sentinels a column has so many values, and so many different ones.
_LEAST_OTHERS, _LEAST_DIFFERENT = 10, 3
#: How many times the range of the other values a sentinel lies beyond it: a common code for a missing value in a column
#: of many different values, and otherwise. Few different values may be codes or prices themselves.
_CODE_RANGES, _OTHER_RANGES, _MANY_DIFFERENT = 2.0, 30.0, 10
#: The share of outliers at the far end of the other values that their range leaves out.
_OUTLIERS = 0.005
#: Common codes beside -1, those of nines, and those that are too large for a measurement: limits of integers and the
#: null of well logs.
_CODES = frozenset({-1.0, -999.25, -32768.0, 32767.0, 65535.0, -(2.0**31), 2.0**31 - 1, -(2.0**63)})
_HUGE = 1e20


def sentinels_of(values: NDArray[np.float64]) -> tuple[float, ...]:
    """The numbers among the first values of a column that stand for a missing one.

    Zero is none, and neither is a number that occurs once or lies near the others. Heavy tails repeat no value.

    Examples
    --------
    >>> temperatures = np.linspace(-10.0, 30.0, 200)
    >>> sentinels_of(np.append(temperatures, [-999.0, -999.0, -999.0, 5503.8]))
    (-999.0,)
    >>> sentinels_of(np.append(temperatures, [45.0, 45.0, 45.0]))
    ()
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return ()
    distinct, counts = np.unique(known, return_counts=True)
    often = distinct[counts >= max(_LEAST_COUNT, _LEAST_SHARE * len(known))]
    ends = [end for end in (distinct[0], distinct[-1]) if _comes_back(known, end)]
    suspects = [v for v in often.tolist() if v != 0.0 and (_is_code(v) or v in ends)]
    while suspects:
        others = known[~np.isin(known, suspects)]
        far = [value for value in suspects if _is_far(value, others)]
        if far == suspects:
            break
        suspects = far  # the rest are values like the others
    return tuple(suspects)


def _comes_back(values: NDArray[np.float64], value: float) -> bool:
    """Whether other values stand between: a level that a column moves to, and stays at, is no sentinel."""
    at = np.append(False, values == value)
    return int((at[1:] & ~at[:-1]).sum()) >= _LEAST_COUNT


def _is_far(value: float, others: NDArray[np.float64]) -> bool:
    different = np.unique(others)
    if len(others) < _LEAST_OTHERS or len(different) < _LEAST_DIFFERENT:
        return False
    many = len(different) >= _MANY_DIFFERENT
    if not (many and _is_code(value)):
        least_gap = _OTHER_RANGES * (different[-1] - different[0])
        return (many or _is_code(value)) and bool(np.abs(different - value).min() >= least_gap)
    if value < np.median(others):  # turn it round, so that it lies above
        value, others, different = -value, -others, -different[::-1]
    low, high = np.quantile(others, [_OUTLIERS, 1.0 - _OUTLIERS])
    inner = different[different < value][-1]
    return bool(value > high and value - inner >= _CODE_RANGES * (inner - low))


def _is_code(value: float) -> bool:
    """Whether people write this number for a missing value.

    Examples
    --------
    >>> [_is_code(value) for value in (-999.0, 9999.9, -1.0, 1e30, 9.0, 9.99, 990.0)]
    [True, True, True, True, False, False, False]
    """
    whole, _, decimals = f"{abs(value):.10g}".partition(".")
    nines = set(whole + decimals) == {"9"} and len(whole) > (2 if decimals else 1)
    return nines or value in _CODES or abs(value) >= _HUGE
