"""Is a difference real? Intervals and tests over repeated runs, over one pass, and over many streams (ranks)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.parameters import whole_number
from thalweg.streams.stream import Floats


class Interval(NamedTuple):
    """A mean and how far its confidence interval reaches to either side.

    Examples
    --------
    >>> interval = Interval(mean=0.5, halfwidth=0.25)
    >>> interval.low, interval.high
    (0.25, 0.75)
    """

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
    """Student's paired test: mean difference, t, two-sided p.

    Examples
    --------
    >>> paired_t_test([0.1, 0.2], [0.1, 0.2])
    PairedT(difference=0.0, statistic=0.0, p_value=1.0)
    """

    difference: float
    statistic: float
    p_value: float


class McNemar(NamedTuple):
    """McNemar's exact test: rows on which only the first, only the second erred, two-sided p.

    Examples
    --------
    >>> mcnemar([1, 0, 1], [0, 1, 1])
    McNemar(only_first=1, only_second=1, p_value=1.0)
    """

    only_first: int
    only_second: int
    p_value: float


class Wilcoxon(NamedTuple):
    """Wilcoxon's signed-rank test: windows, the median of their differences, two-sided p.

    Examples
    --------
    >>> wilcoxon([0.5, 0.25], [0.5, 0.25])
    Wilcoxon(windows=2, median=0.0, p_value=1.0)
    """

    windows: int
    median: float
    p_value: float


def mean_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """The mean over runs with Student's confidence interval.

    Examples
    --------
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
    """Student's paired t test of two models over the same runs.

    Runs without any difference give p = 1; the same difference in all of them gives p = 0.

    Examples
    --------
    >>> result = paired_t_test([0.20, 0.22, 0.21, 0.25], [0.18, 0.19, 0.20, 0.21])
    >>> round(result.difference, 3), round(result.p_value, 3)
    (0.025, 0.03)
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
    """McNemar's test of two models over the same rows, from the rows that each predicted wrongly.

    The test takes rows as independent; on a stream, where mistakes cluster, p is too small rather than too large.

    Examples
    --------
    >>> mcnemar([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0])
    McNemar(only_first=5, only_second=0, p_value=0.0625)
    """
    one, other = np.asarray(first_mistakes, dtype=bool), np.asarray(second_mistakes, dtype=bool)
    _require_same_length("mcnemar", one, other)
    return mcnemar_of_counts(int(np.count_nonzero(one & ~other)), int(np.count_nonzero(other & ~one)))


def mcnemar_of_counts(only_first: int, only_second: int) -> McNemar:
    """McNemar's test from the counts of rows on which only one of two models was wrong.

    Examples
    --------
    >>> mcnemar_of_counts(5, 0).p_value
    0.0625
    """
    p_value = 2.0 * float(special.bdtr(min(only_first, only_second), only_first + only_second, 0.5))
    return McNemar(only_first, only_second, min(1.0, p_value))


def wilcoxon(first: ArrayLike, second: ArrayLike) -> Wilcoxon:
    """Wilcoxon's signed-rank test of two models over the same windows; windows without a difference are left out.

    Examples
    --------
    >>> wilcoxon([0.1, 0.2, 0.1, 0.3, 0.2, 0.4], [0.2, 0.4, 0.4, 0.7, 0.7, 1.0]).p_value
    0.03125
    """
    from scipy import stats

    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    _require_same_length("wilcoxon", one, other)
    differences = one - other
    p_value = float(stats.wilcoxon(differences).pvalue) if differences.any() else 1.0
    return Wilcoxon(len(one), float(np.median(differences)) if len(one) else 0.0, p_value)


def holm(p_values: ArrayLike) -> Floats:
    """Holm's correction: p values of several tests that control the chance of any false alarm.

    S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.02]).tolist()
    [0.03, 0.04, 0.04]
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1)), 1.0)
    return adjusted


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


class Friedman(NamedTuple):
    """Friedman's test, corrected for ties: mean ranks (1 is best), chi-squared, its p value, and that of the F test.

    Examples
    --------
    >>> friedman([[0.1, 0.2], [0.1, 0.3], [0.2, 0.4]]).mean_ranks.tolist()
    [1.0, 2.0]
    """

    mean_ranks: Floats
    statistic: float
    p_value: float
    f_p_value: float


def friedman(errors: ArrayLike) -> Friedman:
    """Friedman's test of models (columns) over streams (rows) of scores; lower is better, and ties share a rank.

    Examples
    --------
    >>> result = friedman([[0.1, 0.2, 0.3], [0.2, 0.3, 0.4], [0.1, 0.3, 0.2], [0.1, 0.2, 0.4]])
    >>> result.mean_ranks.tolist(), round(result.statistic, 3), round(result.p_value, 4)
    ([1.0, 2.25, 2.75], 6.5, 0.0388)
    """
    from scipy.stats import chi2, f, rankdata

    table = np.asarray(errors, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) < 2 or not np.isfinite(table).all():
        raise InvalidInput(
            "The errors given to friedman must be finite, of at least 2 streams (rows) and 2 models (columns), "
            f"got an array of shape {table.shape}."
        )
    streams, models = table.shape
    ranks = rankdata(table, axis=1)
    mean_ranks = ranks.mean(axis=0)
    spread = float(((ranks - (models + 1) / 2.0) ** 2).sum()) / (streams * (models - 1))
    if spread == 0.0:  # all models alike on every stream
        return Friedman(mean_ranks, 0.0, 1.0, 1.0)
    statistic = streams * float(((mean_ranks - (models + 1) / 2.0) ** 2).sum()) / spread
    most = streams * (models - 1)
    ratio = math.inf if statistic >= most else (streams - 1) * statistic / (most - statistic)
    return Friedman(
        mean_ranks,
        statistic,
        float(chi2.sf(statistic, models - 1)),
        float(f.sf(ratio, models - 1, (models - 1) * (streams - 1))),
    )


def nemenyi_difference(models: int, streams: int, level: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks, for comparing all pairs of models.

    Examples
    --------
    >>> round(nemenyi_difference(models=4, streams=14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    k = whole_number("nemenyi_difference", "models", models, least=2)
    n = whole_number("nemenyi_difference", "streams", streams, least=1)
    if not 0.0 < level < 1.0:
        raise InvalidParameter.of("nemenyi_difference", "level", "lie in (0, 1)", level)
    quantile = float(studentized_range.ppf(1.0 - level, k, np.inf)) / math.sqrt(2.0)
    return quantile * math.sqrt(k * (k + 1) / (6.0 * n))
