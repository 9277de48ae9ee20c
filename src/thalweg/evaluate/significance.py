"""Is the difference real? Intervals and tests over repeated runs, and over one pass."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.streams.stream import Floats


class Interval(NamedTuple):
    """A mean and how far its confidence interval reaches to either side."""

    mean: float
    halfwidth: float

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.halfwidth

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.halfwidth


class PairedT(NamedTuple):
    """Student's paired test: mean difference, t, two-sided p."""

    difference: float
    statistic: float
    p_value: float


class McNemar(NamedTuple):
    """McNemar's exact test: rows on which only the first, only the second erred, two-sided p."""

    only_first: int
    only_second: int
    p_value: float


def mean_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """The mean over runs with Student's confidence interval.

    >>> interval = mean_interval([0.15, 0.16, 0.17])
    >>> round(interval.mean, 3), round(interval.halfwidth, 4)
    (0.16, 0.0248)
    """
    runs = _runs("mean_interval", values)
    if not 0.0 < level < 1.0:
        raise InvalidParameter.of("mean_interval", "level", "lie in (0, 1)", level)
    quantile = float(special.stdtrit(len(runs) - 1, 0.5 + level / 2.0))
    return Interval(float(runs.mean()), quantile * float(runs.std(ddof=1)) / math.sqrt(len(runs)))


def paired_t_test(first: ArrayLike, second: ArrayLike) -> PairedT:
    """Whether two models differ over the same runs.

    Runs without any difference give p = 1; the same difference in all of them gives p = 0.
    """
    one, other = _runs("paired_t_test", first), _runs("paired_t_test", second)
    _require_same_length("paired_t_test", one, other)
    differences = one - other
    mean = float(differences.mean())
    spread = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    if spread == 0.0:
        return PairedT(mean, math.copysign(math.inf, mean) if mean else 0.0, 0.0 if mean else 1.0)
    statistic = mean / spread
    return PairedT(mean, statistic, 2.0 * float(special.stdtr(len(differences) - 1, -abs(statistic))))


def mcnemar(first_mistakes: ArrayLike, second_mistakes: ArrayLike) -> McNemar:
    """Whether two models differ over one pass, from where each of them erred.

    The test takes rows as independent; on a stream, where mistakes cluster, p is too small rather than too
    large.

    >>> mcnemar([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0])
    McNemar(only_first=5, only_second=0, p_value=0.0625)
    """
    one, other = np.asarray(first_mistakes, dtype=bool), np.asarray(second_mistakes, dtype=bool)
    _require_same_length("mcnemar", one, other)
    only_first, only_second = int(np.count_nonzero(one & ~other)), int(np.count_nonzero(other & ~one))
    fewer = min(only_first, only_second)
    p_value = 2.0 * float(special.bdtr(fewer, only_first + only_second, 0.5))
    return McNemar(only_first, only_second, min(1.0, p_value))


def _runs(owner: str, values: ArrayLike) -> Floats:
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim != 1 or len(runs) < 2:
        raise InvalidInput(f"The values given to {owner} must be those of at least 2 runs, got {values!r}.")
    return runs


def _require_same_length(owner: str, one: NDArray[Any], other: NDArray[Any]) -> None:
    if one.ndim != 1 or one.shape != other.shape:
        raise InvalidInput(
            f"The sequences given to {owner} must have the same length, got {one.shape} and {other.shape}."
        )
