"""Numbers that stand for a missing value, such as -999: repeated, and far from all other values of their column.

`sentinels_of` finds them among the first rows of a table, `LateSentinels` those that first occur later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

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
#: Later values are looked at where the first rows had so many known ones; so many codes are counted in a column.
_LEAST_KNOWN, _MOST_COUNTED = 100, 8


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


class LateSentinel(NamedTuple):
    """A code that from this place on counts as missing, and the range of the values before it."""

    at: int
    value: float
    low: float
    high: float


class LateSentinels:
    """Looks for codes of missing values after the first rows of a column, value by value.

    A code is far if it lies two ranges of all other values so far beyond them. It counts as missing from its third
    occurrence on, with other values between; before that it is clipped to the nearest of the values so far, for it may
    be a value after all.

    Examples
    --------
    >>> late = LateSentinels.after(np.linspace(-10.0, 30.0, 200))
    >>> late.treat(np.array([7.0, -999.0, 8.0, -999.0, 45.0, -999.0, 9.0, -999.0]))
    (array([  7., -10.,   8., -10.,  45.,  nan,   9.,  nan]), [LateSentinel(at=5, value=-999.0, low=-10.0, high=45.0)])
    """

    def __init__(
        self, low: float, high: float, last: float, counts: Mapping[float, int], codes: tuple[float, ...]
    ) -> None:
        self.low, self.high, self.last = low, high, last
        self.counts = dict(counts)
        self.codes = codes

    @classmethod
    def after(cls, values: NDArray[np.float64]) -> Self | None:
        """For a column of which these are the first values; None where they are too few to say what is far."""
        known = values[~np.isnan(values)]
        if len(known) < _LEAST_KNOWN or len(np.unique(known)) < _MANY_DIFFERENT:
            return None
        return cls(float(known.min()), float(known.max()), float(known[-1]), {}, ())

    def treat(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[LateSentinel]]:
        """The next values of the column, NaN or clipped where one is a code; and the codes found among them."""
        # what is within these bounds is within those of any later value, which only widen
        suspects = np.flatnonzero(self._is_beyond(values))
        if not len(suspects):
            self._widen(values)
            return values, []
        treated, new = values.copy(), list[LateSentinel]()
        begin = 0
        for at in suspects.tolist():
            self._widen(values[begin:at])
            begin = at + 1
            value = float(values[at])
            if value in self.codes:
                treated[at] = np.nan
            elif not (_is_code(value) and self._is_beyond(value)):
                self._widen(values[at : at + 1])
            elif self._has_come_back(value):
                self.codes = (*self.codes, value)
                new.append(LateSentinel(at, value, self.low, self.high))
                treated[at] = np.nan
            else:
                treated[at] = min(max(value, self.low), self.high)
        self._widen(values[begin:])
        return treated, new

    def _is_beyond(self, values: Any) -> Any:
        room = _CODE_RANGES * (self.high - self.low)
        return (values < self.low - room) | (values > self.high + room)

    def is_beyond(self, value: float) -> bool:
        """Whether a value is so far from those so far that it may be a code."""
        return bool(self._is_beyond(value))

    def widen(self, value: float) -> None:
        """Take one more value that is no code."""
        self.low, self.high, self.last = min(self.low, value), max(self.high, value), value

    def _has_come_back(self, value: float) -> bool:
        if value not in self.counts and len(self.counts) == _MOST_COUNTED:
            return False
        self.counts[value] = self.counts.get(value, 0) + (self.last != value)
        self.last = value
        return self.counts[value] >= _LEAST_COUNT

    def _widen(self, values: NDArray[np.float64]) -> None:
        known = values[~np.isnan(values)]
        if len(known):
            self.low, self.high = min(self.low, float(known.min())), max(self.high, float(known.max()))
            self.last = float(known[-1])

    def mark(self) -> Any:
        """A point that `undo` returns to."""
        return self.low, self.high, self.last, dict(self.counts), self.codes

    def undo(self, mark: Any) -> None:
        """Forget what was seen since `mark`."""
        self.low, self.high, self.last, counts, self.codes = mark
        self.counts = dict(counts)

    def state(self) -> dict[str, Any]:
        """What was seen, as JSON holds it."""
        counts = [[value, count] for value, count in self.counts.items()]
        return {"low": self.low, "high": self.high, "last": self.last, "counts": counts, "found": list(self.codes)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        counts = {float(value): int(count) for value, count in state["counts"]}
        low, high, last = (float(state[name]) for name in ("low", "high", "last"))
        return cls(low, high, last, counts, tuple(map(float, state["found"])))
