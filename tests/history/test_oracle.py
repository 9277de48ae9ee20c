"""The oracle on tables small enough to check by hand."""

from __future__ import annotations

from math import inf, nan, sqrt

import numpy as np
import pytest

from tests.history.oracle import oracle
from thalweg.history.language import parse_features

MINUTE = 60.0


def values(text, rows, **given):
    (column,) = oracle(parse_features([text]), rows, **given).values()
    return column


def equal(got, expected):
    assert len(got) == len(expected)
    for value, wanted in zip(got, expected, strict=True):
        assert value == wanted if isinstance(wanted, str) else value == pytest.approx(wanted, nan_ok=True), (
            got,
            expected,
        )


PAYMENTS = [
    {"card": card, "amount": amount, "country": country}
    for card, amount, country in [
        ("a", 10.0, "FR"),
        ("b", 1.0, "DE"),
        ("a", None, "FR"),
        (None, 5.0, "FR"),
        ("a", 30.0, "ES"),
        ("a", 20.0, None),
    ]
]
TIMES = [0.0, 0.0, 10 * MINUTE, None, 20 * MINUTE, 15 * MINUTE]  # the last one goes back: its clock is 20 min


@pytest.mark.parametrize(
    ("call", "expected"),
    {
        "count() by card": [0, 0, 1, nan, 2, 3],
        "count(amount) by card": [0, 0, 1, nan, 1, 2],
        "sum(amount) by card": [0, 0, 10, nan, 10, 40],
        "mean(amount) by card": [nan, nan, 10, nan, 10, 20],
        "std(amount) by card": [nan, nan, 0, nan, 0, 10],
        "min(amount) by card": [nan, nan, 10, nan, 10, 10],
        "max(amount)": [nan, 10, 10, 10, 10, 30],
        "last(amount) by card": [nan, nan, 10, nan, 10, 30],
        "lag(amount, 1) by card": [nan, nan, 10, nan, nan, 30],
        "lag(amount, 2) by card": [nan, nan, nan, nan, 10, nan],
        "lag(country, 1)": [nan, "FR", "DE", "FR", "FR", "ES"],
        "lag(amount, 10min)": [nan, nan, 1, 1, 5, 5],
        "last(country) by card": [nan, nan, "FR", nan, "FR", "ES"],
        "since_last() by card": [nan, nan, 600, nan, 600, 0],
        "distinct(country) by card": [0, 0, 1, nan, 1, 2],
        "count() by card over 10 min": [0, 0, 0, nan, 0, 1],
        "count() by card over 10.1 min": [0, 0, 1, nan, 1, 2],
        "sum(amount) by card over 2 rows": [0, 0, 10, nan, 10, 30],
        "count() by card fading 10 min": [0, 0, 0.5, nan, 0.25 + 0.5, 0.25 + 0.5 + 1],
        "sum(amount) by card fading 1 row": [0, 0, 10, nan, 5, 2.5 + 30],
        "mean(amount) by card fading 1 row": [nan, nan, 10, nan, 10, 32.5 / 1.25],
        "amount / mean(amount)": [nan, 0.1, nan, 10 / 11, 90 / 16, 80 / 46],
        "count() by card, country": [0, 0, 1, nan, 0, nan],
    }.items(),
)
def test_payments(call, expected):
    equal(values(call, PAYMENTS, times=TIMES), expected)


def test_without_times_the_clock_counts_rows():
    equal(values("since_last() by card", PAYMENTS), [nan, nan, 2, nan, 2, 1])


def test_before_the_first_time_rows_are_of_one_moment_long_ago():
    rows, times = [{"x": 1.0}] * 4, [None, nan, 5.0, None]
    equal(values("count() over 10", rows, times=times), [0, 1, 0, 1])
    equal(values("count() fading 10", rows, times=times), [0, 1, 0, 1])
    equal(values("mean(x) fading 10", rows, times=times), [nan, 1, 1, 1])
    equal(values("since_last()", rows, times=times), [nan, 0, nan, 0])


def test_a_label_is_known_from_its_row_on_and_in_the_order_of_its_time():
    rows, labels = [{"k": key} for key in "aabab"], [1, 0, None, 1, 0]
    given = {"target": labels, "label": "1"}
    equal(values("rate(target)", rows, **given), [nan, 1, 1 / 2, 1 / 2, 2 / 3])
    equal(values("rate(target) by k", rows, **given), [nan, 1, nan, 1 / 2, nan])
    equal(values("count(target)", rows, delay=2, **given), [0, 0, 0, 1, 2])
    timed = {"times": [0.0, 1.0, 2.0, 3.0, 4.0], "due": [3.0, 2.0, 0.0, 1.0, None], **given}
    equal(values("lag(target, 1)", rows, **timed), [nan, nan, 0, 1, 1])  # of rows 1, 0 and 3
    equal(values("rate(target = 0)", rows, **timed), [nan, nan, 1, 1 / 2, 1 / 3])
    equal(values("count(target) over 2.5", rows, **timed), [0, 0, 1, 2, 2])  # known at 1, 2 and 3
    equal(values("mean(target) by k over 1 row", rows, **timed), [nan, nan, nan, 1, nan])


def test_a_weighted_spread():
    rows = [{"x": 0.0}, {"x": 4.0}, {"x": 1.0}]
    mean = (0 * 0.5 + 4 * 1) / 1.5
    equal(values("std(x) fading 1 row", rows), [nan, 0, sqrt((0.5 * mean**2 + (4 - mean) ** 2) / 1.5)])
    old = {"times": [0.0, 1.0, 1e6]}
    equal(values("sum(x) fading 1", rows, **old), [0, 0, 0])
    equal(values("mean(x) fading 1", rows, **old), [nan, 0, 4 / 1.5])
    assert not np.isinf(values("count() / sum(x)", [{"x": 0.0}, {"x": inf}])).any()
