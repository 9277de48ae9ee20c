"""Perceptron, Winnow, Hiraoka and the rates against slow twins that follow the papers' formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.oracles import SlowErrorDriven, SlowHiraoka, SlowPerceptron, SlowWinnow
from thalweg import BalancedWinnow, HiraokaLDA, NoChange, OnlineLDC, Perceptron
from thalweg.rates import ErrorDriven, InverseSqrt

seeds = st.integers(0, 2**32)


def rows_of(seed, rows=80, p=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    y[:2] = [0, 1]  # both classes are awake from the third row on, where the twins take over
    return rng.uniform(-1, 1, (rows, p)) + (y[:, None] - 0.5) * rng.uniform(0, 1), y


@examples(40)
@given(seed=seeds, rate=st.floats(0.05, 2.0), margin=st.sampled_from([0.0, 0.3, 1.0]), intercept=st.booleans())
def test_perceptron_is_the_papers_rule_for_two_classes(seed, rate, margin, intercept):
    X, y = rows_of(seed)
    model = Perceptron(rate, margin=margin, intercept=intercept).partial_fit(X[:2], y[:2])
    state = model._core.state()
    both = np.column_stack([state["bias"].ravel(), state["weights"]])
    assert intercept or not state["bias"].any()
    twin = SlowPerceptron(both[1] - both[0], rate, margin, constant=float(intercept))
    for x, k in zip(X[2:], y[2:].tolist(), strict=True):
        assert model.predict_one(x) == twin.answer(x)
        np.testing.assert_allclose(model.decision_function(x[None])[0], twin.w @ [1.0, *x], rtol=1e-9, atol=1e-12)
        model.learn_one(x, k)
        twin.learn(x, k)


def test_averaged_perceptron_answers_with_the_mean_of_all_weights():
    X, y = rows_of(4, rows=200)
    model, plain = Perceptron(0.5, averaged=True), Perceptron(0.5)
    held = []
    for x, k in zip(X, y.tolist(), strict=True):
        plain.learn_one(x, k)
        model.learn_one(x, k)
        if plain._core.n_classes == 2:
            held.append(plain.decision_function(X[:4]))
    # the first row's weights are of one class only; they count as the second row's did before its update
    average = np.sum([*held], axis=0) / len(held)
    np.testing.assert_allclose(model.decision_function(X[:4]), average, rtol=0.02, atol=0.02)


@examples(40)
@given(seed=seeds, beta=st.floats(0.05, 0.95))
def test_winnow_is_the_papers_rule_for_two_classes(seed, beta):
    X, y = rows_of(seed)
    model = BalancedWinnow(beta).partial_fit(X[:2], y[:2])
    state = model._core.state()
    effective = np.column_stack([state["bias"].ravel(), state["weights"]])
    s = np.column_stack([state["bias_exponent"].ravel(), state["exponents"]])[1]
    np.testing.assert_allclose(effective[0], -effective[1])  # the mirror image
    # w = a e^s - b e^-s; a - b is minus what the first class weighs in a model that has seen no other
    alone = BalancedWinnow(beta).partial_fit(X[:1], y[:1])._core.state()
    a_less_b = -np.concatenate([alone["bias"].ravel(), alone["weights"].ravel()])
    a = (effective[1] - a_less_b * np.exp(-s)) / (np.exp(s) - np.exp(-s))
    twin = SlowWinnow(a * np.exp(s), (a - a_less_b) * np.exp(-s), beta)
    for x, k in zip(X[2:], y[2:].tolist(), strict=True):
        assert model.predict_one(x) == twin.answer(x)
        model.learn_one(x, k)
        twin.learn(x, k)
    np.testing.assert_allclose(
        model.decision_function(X[:5]) / 2,
        np.column_stack([np.ones(5), X[:5]]) @ (twin.positive - twin.negative),
        rtol=1e-6,
    )


@examples(40)
@given(seed=seeds, rate=st.floats(0.01, 0.9), full=st.booleans(), scale=st.sampled_from([1.0, 30.0]))
def test_hiraoka_is_the_ascent_written_with_matrices(seed, rate, full, scale):
    X, y = rows_of(seed, rows=50)
    X = X * scale
    model, twin = HiraokaLDA(rate, gradient="full" if full else "simplified"), SlowHiraoka(3, rate, full)
    for x, k in zip(X, y.tolist(), strict=True):
        model.learn_one(x, k)
        twin.learn(x, k)
    np.testing.assert_allclose(model.axes_, twin.A, rtol=1e-6, atol=1e-9 * np.abs(twin.A).max())
    assert model.predict(X).tolist() == [twin.answer(x) for x in X]


@pytest.mark.parametrize("model", [OnlineLDC, Perceptron, BalancedWinnow, HiraokaLDA])
@examples(20)
@given(seed=seeds, start=st.floats(0.01, 0.99), window=st.integers(1, 15))
def test_error_driven_rate(model, seed, start, window):
    X, y = rows_of(seed, rows=150)
    options = {"warmup": 0} if model is OnlineLDC else {}
    learner = model(ErrorDriven(start, window), **options)
    answers = learner.predict_then_learn(X, y, with_rate=True)
    twin = SlowErrorDriven(start, window, product=model is BalancedWinnow)
    mistakes = (answers.labels != y).tolist()
    mistakes[0] = True  # no class is known yet, whatever the zero of the labels' type is
    rows = slice(1, None) if model is OnlineLDC else slice(None)  # its first row is the start, not a step at the rate
    np.testing.assert_allclose(answers.rate[rows], [twin.next(m) for m in mistakes[rows]], rtol=1e-12)


def test_inverse_sqrt_rate():
    X, y = rows_of(0, rows=50)
    rates = Perceptron(InverseSqrt(2.0)).predict_then_learn(X, y, with_rate=True).rate
    np.testing.assert_allclose(rates, 2.0 / np.sqrt(np.arange(1, 51)))
    rates = OnlineLDC(InverseSqrt(2.0), warmup=1).predict_then_learn(X, y, with_rate=True).rate
    np.testing.assert_allclose(rates[1:], np.minimum(2.0 / np.sqrt(np.arange(1, 50)), 1 - 1e-6))


@pytest.mark.parametrize(
    "model", [BalancedWinnow(1e-6), HiraokaLDA(0.99), HiraokaLDA(0.99, gradient="full"), Perceptron(1e6)]
)
def test_wild_rows_never_give_nan(model):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 4)) * 10.0 ** rng.uniform(-10, 49, (400, 1))
    X = np.clip(X, -1e50, 1e50)
    model.partial_fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert all(np.isfinite(values).all() for values in model._core.state().values())


def test_no_change_is_the_label_before():
    y = np.random.default_rng(0).integers(0, 3, 100)
    assert NoChange().predict_then_learn(np.zeros((100, 1)), y)[1:].tolist() == y[:-1].tolist()
