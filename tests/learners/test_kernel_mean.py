"""The exact kernel mean machine against slow and obvious twins."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.learners.blobs import blobs
from thalweg import KernelMeanClassifier
from thalweg.errors import InvalidParameter
from thalweg.learners.kernel_mean.densities import (
    leave_one_out_log_means,
    log_class_means,
    squared_distances,
)
from thalweg.learners.kernel_mean.tuning import (
    RHOS,
    SIGMAS,
    best_bias,
    errors_at,
    fewest_errors,
    leave_one_out,
)
from thalweg.store import dumps, loads

WIDTHS = np.array([0.01, 0.02, 0.04, 0.3, 1.0, 8.0, 128.0])


def log_density(x, rows, sigma):
    """One row, in extended precision: the largest term apart, so that nothing underflows."""
    exponents = [
        -np.longdouble(sigma) * sum((np.longdouble(a) - np.longdouble(b)) ** 2 for a, b in zip(x, row, strict=True))
        for row in rows
    ]
    largest = max(exponents)
    return largest + np.log(sum(np.exp(e - largest) for e in exponents)) - np.log(np.longdouble(len(exponents)))


def answer(x, X, y, sigma, rho, bias):
    """Eq. (5) for two classes 0 and 1, by the sign of a difference of logarithms."""
    plus = np.log(np.longdouble(rho)) + log_density(x, X[y == 1], sigma)
    minus = np.log(np.longdouble(1) - rho) + log_density(x, X[y == 0], sigma)
    if bias > 0:
        plus = np.logaddexp(plus, np.log(np.longdouble(bias)))
    if bias < 0:
        minus = np.logaddexp(minus, np.log(np.longdouble(-bias)))
    return plus - minus


def ida(name, split=0):
    folder = os.environ.get("THALWEG_DATA")
    if folder is None or not (path := Path(folder) / "ida" / f"{name}.npz").exists():
        pytest.skip(f"THALWEG_DATA/ida/{name}.npz is not there")
    with np.load(path) as held:
        X, y, train = held["X"].astype(float), (held["y"] > 0).astype(int), held["train"][split].astype(int)
    test = np.setdiff1d(np.arange(len(X)), train)
    return X[train], y[train], X[test], y[test]


# ---------------------------------------------------------------------- the rule


@pytest.mark.parametrize(("dtype", "digits"), [("float64", 1e-9), ("float32", 1e-3)])
@given(
    seed=st.integers(0, 1000),
    sigma=st.sampled_from([0.01, 1.0, 30.0]),
    rho=st.sampled_from([0.02, 0.5, 0.9]),
    bias=st.sampled_from([0.0, 1e-3, -0.2, -1e-200]),
    offset=st.sampled_from([0.0, 1e3]),
)
@examples(25)
def test_scores_are_those_of_the_rule_row_by_row(dtype, digits, seed, sigma, rho, bias, offset):
    X, y = blobs(seed=seed)
    X = X + offset
    model = KernelMeanClassifier(sigma=sigma, rho=rho, bias=bias, dtype=dtype).fit(X[:40], y[:40])
    truth = np.array([answer(x, X[:40], y[:40], sigma, rho, bias) for x in X[40:]], dtype=float)
    scores = model.decision_function(X[40:])
    np.testing.assert_allclose(scores, truth, rtol=digits, atol=digits * (1 + sigma))
    clear = np.abs(truth) > digits * (1 + sigma)
    assert (model.predict(X[40:])[clear] == (truth > 0)[clear]).all()
    np.testing.assert_allclose(model.predict_proba(X[40:])[:, 1], 1 / (1 + np.exp(-scores)), rtol=1e-12)


def test_each_of_many_classes_has_a_weight_and_a_bias():
    X, y = blobs(90, 2, 3)
    weights, biases = (0.2, 0.5, 0.3), (0.0, 0.02, -0.01)
    model = KernelMeanClassifier(sigma=2.0, rho=weights, bias=biases).fit(X, y)
    scores = [
        [w * np.exp(log_density(x, X[y == c], 2.0)) + b for c, (w, b) in enumerate(zip(weights, biases, strict=True))]
        for x in X
    ]
    assert model.predict(X).tolist() == np.argmax(np.array(scores, dtype=float), axis=1).tolist()
    with pytest.raises(InvalidParameter, match="one for each of the 2 classes"):
        KernelMeanClassifier(sigma=2.0, rho=weights).fit(X[y < 2], y[y < 2])
    before = dumps(model)
    with pytest.raises(InvalidParameter, match="one for each of the 4 classes"):
        model.learn_one(X[0], 7)
    assert dumps(model) == before


def test_an_array_of_weights_is_as_good_as_a_list():
    X, y = blobs()
    weights, biases = [2.0, 6.0], [0.0, 0.1]
    for budget in (None, 8):
        given = {"sigma": 1.0, "budget": budget}
        listed = KernelMeanClassifier(rho=weights, bias=biases, **given).fit(X, y)
        array = KernelMeanClassifier(rho=np.array(weights), bias=np.array(biases), **given).fit(X, y)
        np.testing.assert_allclose(array.weights_, [0.25, 0.75])
        assert np.array_equal(array.decision_function(X), listed.decision_function(X))
        assert np.array_equal(loads(dumps(array)).decision_function(X), listed.decision_function(X))


def test_a_number_for_rho_is_the_odds_of_the_last_class():
    X, y = blobs(60, 2, 3)
    model = KernelMeanClassifier(sigma=1.0, rho=0.8, bias=0.0).fit(X, y)
    np.testing.assert_allclose(model.weights_, [1 / 6, 1 / 6, 4 / 6])
    two = KernelMeanClassifier(sigma=1.0, rho=0.8, bias=0.1).fit(X[y < 2], y[y < 2])
    assert (two.rho_, two.bias_) == (pytest.approx(0.8), 0.1)


# ---------------------------------------------------------------------- far rows and underflow


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("distance", [1e2, 1e5, 1e10, 1e30])
def test_rows_far_from_all_data_are_answered_by_the_nearest(dtype, distance):
    X = np.array([[-1.0, 0.3], [-1.2, 0.0], [1.0, 0.1], [1.4, -0.2]])
    model = KernelMeanClassifier(sigma=50.0, rho=0.5, bias=0.0, dtype=dtype).fit(X, [0, 0, 1, 1])
    assert model.predict([[-distance, 0.0], [distance, 0.0]]).tolist() == [0, 1]
    assert np.isfinite(model.decision_function([[distance, distance]])).all()


@pytest.mark.quick(2)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("name", "sigma"), [("thyroid", 128.0), ("image", 64.0)])
def test_rows_whose_kernel_values_all_underflow(name, sigma, dtype):
    X, y, X_test, _ = ida(name)
    D = squared_distances(X_test, X)
    lost = (np.exp(-sigma * D.astype(dtype)) == 0).all(axis=1)
    assert lost.sum() > 2  # else this test shows nothing
    model = KernelMeanClassifier(sigma=sigma, rho=0.4, bias=0.0, dtype=dtype).fit(X, y)
    truth = np.array([answer(x, X, y, sigma, 0.4, 0.0) for x in X_test[lost][:20]], dtype=float)
    clear = np.abs(truth) > (1e-6 if dtype == "float64" else 0.1)
    assert clear.sum() > 2
    assert (model.predict(X_test[lost][:20])[clear] == (truth > 0)[clear]).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("value", [-9999.0, -999999.0, -1e7, 1e8, 1e30])
def test_one_row_far_away_changes_no_answer_wherever_it_comes(dtype, value):
    X = 0.2 * np.random.default_rng(0).normal(size=(400, 2))
    y = (np.hypot(*X.T) > 0.2).astype(int)
    parameters = {"sigma": 200.0, "rho": 0.5, "bias": 0.0, "dtype": dtype}
    alone = KernelMeanClassifier(**parameters).fit(X, y).predict(X)
    for place in (0, 400):
        with_it, labels = np.insert(X, place, value, axis=0), np.insert(y, place, 0)
        whole = KernelMeanClassifier(**parameters).partial_fit(with_it, labels, classes=[0, 1])
        assert (whole.predict(X) == alone).mean() > 0.995  # class 0 has one more row: a row at the boundary may change
        assert whole.predict([[value, value]]) == [0]
        chunks = KernelMeanClassifier(**parameters)
        for start in range(0, 401, 37):
            chunks.partial_fit(with_it[start : start + 37], labels[start : start + 37], classes=[0, 1])
        assert dumps(chunks) == dumps(whole)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("bias", [0.0, -1e-3])
def test_groups_far_from_each_other_are_told_apart_as_finely_as_one(dtype, bias):
    """Wherever the origin lies, one group is far from it, where only differences hold the exponents."""
    near, y = blobs(60, 2)
    groups = [near + far for far in (-1e8, 0.0, 3e8)]
    X, labels = np.concatenate([group[:40] for group in groups]), np.tile(y[:40], 3)
    model = KernelMeanClassifier(sigma=20.0, rho=0.4, bias=bias, dtype=dtype).fit(X, labels)
    for group in groups:
        truth = np.array([answer(x, X, labels, 20.0, 0.4, bias) for x in group[40:]], dtype=float)
        digits = 1e-8 if dtype == "float64" else 1e-2
        np.testing.assert_allclose(model.decision_function(group[40:]), truth, rtol=digits, atol=digits)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_units_change_nothing_to_the_last_bit(dtype):
    X, y = blobs(200, 3)
    scores = KernelMeanClassifier(dtype=dtype).fit(X, y).decision_function(X)
    for unit in 2.0 ** np.array([-160, -63, 63, 83, 160]):
        scaled = KernelMeanClassifier(dtype=dtype).fit(X * unit, y)
        assert np.array_equal(scaled.decision_function(X * unit), scores)


# ---------------------------------------------------------------------- tuning


@pytest.mark.parametrize("classes", [2, 3])
def test_leaving_out_in_closed_form_is_leaving_out(classes):
    X, y = blobs(25, 3, classes)
    y[-1] = classes  # the only row of a further class: without it there is no density
    closed = leave_one_out_log_means(X, y, classes + 1, WIDTHS)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        for c in range(classes + 1):
            rows = X[rest & (y == c)]
            truth = [log_density(X[i], rows, sigma) if len(rows) else -np.inf for sigma in WIDTHS]
            np.testing.assert_allclose(closed[:, i, c], np.array(truth, dtype=float), rtol=1e-10)


def test_blocks_and_threads_change_nothing():
    X, y = blobs(1500, 2)
    whole = log_class_means(squared_distances(X, X), y, 2, WIDTHS)
    parts = [log_class_means(squared_distances(X[i : i + 7], X), y, 2, WIDTHS) for i in range(0, 70, 7)]
    np.testing.assert_allclose(whole[:, :70], np.concatenate(parts, axis=1), rtol=1e-9, atol=1e-12)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 12),
    levels=st.sampled_from([2, 4, 1000]),
    low=st.sampled_from([0, -900]),
)
@examples(150)
def test_the_search_for_b_finds_what_trying_every_threshold_finds(seed, n, levels, low):
    """Few levels make ties; log densities near -900 underflow, and only b = 0 can tell their signs apart."""
    rng = np.random.default_rng(seed)
    log_p = low + np.log((1 + rng.integers(0, levels, (n, 2))) / levels)
    positive = rng.random(n) < 0.5
    for rho in (0.0, 0.3, 1.0):
        scores = rho * np.exp(log_p[:, 1]) - (1 - rho) * np.exp(log_p[:, 0])
        distinct = np.unique(scores.round(12))
        cuts = [distinct[0] - 1, distinct[-1] + 1, 0.0, *((distinct[1:] + distinct[:-1]) / 2)]
        fewest = min(int(errors_at(log_p, positive, np.array([rho]), -cut)[0]) for cut in cuts)
        found = best_bias(log_p, positive, rho)
        assert found.errors == fewest == fewest_errors(log_p, positive, np.array([rho]))[0]
        assert errors_at(log_p, positive, np.array([rho]), found.bias)[0] == found.errors


@pytest.mark.parametrize(("rho", "biased"), [(None, False), (0.5, True)])
def test_tuning_is_the_best_of_the_grid_by_really_leaving_rows_out(rho, biased):
    """Without a weight for it, a wide class around a narrow one needs a bias."""
    X, y = blobs(60, 2, spread=3.0)
    if biased:
        X = np.random.default_rng(0).normal(size=(60, 10)) * (1.0 + y[:, None])
    found = leave_one_out(X, y, 2, rho=rho)
    rhos = RHOS if rho is None else np.array([rho])
    log_p = leave_one_out_log_means(X, y, 2, SIGMAS)
    fewest = min(fewest_errors(each, y == 1, rhos).min() for each in log_p)
    without = min(errors_at(each, y == 1, rhos, 0.0).min() for each in log_p)
    assert biased == (without > fewest + np.sqrt(fewest + 1)) == (found.biases[1] != 0)
    machine = KernelMeanClassifier(sigma=found.sigma, rho=found.weights[1], bias=found.biases[1])
    rest = [np.arange(len(X)) != i for i in range(len(X))]
    left_out = sum(machine.fit(X[keep], y[keep]).predict(X[~keep])[0] != y[~keep][0] for keep in rest)
    assert left_out == (fewest if biased else without)
    tuned = KernelMeanClassifier(rho=rho).fit(X, y)
    found_there = (tuned.sigma_, tuned.rho_, tuned.bias_)
    np.testing.assert_allclose(found_there, (found.sigma, found.weights[1], found.biases[1]), rtol=1e-9)


def test_what_is_given_stays_as_given():
    X, y = blobs(80, 2)
    given = {"sigma": 0.7, "rho": 0.35, "bias": 0.01}
    for free in given:
        fixed = {name: value for name, value in given.items() if name != free}
        model = KernelMeanClassifier(**fixed).fit(X, y)
        for name, value in fixed.items():
            assert getattr(model, f"{name}_") == pytest.approx(value, rel=1e-12)


def test_class_weights_of_many_classes_lower_the_errors():
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], [300, 60, 20])
    X = rng.normal(size=(380, 2)) + np.array([[0, 0], [1.5, 0], [0, 1.5]])[y]
    log_p = leave_one_out_log_means(X, y, 3, np.array([1.0]))[0]
    found = leave_one_out(X, y, 3, sigma=1.0)
    errors = [(np.argmax(log_p + np.log(w), axis=1) != y).sum() for w in (found.weights, np.ones(3), np.bincount(y))]
    assert errors[0] < min(errors[1:])


def test_without_fit_the_machine_tunes_as_rows_double():
    X, y = blobs(100, 2)
    stream = KernelMeanClassifier().partial_fit(X, y)
    fitted = KernelMeanClassifier().fit(X[:64], y[:64])
    assert (stream.sigma_, stream.rho_, stream.bias_) == (fitted.sigma_, fitted.rho_, fitted.bias_)
    fitted.partial_fit(X[64:], y[64:])  # tuned at 64 rows, not again before 128
    np.testing.assert_allclose(fitted.decision_function(X), stream.decision_function(X), rtol=1e-12)


# ---------------------------------------------------------------------- other kernels


@pytest.mark.slow
def test_no_matrix_of_all_pairs_is_ever_held():
    X, y = blobs(6000, 4)
    model = KernelMeanClassifier(sigma=1.0, rho=0.5, bias=0.0).fit(X, y)
    tracemalloc.start()
    model.predict(X)
    predicting = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    leave_one_out_log_means(X, y, 2, np.array([1.0, 2.0]))
    tuning = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert max(predicting, tuning) < 25_000_000  # all pairs would weigh 288,000,000


def test_a_damaged_state_is_refused():
    X, y = blobs()
    model = KernelMeanClassifier().fit(X, y)
    assert dumps(loads(dumps(model))) == dumps(model)
    core = model._core
    for name, value in {
        "counts": core.counts + 1,
        "sigma": np.array([-1.0]),
        "biases": np.array([np.inf, 0.0]),
    }.items():
        with pytest.raises(ValueError, match="not those of a kernel mean machine"):
            core.restore({**core.state(), name: value})


@pytest.mark.parametrize(
    "broken",
    [
        {"kernel": "cubic"},
        {"sigma": 0.0},
        {"rho": 1.5},
        {"rho": (0.5, -0.5)},
        {"bias": float("nan")},
        {"degree": 0},
        {"coef0": -1},
        {"tune": "test"},
        {"rho": np.ones((2, 2))},
        {"rho": np.array(0.5)},
        {"budget": 0},
        {"budget": 10**30},
        {"forgetting": 0.1},
        {"kernel": "linear", "budget": 8},
        {"dtype": "float16"},
        {"progress": 1},
    ],
)
def test_parameters_are_checked(broken):
    with pytest.raises(InvalidParameter, match="KernelMeanClassifier"):
        KernelMeanClassifier(**broken).fit(*blobs())
