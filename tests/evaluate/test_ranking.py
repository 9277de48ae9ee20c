"""Friedman's test and Nemenyi's difference against numbers worked out by hand and printed tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate import friedman, nemenyi_difference

#: The 5 % quantiles of Demšar 2006, table 5 (a), for 2 to 10 models.
PRINTED_QUANTILES = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)


def test_friedman_by_hand() -> None:
    # ranks 1 2 3 / 1 2 3 / 1 3 2 / 2 1 3: sums 5, 8, 11
    # chi-squared = 12 / (4 * 3 * 4) * (25 + 64 + 121) - 3 * 4 * 4 = 4.5; F = 3 * 4.5 / (8 - 4.5)
    result = friedman([[0.1, 0.2, 0.3], [0.05, 0.3, 0.4], [0.1, 0.4, 0.2], [0.3, 0.2, 0.5]])
    np.testing.assert_allclose(result.mean_ranks, [1.25, 2.0, 2.75])
    assert result.statistic == pytest.approx(4.5)
    assert result.p_value == pytest.approx(math.exp(-4.5 / 2.0))  # chi-squared with 2 degrees of freedom
    # F with 2 and 6 degrees of freedom: (1 + 2 F / 6) ** -3
    assert result.f_p_value == pytest.approx((1.0 + 2.0 * (3.0 * 4.5 / 3.5) / 6.0) ** -3)


def test_equals_share_their_ranks_as_in_scipy() -> None:
    errors = np.random.default_rng(1).integers(0, 4, (12, 5)) / 10.0
    result, theirs = friedman(errors), friedmanchisquare(*errors.T)
    assert result.mean_ranks.sum() == pytest.approx(15.0)
    assert (result.statistic, result.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_no_difference_and_the_same_order_everywhere() -> None:
    assert friedman(np.full((4, 3), 0.2))[1:] == (0.0, 1.0, 1.0)
    assert friedman(np.tile([0.1, 0.2, 0.3], (6, 1)))[1:] == pytest.approx((12.0, math.exp(-6.0), 0.0))


@pytest.mark.parametrize(("models", "quantile"), list(enumerate(PRINTED_QUANTILES, start=2)))
def test_nemenyi_has_the_printed_quantiles(models: int, quantile: float) -> None:
    assert nemenyi_difference(models, 14) == pytest.approx(
        quantile * math.sqrt(models * (models + 1) / (6.0 * 14)), rel=1e-3
    )


def test_bad_input_is_named() -> None:
    for errors in ([[0.1, 0.2]], [[0.1], [0.2]], [0.1, 0.2], [[0.1, np.nan], [0.1, 0.2]]):
        with pytest.raises(InvalidInput, match="given to friedman"):
            friedman(errors)
    with pytest.raises(InvalidParameter, match="'models' parameter of nemenyi_difference"):
        nemenyi_difference(1, 5)
    with pytest.raises(InvalidParameter, match="'level' parameter of nemenyi_difference"):
        nemenyi_difference(3, 5, level=1.0)
