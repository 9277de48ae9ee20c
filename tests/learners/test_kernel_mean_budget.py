"""The budgeted kernel mean machine: against a slow twin, what merging keeps, the exact machine, streams."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.learners.kernel_mean_oracle import SlowKernelMean
from thalweg import Committee, KernelMeanClassifier, OnlineLDC, kernels
from thalweg.streams import RotatingCheckerboard, load_benchmark

PRICE, OTHERS, PARTNER = 2, 3, 4  # columns of the table beside the centroids


def blobs(rows, features, classes, seed=0, drift=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    X = rng.normal(size=(rows, features)) + 2.0 * y[:, None] * rng.normal(size=features)
    return X + drift * np.arange(rows)[:, None], y


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("features", "classes", "budget", "forgetting", "held", "given"),
    [
        (1, 2, 1, 0.0, 1, {}),
        (2, 2, 12, 0.05, 1, {}),
        (3, 3, 7, 0.3, 1, {}),
        (2, 2, 9, 0.01, 1, {"sigma": 0.7, "rho": 0.3, "bias": 0.02}),
        (5, 3, 20, 0.0, 1, {"sigma": 0.2, "rho": 0.6, "bias": -0.01}),
        (19, 2, 17, 0.02, 1, {"sigma": 0.05}),
        (2, 2, 6, 0.1, 9, {}),  # rows that repeat
        (2, 3, 4, 0.5, 30, {}),  # and classes that are forgotten between
    ],
)
def test_the_kernel_is_its_slow_twin(features, classes, budget, forgetting, held, given):
    X, y = (rows.repeat(held, axis=0)[:180] for rows in blobs(180, features, classes, seed=features, drift=0.01))
    fast = KernelMeanClassifier(budget=budget, forgetting=forgetting, tune=None, **given)
    slow = SlowKernelMean(classes, budget, forgetting, **given)
    fast.partial_fit(X[:1], y[:1], classes=np.arange(classes))
    slow.learn(X[0], y[0])
    for t in range(1, len(X)):
        expected = slow.scores(X[t])
        seen = np.isfinite(expected)
        scores = np.atleast_2d(fast._scores(X[t : t + 1]))[0]
        np.testing.assert_allclose(scores[seen], expected[seen], rtol=1e-10, atol=1e-10)
        assert np.isneginf(scores[~seen]).all()
        fast.learn_one(X[t], y[t].item())
        slow.learn(X[t], y[t])


@pytest.mark.parametrize(
    ("budget", "forgetting", "held", "offset", "size"),
    [
        (8, 0.05, 60, 0.0, 1.0),
        (8, 0.05, 60, 1e6, 1.0),
        (8, 0.0, 60, 0.0, 1e-6),
        (2, 0.2, 60, 1e6, 1.0),
        (32, 0.05, 400, 0.0, 1.0),
    ],
)
def test_a_sensor_that_holds_its_value_does_not_drive_sigma_away(budget, forgetting, held, offset, size):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = offset + size * (rng.normal(size=(200, 2)) + 4.0 * y[:, None])
    model = KernelMeanClassifier(budget=budget, forgetting=forgetting)
    model.partial_fit(X.repeat(held, axis=0), y.repeat(held))
    assert 1e-3 < model.sigma_ * size**2 < 1e3
    fresh = rng.integers(0, 2, 2000)
    rows = offset + size * (rng.normal(size=(2000, 2)) + 4.0 * fresh[:, None])
    both_in_memory = forgetting * held < 5
    if both_in_memory:
        assert (model.predict(rows) != fresh).mean() < 0.03


@pytest.mark.parametrize("budget", [8, 32, 128])
@pytest.mark.parametrize("forgetting", [0.0, 0.05, 0.2])
def test_rows_of_whole_numbers_do_not_drive_sigma_away(budget, forgetting):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 20_000)
    X = np.round(2.0 * rng.normal(size=(20_000, 2)) + 8.0 * y[:, None])
    model = KernelMeanClassifier(budget=budget, forgetting=forgetting)
    answers = model.predict_then_learn(X, y)
    assert 1e-3 < model.sigma_ < 1e3
    assert (answers[100:] != y[100:]).mean() < 0.02


@pytest.mark.parametrize("sigma", [None, 50.0])
def test_a_class_forgotten_altogether_is_not_answered(sigma):
    X, y = blobs(80, 2, 2)
    model = KernelMeanClassifier(budget=8, forgetting=0.2, sigma=sigma).partial_fit(X, y)
    model.partial_fit(X[y == 1].repeat(20, axis=0), np.ones(20 * (y == 1).sum(), dtype=int))
    assert model.weights_[0] < 2.0**-60
    assert (model.predict(X) == 1).all()
    assert (model.predict_proba(X)[:, 0] < 1e-12).all()
    assert np.isfinite(model.decision_function(X)).all()
    model.partial_fit(X, y)
    assert model.weights_[0] > 0.01
    assert (model.predict(X) == 0).any()


def centroids_by_class(model):
    state = model._core.state()
    ends = np.cumsum(state["counts"])
    return [
        (state["centroids"][end - count : end], state["centroid_table"][end - count : end], unit)
        for count, end, unit in zip(state["counts"], ends, state["units"][0], strict=True)
    ]


@examples(40)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(2, 300),
    features=st.sampled_from([1, 2, 3, 8, 21]),
    budget=st.sampled_from([1, 2, 5, 16, 33]),
    forgetting=st.sampled_from([0.0, 0.01, 0.2]),
    grid=st.sampled_from([None, 0.5]),  # rows on a grid: many are the same, and many prices equal
    scale=st.sampled_from([1.0, 1e-6, 1e9]),
)
def test_merging_keeps_weight_mean_and_scatter(seed, rows, features, budget, forgetting, grid, scale):
    X, y = blobs(rows, features, 2, seed)
    X = (X if grid is None else np.round(X / grid) * grid) * scale
    model = KernelMeanClassifier(budget=budget, forgetting=forgetting).partial_fit(X, y)
    age = (1.0 - forgetting) ** np.arange(rows - 1, -1, -1.0)
    for k, (z, table, unit) in zip(model.classes_, centroids_by_class(model), strict=True):
        own, last = y == k, age[y == k][-1]
        weight, scatter = table[:, 0] / unit * last, table[:, 1] / unit * last
        mean = np.average(X[own], axis=0, weights=age[own])
        assert len(z) <= budget
        np.testing.assert_allclose(weight.sum(), age[own].sum(), rtol=1e-10)
        np.testing.assert_allclose(np.average(z, axis=0, weights=weight), mean, rtol=1e-9, atol=1e-9 * scale)
        np.testing.assert_allclose(
            scatter.sum() + weight @ ((z - mean) ** 2).sum(axis=1),
            age[own] @ ((X[own] - mean) ** 2).sum(axis=1),
            rtol=1e-9,
            atol=1e-9 * scale**2,
        )
        check_the_remembered_prices(z, table)


def check_the_remembered_prices(z, table):
    w = table[:, 0]
    prices = w[:, None] * w / (w[:, None] + w) * ((z[:, None] - z) ** 2).sum(axis=2)
    np.fill_diagonal(prices, np.inf)
    slack = 1 + 1e-9
    for i, row in enumerate(table):
        partner = int(row[PARTNER])
        assert row[PRICE] <= prices[i].min() * slack
        if partner >= 0:
            assert row[PRICE] == pytest.approx(prices[i, partner], rel=1e-9)
            assert row[OTHERS] <= np.delete(prices[i], partner).min(initial=np.inf) * slack


def test_with_room_for_all_rows_it_is_the_exact_machine():
    X, y = blobs(150, 3, 3)
    given = {"sigma": 0.8, "rho": (0.2, 0.5, 0.3), "bias": (0.0, 0.01, -0.01)}
    exact = KernelMeanClassifier(**given).fit(X, y)
    budget = KernelMeanClassifier(**given, budget=150).fit(X, y)
    np.testing.assert_allclose(budget.predict_proba(X), exact.predict_proba(X), rtol=1e-9, atol=1e-12)
    far = X * 1e6  # every kernel value underflows
    assert budget.predict(far).tolist() == exact.predict(far).tolist()
    tuned, same = KernelMeanClassifier().fit(X, y), KernelMeanClassifier(budget=150).fit(X, y)
    assert same.sigma_ == tuned.sigma_
    np.testing.assert_allclose(same.weights_, tuned.weights_)
    np.testing.assert_allclose(same.predict_proba(X), tuned.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_a_class_that_comes_after_the_tuning_weighs_as_the_others():
    X, y = blobs(120, 2, 2)
    model = KernelMeanClassifier(budget=10).fit(X, y)
    weights, sigma = model.weights_, model.sigma_
    model.partial_fit(X[:1] + 50.0, [7])
    assert model.predict(X[:1] + 50.0).tolist() == [7]
    np.testing.assert_allclose(model.weights_, np.append(weights, weights.mean()) / (1.0 + weights.mean()))
    assert model.sigma_ == sigma


@pytest.mark.parametrize("forgetting", [1e-4, 0.5, 0.999])
def test_state_stays_finite_and_a_class_long_unseen_is_still_known(forgetting):
    X, y = blobs(30_000, 2, 2)
    model = KernelMeanClassifier(budget=6, forgetting=forgetting)
    model.partial_fit([[9.0, 9.0], [9.5, 9.0]], [2, 2])
    for _ in range(3):
        model.partial_fit(X, y)
    assert all(np.isfinite(values[~np.isinf(values)]).all() for values in model._core.state().values())
    assert np.isfinite(model.decision_function(X[:100])).all()
    assert model.weights_[2] < 1e-3
    model.partial_fit([[9.0, 9.0]], [2])
    assert model.predict([[9.0, 9.0]]).tolist() == [2]


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("counts", 0, 7),
        ("last_rows", 1, 51),
        ("units", (0, 0), 0.5),
        ("class_weights", (0, 1), np.nan),
        ("settled_weights", (0, 0), -2.0),
        ("settled_biases", (0, 0), np.inf),
        ("centroids", (3, 1), np.nan),
        ("centroid_table", (0, 0), 0.0),
        ("centroid_table", (0, PRICE), np.nan),
        ("centroid_table", (0, PARTNER), 6.0),
        ("centroid_table", (0, PARTNER), 0.0),
        ("sigma_losses", (0, 2), -1.0),
        ("given_sigma", 0, np.nan),
    ],
)
def test_a_damaged_state_is_refused_by_name(name, place, value):
    X, y = blobs(50, 2, 2)
    core = KernelMeanClassifier(budget=6).partial_fit(X, y)._core
    state = core.state()
    core.restore(state)
    state[name][place] = value
    with pytest.raises(ValueError, match=name):
        core.restore(state)


def test_levels_agree_on_the_centroids():
    X, y = blobs(1500, 11, 2)
    found = []
    for level in kernels.available_levels():
        core = kernels.load(level).kernel_mean(11, 20, 0.002, 0.0, [], [])
        for code in range(2):
            core.announce(code)
        core.run(X, y)
        found.append(core.state())
    for other in found[1:]:
        np.testing.assert_allclose(other["centroids"], found[0]["centroids"], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(other["sigma_losses"], found[0]["sigma_losses"])


@pytest.mark.slow
@pytest.mark.skipif("THALWEG_DATA" not in os.environ, reason="THALWEG_DATA names no folder of data")
@pytest.mark.parametrize(
    ("name", "budget"), [("banana", 128), ("ringnorm", 128), ("twonorm", 128), ("waveform", 128), ("image", 256)]
)
def test_compressed_within_six_tenths_of_a_point_of_the_exact_machine(name, budget):
    sets = load_benchmark(name)
    exact = KernelMeanClassifier()
    errors = []
    for split in range(10):
        X, y, X_test, y_test = sets.split(split)
        order = np.random.default_rng(split).permutation(len(y))
        exact.fit(X[order], y[order])
        small = KernelMeanClassifier(sigma=exact.sigma_, rho=exact.rho_, bias=exact.bias_, budget=budget)
        small.fit(X[order], y[order])
        errors.append([100 * np.mean(model.predict(X_test) != y_test) for model in (exact, small)])
    whole, compressed = np.mean(errors, axis=0)
    assert compressed - whole < 0.6
    if name == "image":
        assert compressed < 4.8


def test_it_follows_the_checkerboard_that_no_line_can():
    X, y = RotatingCheckerboard(seed=0).take(12_000)
    ours = KernelMeanClassifier(budget=64, forgetting=0.01)
    assert (ours.predict_then_learn(X, y) != y).mean() < 0.11
    assert (OnlineLDC("auto", counts="soft").predict_then_learn(X, y) != y).mean() > 0.35
    memories = Committee([KernelMeanClassifier(budget=64, forgetting=rate) for rate in (0.003, 0.02, 0.1)])
    assert (memories.predict_then_learn(X, y) != y).mean() < 0.11
