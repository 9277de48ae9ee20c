"""Intervals and tests against scipy.stats."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate import mcnemar, mean_interval, paired_t_test

SEEDS = st.integers(0, 2**32)


@given(seed=SEEDS, runs=st.integers(2, 200), level=st.floats(0.5, 0.999))
def test_interval_and_paired_test_are_students(seed: int, runs: int, level: float) -> None:
    first, second = np.random.default_rng(seed).normal(size=(2, runs))
    low, high = stats.t.interval(level, runs - 1, loc=first.mean(), scale=stats.sem(first))
    interval = mean_interval(first, level)
    assert (interval.low, interval.high) == (pytest.approx(low), pytest.approx(high))
    expected = stats.ttest_rel(first, second)
    got = paired_t_test(first, second)
    assert got.difference == pytest.approx((first - second).mean())
    assert (got.statistic, got.p_value) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))


@given(seed=SEEDS, rows=st.integers(1, 300), share=st.floats(0.0, 1.0))
def test_mcnemar_is_the_binomial_test_on_discordant_rows(seed: int, rows: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.random(rows) < share, rng.random(rows) < 0.5
    got = mcnemar(first, second)
    assert got.only_first - got.only_second == int(first.sum()) - int(second.sum())
    discordant = got.only_first + got.only_second
    assert discordant == np.count_nonzero(first != second)
    expected = stats.binomtest(got.only_first, discordant).pvalue if discordant else 1.0
    assert got.p_value == pytest.approx(expected)


def test_runs_that_never_or_always_differ_alike() -> None:
    assert paired_t_test([0.25, 0.5], [0.25, 0.5]) == (0.0, 0.0, 1.0)
    assert paired_t_test([0.25, 0.5], [0.5, 0.75]) == (-0.25, -math.inf, 0.0)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least 2 runs"):
        mean_interval([0.5])
    with pytest.raises(InvalidParameter, match="'level' parameter of mean_interval"):
        mean_interval([0.5, 0.6], level=95.0)
    with pytest.raises(InvalidInput, match="same length"):
        paired_t_test([0.1, 0.2], [0.1, 0.2, 0.3])
    with pytest.raises(InvalidInput, match="same length"):
        mcnemar([True], [True, False])
