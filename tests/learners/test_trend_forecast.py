"""Forecast means against lines fitted afresh, and what happens where a trend means nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.oracles import SlowDiscriminant, SlowTrend
from thalweg import HiraokaLDA, OnlineLDC, Perceptron, TrendForecast
from thalweg.errors import InvalidParameter
from thalweg.evaluate import prequential
from thalweg.kernels import compiled
from thalweg.store import dumps, loads
from thalweg.streams import Table


def wheel(rows, seed=0, degrees=1.0, radius=2.0):
    """Two classes on opposite sides of a turning wheel."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    angle = np.deg2rad(degrees * np.arange(rows))
    centre = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.where(y[:, None] == 0, centre, -centre) + rng.normal(size=(rows, 2)), y


@examples(60)
@given(
    seed=st.integers(0, 2**32),
    rate=st.floats(0.05, 0.95),
    counts=st.sampled_from(["hard", "soft"]),
    window=st.sampled_from([2, 5, 10, 33]),
    horizon=st.sampled_from([1, 4]),
    classes=st.integers(1, 3),
)
def test_forecasts_are_lines_fitted_afresh(seed, rate, counts, window, horizon, classes):
    rng = np.random.default_rng(seed)
    rows = 90
    y = rng.integers(0, classes, rows)
    X = rng.normal(size=(rows, 3)) + np.arange(rows)[:, None] * 0.02 * (y[:, None] - 1) + 2 * y[:, None]
    model = TrendForecast(OnlineLDC(rate, counts=counts), window, horizon=horizon)
    twin = SlowTrend(SlowDiscriminant(rate, counts=counts), window, horizon)
    for t, (x, k) in enumerate(zip(X, y.tolist(), strict=True)):
        model.learn_one(x, k)
        twin.learn(x, k)
        if t % 7 == 0 or t > 80:
            expected = np.array([twin.means()[label] for label in sorted(twin.base.m)], dtype=float)
            scale = np.abs(expected).max()
            # a line through two records close in time magnifies the rounding of both
            np.testing.assert_allclose(model.forecast_.means, expected, atol=1e-6 * scale, rtol=1e-6)


def test_discriminants_are_those_of_the_forecast_means():
    X, y = wheel(120)
    model = TrendForecast(OnlineLDC(0.8), 20)
    twin = SlowTrend(SlowDiscriminant(0.8), 20)
    for x, k in zip(X, y.tolist(), strict=True):
        model.learn_one(x, k)
        twin.learn(x, k)
    expected = twin.discriminants(X).astype(float)
    got = model._scores(X)
    np.testing.assert_allclose(got - got.mean(axis=1, keepdims=True), expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), expected[:, 1] - expected[:, 0], rtol=1e-8, atol=1e-8)


@pytest.mark.slow
def test_ten_million_steps_do_not_wear_the_sums_out():
    rng = np.random.default_rng(0)
    rows = 10_000_000
    model = TrendForecast(OnlineLDC(0.3, counts="soft"), window=40)
    for start in range(0, rows, 500_000):
        t = np.arange(start, start + 500_000)
        y = rng.integers(0, 2, len(t))
        X = np.column_stack([1e-3 * t, -2e-3 * t]) * np.where(y == 0, 1, -1)[:, None] + rng.normal(size=(len(t), 2))
        model.partial_fit(X, y)
    state = model._core.state()
    origin = state["origin"]
    for c in (0, 1):
        times, lags = state[f"trail{c}_times"], state[f"trail{c}_lags"].ravel()
        recent = times > rows - 40
        z, means = (times - lags)[recent] - rows, state[f"trail{c}_means"][recent]
        slope = ((z - z.mean())[:, None] * (means - means.mean(axis=0))).sum(axis=0) / ((z - z.mean()) ** 2).sum()
        direct = means.mean(axis=0) + slope * (1 - z.mean()) + origin.ravel()
        np.testing.assert_allclose(model.forecast_.means[c], direct, rtol=1e-9)
        assert len(times) <= 80


def test_records_are_bounded_by_the_window_and_sums_are_one_set_per_class():
    X, y = wheel(5000)
    held = {}
    for window in (10, 1000):
        state = TrendForecast(OnlineLDC(0.9), window).partial_fit(X, y)._core.state()
        held[window] = sum(len(state[f"trail{c}_times"]) for c in (0, 1))
        assert held[window] <= window + 1
        assert state["trail0_line0_sum_y"].shape == (1, 2)
    assert held[1000] > 900


def test_it_follows_a_wheel_that_its_base_cannot():
    X, y = wheel(3000)
    base = (OnlineLDC(0.9).predict_then_learn(X, y) != y).mean()
    ahead = (TrendForecast(OnlineLDC(0.9), 20).predict_then_learn(X, y) != y).mean()
    auto = (TrendForecast(OnlineLDC(0.9), "auto").predict_then_learn(X, y) != y).mean()
    assert ahead < 0.06 < 0.25 < base
    assert auto < 0.06


def test_the_bank_reports_which_window_carries_the_weight():
    X, y = wheel(3000)
    model = TrendForecast(OnlineLDC(0.9), "auto")
    (record,) = prequential(model, Table(X, y), chunk=5000)
    assert record.weights.shape == (3000, 6)
    np.testing.assert_allclose(record.weights.sum(axis=1), 1.0)
    assert (record.weights[0] == record.weights[0, 0]).all()  # nothing known yet
    assert record.weights[-500:, :3].sum(axis=1).mean() > 0.85  # a turn of 360 rows: only short windows fit
    assert model.window_ in (10, 20, 50)
    np.testing.assert_allclose(model.weights_.sum(), 1.0)
    assert model.windows_ == (10, 20, 50, 100, 200, 400)


@pytest.mark.parametrize("window", [20, "auto"])
def test_a_class_that_stays_away_falls_back_smoothly_to_its_base_mean(window):
    X, y = wheel(600)
    model = TrendForecast(OnlineLDC(0.9), window).partial_fit(X, y)
    own = OnlineLDC(0.9).partial_fit(X, y).means_[1]
    distance = [np.linalg.norm(model.forecast_.means[1] - own)]
    for x in wheel(450, seed=1)[0]:
        model.learn_one(x, 0)
        distance.append(np.linalg.norm(model.forecast_.means[1] - own))
    assert max(distance) < 10  # a line left to itself is beyond 100 by now
    assert distance[-1] == pytest.approx(0.0, abs=1e-9)
    assert np.isinf(model.forecast_.standard_errors[1]).all()
    if window == 20:
        absent = 600 - 1 - int(np.flatnonzero(y == 1)[-1])
        fading = distance[10 - absent : 21 - absent]  # the second half of the window
        assert max(np.abs(np.diff(fading))) < 0.6 * max(fading)
        assert fading[-2] < 0.3 * max(fading)


@pytest.mark.parametrize("window", [10, "auto"])
def test_constant_features_and_hostile_rows_stay_finite(window):
    X, y = wheel(800)
    X = np.column_stack([X, np.full(800, 4.0), X[:, 0]])
    X[300:350] = X[300]  # the stream stands still
    model = TrendForecast(OnlineLDC(0.9), window)
    answers = model.predict_then_learn(X, y, with_proba=True)
    assert np.isfinite(answers.proba).all()
    assert np.isfinite(model.forecast_.means).all()


@pytest.mark.slow
def test_a_constant_feature_does_not_wear_the_bank_out():
    """Without a cap the constant direction overflows after some 140,000 rows, and every answer is chance."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300_000)
    X = np.column_stack([rng.normal(size=(300_000, 2)) + y[:, None], np.full(300_000, 4.0)])
    model = TrendForecast(OnlineLDC(0.9), "auto")
    answers = model.predict_then_learn(X, y)
    assert (answers[-50_000:] != y[-50_000:]).mean() < 0.27
    assert dumps(loads(dumps(model))) == dumps(model)


def test_features_that_stand_still_do_not_drown_the_others():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20_000)
    X = rng.normal(size=(20_000, 3))
    X[:, 0] += 2 * y
    X[5000:15_000, 1:] = 0.25
    wrong = TrendForecast(OnlineLDC(0.05, counts="soft", ridge=1e-3), "auto").predict_then_learn(X, y) != y
    assert max(wrong[start : start + 2500].mean() for start in range(0, 20_000, 2500)) < 0.2


def test_before_enough_rows_the_base_decides():
    X, y = wheel(59)
    model, base = TrendForecast(OnlineLDC(0.9), 50), OnlineLDC(0.9)
    assert model.predict_then_learn(X, y).tolist() == base.predict_then_learn(X, y).tolist()
    np.testing.assert_allclose(model.forecast_.means, base.means_)
    more_X, more_y = wheel(70, seed=5)
    model.partial_fit(more_X, more_y)
    assert np.isfinite(model.forecast_.standard_errors).all()


def test_times_beyond_two_to_the_31():
    """A clock set far ahead forecasts as one set to zero."""
    X, y = wheel(400)
    early, late = (TrendForecast(OnlineLDC(0.5, counts="soft"), 20).partial_fit(X[:200], y[:200]) for _ in range(2))
    state = late._core.state()
    shift = 2**40
    for name, values in state.items():
        if name in ("trend_now", "trend_started", "trend_last_time") or name.endswith(("_times", "_reference_time")):
            state[name] = values + shift
    late._core.restore(state)
    early.partial_fit(X[200:], y[200:])
    late.partial_fit(X[200:], y[200:])
    np.testing.assert_allclose(late.forecast_.means, early.forecast_.means, rtol=1e-9)


def test_standard_errors_are_the_regressions():
    X, y = wheel(300)
    model = TrendForecast(OnlineLDC(0.9), 30).partial_fit(X, y)
    state = model._core.state()
    times, lags, means = (state[f"trail0_{part}"] for part in ("times", "lags", "means"))
    recent = times > 300 - 30
    z, values = (times - lags.ravel())[recent], means[recent]
    design = np.column_stack([np.ones(len(z)), z])
    _, residual, *_ = np.linalg.lstsq(design, values, rcond=None)
    at = np.array([1.0, 301.0])
    expected = np.sqrt(residual / (len(z) - 2) * (at @ np.linalg.inv(design.T @ design) @ at))
    np.testing.assert_allclose(model.forecast_.standard_errors[0], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base": Perceptron()}, "'base' parameter of TrendForecast must be a discriminant with running class means"),
        ({"base": 3}, "'base' parameter of TrendForecast"),
        ({"base": OnlineLDC(), "window": 1}, "'window' parameter of TrendForecast must be an integer >= 2"),
        ({"base": OnlineLDC(), "window": "car"}, "'window' parameter of TrendForecast"),
        ({"base": OnlineLDC(), "horizon": 0}, "'horizon' parameter of TrendForecast must be an integer >= 1"),
        ({"base": HiraokaLDA(), "window": "auto"}, "'base' parameter of TrendForecast must keep a covariance"),
        ({"base": OnlineLDC(rate=2.0)}, "'rate' parameter of OnlineLDC"),
    ],
)
def test_bad_parameters_are_named(options, message):
    X, y = wheel(20)
    with pytest.raises(InvalidParameter, match=message):
        TrendForecast(**options).partial_fit(X, y)


def test_a_forged_trail_is_refused():
    X, y = wheel(100)
    model = TrendForecast(OnlineLDC(0.9), 10).partial_fit(X, y)
    assert dumps(loads(dumps(model))) == dumps(model)
    for name, value in (
        ("trail0_line0_from", [10**9]),
        ("trail0_times", []),
        ("trend_last_time", [0]),
        ("trail1_dropped", [-5]),
    ):
        state = model._core.state()
        state[name] = np.array(value, dtype=np.int64)
        with pytest.raises(ValueError, match="saved state is not valid"):
            compiled.forecaster(OnlineLDC(0.9)._make_core(2), [10], 1, 0.99, 0.5, 0.01).restore(state)
