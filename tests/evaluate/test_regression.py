"""Prequential regression against the plain loop, for our regressors and scikit-learn's."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, SGDRegressor
from sklearn.metrics import mean_absolute_error, mean_pinball_loss, mean_squared_error

from tests.late_calls import ask, tell
from thalweg import AutoRegressor, Committee, OnlineLDC, OnlineLinearRegression, PredictionIntervals, TableRegressor
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate import (
    Cumulative,
    Fading,
    KnownWeights,
    Windowed,
    curve,
    number_baselines,
    prequential,
    regrets,
    summarise,
)
from thalweg.evaluate.number_baselines import NumberBaselines
from thalweg.store import dumps
from thalweg.streams import LinearResponse, Table
from thalweg.tables.late_labels import LateLabels

STREAM = LinearResponse(seed=3, length=700)
SHORT = LinearResponse(seed=3, length=80)


def joined(records, name):
    return np.concatenate([getattr(record, name) for record in records])


@pytest.mark.parametrize(
    ("make", "stream"),
    [(lambda: OnlineLinearRegression(0.1), STREAM), (lambda: SGDRegressor(random_state=0), SHORT)],
    ids=["ours", "scikit-learn's"],
)
def test_records_are_the_loop_whatever_the_chunks(make, stream):
    X, y = stream.take()
    model = make().partial_fit(X[:1], y[:1])
    answers = [0.0]
    for x, target in zip(X[1:], y[1:], strict=True):
        answers.append(model.predict(x[None])[0])
        model.partial_fit(x[None], [target])
    means = [0.0, *(y[:t].mean() for t in range(1, len(y)))]
    medians = [0.0, *(np.median(y[:t]) for t in range(1, len(y)))]
    for chunk in (1, 7, 64, 4096):
        records = list(prequential(make(), stream, chunk=chunk))
        np.testing.assert_array_equal(joined(records, "y"), y)
        np.testing.assert_array_equal(joined(records, "predictions"), answers)
        np.testing.assert_array_equal(joined(records, "last_value"), [0.0, *y[:-1]])
        np.testing.assert_allclose(joined(records, "running_mean"), means, rtol=1e-12)
        np.testing.assert_array_equal(joined(records, "running_median"), medians)
        assert [record.start for record in records] == list(range(0, len(y), chunk))


@given(
    st.lists(st.sampled_from([-2.0, 0.0, 0.0, 1.0, 3.5]) | st.floats(-1e9, 1e9), min_size=1, max_size=60),
    st.integers(0, 9),
    st.lists(st.integers(0, 60), max_size=4),
    st.integers(1, 12),
)
def test_the_running_median_is_that_of_the_last_targets_that_have_come(targets, delay, cuts, window):
    rows, y = len(targets), np.array([targets, np.flip(targets)]).T
    late, baselines, found = LateLabels(delay=delay), NumberBaselines(), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(number_baselines, "MEDIAN_WINDOW", window)
        for part in np.split(np.arange(rows), sorted(min(cut, rows) for cut in cuts)):
            batch = late.plan(y[part], y[part], np.ones(len(part), dtype=np.bool_), part + 1)
            found.append(baselines.follow(batch.order, batch.labels, batch.number)["running_median"][batch.carried :])
            late.keep(batch, {})
    before = [y[max(0, row - delay - window) : max(0, row - delay)] for row in range(rows)]
    expected = [np.median(each, axis=0) if len(each) else np.full(2, np.nan) for each in before]
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-15)


@pytest.mark.parametrize("average", [Cumulative(), Windowed(150), Fading(0.99)])
def test_scores_are_weighted_means_of_the_errors(average):
    records = list(prequential(OnlineLinearRegression(solver="rls"), STREAM, chunk=97))
    y, answers, means = (joined(records, name) for name in ("y", "predictions", "running_mean"))
    weight = {
        Cumulative: np.ones(700),
        Windowed: np.arange(700) >= 550,
        Fading: 0.99 ** np.arange(699, -1, -1.0),
    }[type(average)]
    summary = summarise(records, average)
    squared = mean_squared_error(y, answers, sample_weight=weight)
    assert summary.rows == 700
    assert summary.model.rmse**2 == pytest.approx(squared)
    assert summary.model.mae == pytest.approx(mean_absolute_error(y, answers, sample_weight=weight))
    assert summary.model.r2 == pytest.approx(1 - squared / mean_squared_error(y, means, sample_weight=weight))
    assert summary.running_mean.r2 == 0.0
    assert summary.last_value.r2 < 0.0 < summary.model.r2
    over_time = curve(records, every=200, average=average)
    assert over_time.rows.tolist() == [200, 400, 600, 700]
    assert over_time.model.rmse[-1] == pytest.approx(squared**0.5)
    first = curve(prequential(OnlineLinearRegression(solver="rls"), STREAM, rows=200), average=average)
    assert first.model.r2[-1] == pytest.approx(over_time.model.r2[0])


def test_regret_reads_the_records():
    records = prequential(OnlineLinearRegression(intercept=False), STREAM)
    *_, last = regrets(records, STREAM, KnownWeights(STREAM.weights_at(0)))
    assert 5 < last.regret[-1] < 40


def test_several_targets_are_averaged():
    class Both(LinearResponse):
        def take(self, n=None, start=0):
            X, y = super().take(n, start)
            return X, np.column_stack([y, np.full(len(y), 2.0)])

    summary = summarise(prequential(OnlineLinearRegression(solver="rls"), Both(seed=1), chunk=300))
    alone = summarise(prequential(OnlineLinearRegression(solver="rls"), LinearResponse(seed=1)))
    constant = 4.0 / 1000  # both the model and the mean miss the first row of the second target alone
    assert summary.model.rmse**2 == pytest.approx((alone.model.rmse**2 + constant) / 2)
    assert summary.model.r2 == pytest.approx((alone.model.r2 + 0.0) / 2)


@pytest.mark.parametrize("chunk", [1, 7, 4096])
@pytest.mark.parametrize(
    "make",
    [lambda: AutoRegressor(), lambda: OnlineLinearRegression(0.1), lambda: SGDRegressor(random_state=0)],
    ids=["with intervals", "without", "scikit-learn's"],
)
def test_late_targets_are_learned_when_they_come_and_judge_what_was_predicted(make, chunk):
    (X, y), delay = SHORT.take(), 5
    model, twin = make(), make()
    has_intervals = hasattr(twin, "predict_interval")
    asked = {"coverage": 0.8} if has_intervals else {}
    records = list(prequential(model, SHORT, chunk=chunk, delay=delay, **asked))
    answers, ends, kept = np.zeros(80), np.full((2, 80), np.nan), {}
    for i in range(80):
        this, late = slice(i, i + 1), slice(i - delay, i - delay + 1)
        if i > delay:
            answers[i] = twin.predict(X[this])[0]
            if has_intervals:
                ends[:, this] = twin.predict_interval(X[this], 0.8)
                kept[i] = ask(twin, X[this], 0.8)
        if i >= delay and has_intervals:
            tell(twin, X[late], y[late], kept.get(i - delay), delay, 0.8)
        elif i >= delay:
            twin.partial_fit(X[late], y[late])
    np.testing.assert_array_equal(joined(records, "predictions"), answers)
    np.testing.assert_array_equal(joined(records, "last_value"), [*[0.0] * (delay + 1), *y[: -delay - 1]])
    means = [0.0] * (delay + 1) + [y[: t - delay].mean() for t in range(delay + 1, 80)]
    np.testing.assert_allclose(joined(records, "running_mean"), means, rtol=1e-12)
    medians = [0.0] * (delay + 1) + [np.median(y[: t - delay]) for t in range(delay + 1, 80)]
    np.testing.assert_array_equal(joined(records, "running_median"), medians)
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))
    summary = summarise(records)
    assert (summary.rows, summary.unpredicted) == (80, delay + 1)
    assert summary.model.rmse**2 == pytest.approx(mean_squared_error(y[delay + 1 :], answers[delay + 1 :]))
    assert curve(records, every=5).rows.tolist() == list(range(10, 81, 5))
    if not has_intervals:
        assert records[0].lower is summary.model.coverage is None
        return
    assert dumps(model) == dumps(twin)
    given = ends[0] < ends[1]
    np.testing.assert_array_equal(joined(records, "lower"), np.where(given, ends[0], np.nan))
    (low, high), truth = ends[:, given], y[given]
    names = ("coverage", "mean_width", "pinball_lower", "pinball_upper")
    assert [summary.model[name] for name in names] == pytest.approx(
        [
            np.mean((low <= truth) & (truth <= high)),
            np.mean(high - low),
            mean_pinball_loss(truth, low, alpha=0.1),
            mean_pinball_loss(truth, high, alpha=0.9),
        ]
    )


@pytest.mark.parametrize("delay", [0, 3])
def test_the_model_of_a_run_is_evaluated_on_frames(delay):
    X, y = SHORT.take()
    names = [f"x{place}" for place in range(X.shape[1])]
    rows = pd.DataFrame(X, columns=names)
    known = AutoRegressor().partial_fit(rows[:30], y[:30])
    model, asked = TableRegressor.of_learned(copy.deepcopy(known)), {"delay": delay, "coverage": 0.9}
    records = list(prequential(model, [(rows[30:].assign(note="text"), y[30:])], **asked))
    alone = list(prequential(known, [(rows[30:], y[30:])], **asked))
    np.testing.assert_array_equal(joined(records, "predictions"), joined(alone, "predictions"))
    np.testing.assert_array_equal(joined(records, "upper"), joined(alone, "upper"))
    assert dumps(model.learner_) == dumps(known)


def test_intervals_hold_where_targets_come_late():
    rng = np.random.default_rng(0)
    walk = Table(rng.normal(size=(5000, 2)), np.cumsum(rng.normal(size=5000)))
    records = prequential(AutoRegressor(curved=False), walk, delay=50, coverage=0.9)
    over_time = curve(records, every=5000, average=Cumulative())
    assert abs(over_time.model.coverage[-1] - 0.9) < 0.02  # 0.18 where partial_fit learns the targets
    at_once = prequential(PredictionIntervals(OnlineLinearRegression(), 0.7), STREAM, coverage=0.7)
    assert abs(summarise(at_once).model.coverage - 0.7) < 0.03


def test_what_cannot_be_walked_is_refused():
    with pytest.raises(InvalidParameter, match="have predict_then_learn, or predict and partial_fit"):
        prequential(LinearRegression(), STREAM)
    with pytest.raises(InvalidParameter, match="'classes' parameter of prequential must be left out for a regressor"):
        prequential(OnlineLinearRegression(), [STREAM.take(10)], classes=[0, 1])
    with pytest.raises(InvalidParameter, match="'coverage' parameter of prequential must be None for a classifier"):
        prequential(OnlineLDC(), [STREAM.take(10)], coverage=0.9)
    with pytest.raises(InvalidParameter, match="'coverage' parameter of OnlineLinearRegression must be None"):
        prequential(OnlineLinearRegression(), STREAM, coverage=0.9)
    with pytest.raises(InvalidParameter, match=r"'coverage' parameter of AutoRegressor must be 0\.5"):
        prequential(AutoRegressor(), STREAM, coverage=0.7)
    with pytest.raises(InvalidParameter, match="The 'members' parameter of Committee must"):
        Committee([OnlineLDC(), OnlineLinearRegression()]).partial_fit([[1.0], [2.0]], [0, 1])
    for collect in (summarise, curve):
        with pytest.raises(InvalidInput, match="at least one row"):
            collect([])
