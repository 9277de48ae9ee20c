"""Are some models better over many streams? Ranks, Friedman's test, and Nemenyi's critical difference.

J. Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", Journal of Machine Learning Research 7,
2006, 1-30.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.streams.stream import Floats
from thalweg.streams.whole_number import whole_number


class Friedman(NamedTuple):
    """Friedman's test, corrected for ties: mean ranks (1 is best), chi-squared and its p; and, less cautious, F's p.

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
    """Whether the models, columns, differ over the streams, rows; small is good and equals share their ranks.

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
    """How far apart two mean ranks must be to differ, all pairs of models being compared.

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
