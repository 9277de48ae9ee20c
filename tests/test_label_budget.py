"""Asking for labels within a budget, and the error over all rows estimated from the asked ones."""

from __future__ import annotations

import copy
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from thalweg import LabelBudget, OnlineLDC, OnlineLinearRegression, PredictionIntervals, TableClassifier
from thalweg.errors import InvalidParameter
from thalweg.label_budget.error_estimate import ErrorEstimate
from thalweg.label_budget.sampler import STRATEGIES, LabelSampler, RowWorth
from thalweg.label_budget.worth import CheckedRows
from thalweg.store import dumps, loads
from thalweg.streams import MovingPlane

LEARNER = OnlineLDC(0.05, counts="soft")
CHOOSING = [name for name in STRATEGIES if name != "auto"]


def rows_of(seed, rows=600, turn=300):
    """Two labels whose boundary turns by a quarter at a row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    y = np.where(np.arange(rows) < turn, X[:, 0] + 0.5 * rng.normal(size=rows), X[:, 1]) > 0
    return X, y.astype(int)


def regressor():
    return PredictionIntervals(OnlineLinearRegression(0.05))


def drifting_worth(rng, rows):
    """How uncertain rows are: nothing, jumps, trends, ties."""
    parts = [
        np.zeros(rows),
        rng.normal(size=rows),
        np.arange(rows) * 1.0,
        -np.arange(rows) * 1.0,
        rng.integers(0, 2, rows),
    ]
    return np.where(np.arange(rows) < rows // 2, parts[rng.integers(5)], parts[rng.integers(5)])


@pytest.mark.parametrize(("strategy", "explore"), [*((name, 0.1) for name in CHOOSING), ("uncertain", 0.9)])
@pytest.mark.parametrize("share", [0.03, pytest.param(0.2, marks=pytest.mark.slow)])
def test_the_budget_is_kept_over_all_rows_and_in_any_window(share, strategy, explore):
    rng, rows = np.random.default_rng([int(1000 * share), len(strategy)]), 15_000
    sampler = LabelSampler(share, strategy, explore)
    worth = np.stack([drifting_worth(rng, rows) for _ in range(3)], axis=1)
    asked = np.array([sampler.decide(RowWorth(*row)).ask for row in worth.tolist()])
    assert abs(asked.sum() / (share * rows) - 1) <= 0.01
    windows = np.convolve(asked[500:], np.ones(1000), "valid") / (1000 * share)
    assert 0.8 <= windows.min() <= windows.max() <= 1.2


def test_rows_are_asked_with_the_probability_that_is_given():
    rng = np.random.default_rng(0)
    probabilities = rng.choice([0.02, 0.3, 0.9, 1.0], 40, p=[0.4, 0.3, 0.2, 0.1])
    counts = np.zeros(40)
    for seed in range(1000):
        sampler = LabelSampler(0.1, "random", seed=seed)
        asked = [sampler.decide(share=p).ask for p in probabilities.tolist()]
        counts += asked
        assert abs(np.cumsum(asked) - np.cumsum(probabilities)).max() < 1
    gaps = (counts / 1000 - probabilities) / np.sqrt(np.maximum(probabilities * (1 - probabilities), 1e-9) / 1000)
    assert abs(gaps).max() < 4


@pytest.mark.parametrize("strategy", ["uncertain", "rare"])
def test_every_row_keeps_its_share_of_exploration(strategy):
    rng = np.random.default_rng(1)
    sampler = LabelSampler(0.1, strategy, explore=0.3)
    shares = [sampler.decide(RowWorth(*rng.normal(size=3))).probability for _ in range(2000)]
    assert min(shares) >= 0.03 - 1e-12


@given(seed=st.integers(0, 99), cuts=st.lists(st.integers(0, 600), max_size=4), strategy=st.sampled_from(STRATEGIES))
@examples(3)
def test_chunks_saved_models_and_single_rows_ask_for_the_same_rows(seed, cuts, strategy):
    X, y = rows_of(seed)
    make = lambda: LabelBudget(LEARNER, 0.2, strategy=strategy, positive=1, seed=seed)  # noqa: E731
    whole = make()
    expected = whole.predict_then_learn(X, y)
    chunked, asked = make(), []
    for begin, end in pairwise(sorted({0, *cuts, len(y)})):
        asked.append(chunked.predict_then_learn(X[begin:end], y[begin:end]).asked)
        chunked = loads(dumps(chunked))
    assert (np.concatenate(asked) == expected.asked).all()
    single = make()
    for x, label in zip(X, y.tolist(), strict=True):
        row = single.ask_one(x)
        if row.ask:
            single.learn_one(x, label, row)
    assert dumps(single) == dumps(chunked) == dumps(whole) == dumps(copy.deepcopy(whole))


def test_where_positives_are_rare_rows_unlike_the_checked_ones_are_asked_for():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(6000, 3))
    is_odd = rng.random(6000) < 0.01
    X[is_odd, 2] -= 5.0  # away from where positives have been
    y = (X[:, 0] > 2.2).astype(int)
    shares = {}
    for strategy in ("rare", "flagged"):
        model = LabelBudget(LEARNER, 0.03, strategy=strategy, positive=1, explore=0.05).partial_fit(X[:1000], y[:1000])
        shares[strategy] = model.predict_then_learn(X[1000:], y[1000:]).asked[is_odd[1000:]].mean()
    assert shares["flagged"] < 0.1 < 0.3 < shares["rare"]


def test_checked_rows_begin_anew_with_other_features_and_pass_over_what_is_no_number():
    checked = CheckedRows()
    assert checked.distance(np.array([9.0, 9.0])) == 0.0
    for row in np.random.default_rng(0).normal(size=(50, 2)):
        checked.add(row)
    checked.add(np.array([np.nan, 1.0]))
    near, far = (checked.distance(np.array([at, at])) for at in (0.1, 30.0))
    assert 0.0 < near < 0.1 < far < 2.0
    checked.add(np.array([1.0, 2.0, 3.0]))
    assert (checked.rows, checked.distance(np.array([1.0, 2.0, 3.0]))) == (1.0, 0.0)


def test_late_labels_are_those_of_the_rows_that_were_asked_for():
    X, y = rows_of(3)
    rows, delay = np.arange(len(y)), 40
    late = np.concatenate([np.stack([rows[delay:], ~rows[:-delay]], axis=1).ravel(), ~rows[-delay:]])
    model = LabelBudget(LEARNER, 0.2)
    _, asked, probability, _ = model.follow(X, y, np.concatenate([rows[:delay], late]))
    twin, waiting = LabelBudget(LEARNER, 0.2), []
    for row in range(len(y)):
        waiting.append(twin.ask_one(X[row]))
        assert waiting[-1][:2] == (asked[row], probability[row])
        if row >= delay and waiting[row - delay].ask:
            twin.learn_one(X[row - delay], int(y[row - delay]), waiting[row - delay])
    assert asked.sum() == model.asked_ == twin.asked_


def test_labels_that_come_unasked_are_learned_and_count_for_nothing():
    X, y = rows_of(4)
    model = LabelBudget(LEARNER, 0.1).partial_fit(X, y)
    assert dumps(model.learner_) == dumps(copy.deepcopy(LEARNER).partial_fit(X, y))
    assert (model.rows_, model.asked_, model.error_.value) == (0, 0, None)


def test_numbers_are_asked_for_where_their_interval_is_wide():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = X[:, 0] + rng.normal(size=2000) * 0.1
    model = LabelBudget(regressor(), 0.1)
    predictions, asked, *_ = model.predict_then_learn(X, y)
    first = np.flatnonzero(asked)[0] + 1
    error, estimate = np.abs(predictions - y)[first:].mean(), model.error_
    assert asked.sum() == pytest.approx(200, rel=0.01)
    assert estimate.lower < error < estimate.upper
    assert dumps(loads(dumps(model))) == dumps(model)


def test_the_whole_budget_asks_for_every_row_and_learns_as_without_a_budget():
    X, y = rows_of(5)
    model = LabelBudget(LEARNER, 1.0)
    predictions, asked, *_ = model.predict_then_learn(X, y)
    alone = copy.deepcopy(LEARNER)
    assert asked.all()
    assert (predictions == alone.predict_then_learn(X, y)).all()
    assert dumps(model.learner_) == dumps(alone)
    assert model.error_.lower == model.error_.upper == (predictions != y)[1:].mean()


def covered(strategy, seed, rows=800):
    X, y = rows_of(seed, rows, rows // 2)
    model = LabelBudget(LEARNER, 0.1, strategy=strategy, positive=1, seed=seed)
    predictions, asked, *_ = model.predict_then_learn(X, y)
    first = np.flatnonzero(asked)[0] + 1
    error, estimate = (predictions != y)[first:].mean(), model.error_
    return estimate.lower <= error <= estimate.upper, estimate.value - error


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "flagged"])
def test_intervals_cover_the_error_over_all_rows_through_a_change(strategy):
    runs = [covered(strategy, seed) for seed in range(200)]
    assert sum(inside for inside, _ in runs) >= 186
    gaps = np.array([gap for _, gap in runs])
    assert abs(gaps.mean()) < 3 * gaps.std() / np.sqrt(200) + 0.002


def test_an_interval_without_a_mistake_reaches_up_to_what_could_have_been_missed():
    estimate = ErrorEstimate(1.0)
    estimate.add(np.zeros(100), np.full(100, 0.1))
    value, lower, upper = estimate.interval()
    assert (value, lower) == (0.0, 0.0)
    assert 0.02 < upper < 0.06  # three mistakes in a hundred rows would be missed one time in twenty


@pytest.mark.parametrize(
    ("parameters", "named"),
    [({"budget": 0.0}, "budget"), ({"budget": 1.5}, "budget"), ({"strategy": "best"}, "strategy"),
     ({"explore": -0.1}, "explore"), ({"strategy": "rare"}, "positive"), ({"learner": TableClassifier()}, "learner")],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_name(parameters, named):
    X, y = MovingPlane(seed=1).take(10)
    with pytest.raises(InvalidParameter, match=named):
        LabelBudget(**{"learner": LEARNER, **parameters}).predict_then_learn(X, y)
