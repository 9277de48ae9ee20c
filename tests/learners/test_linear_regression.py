"""Gradient regression against the printed step, recursive least squares against the batch, and what neither may do."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from tests.examples import examples
from tests.oracles_regression import SlowGradient, penalty_held, slow_least_squares
from tests.regressor_laws import REGRESSORS
from thalweg import OnlineLinearRegression, kernels
from thalweg.errors import Diverging, InvalidParameter, ModelFileError
from thalweg.rates import ErrorDriven, InverseSqrt
from thalweg.store import dumps, loads
from thalweg.streams import LinearResponse

seeds = st.integers(0, 2**32)


def stream_of(seed, rows, p, scale=1.0, offset=0.0):
    """Correlated features, each with a scale and an offset of its own; a linear target with noise."""
    rng = np.random.default_rng(seed)
    mixing = np.eye(p) + 0.3 * rng.uniform(-1, 1, (p, p)) / np.sqrt(p)
    scales = scale ** rng.uniform(-1, 1, p)
    X = (rng.normal(size=(rows, p)) @ mixing + offset) * scales
    return X, X @ (rng.normal(size=p) / scales) + rng.normal(size=rows), scales


@examples(40)
@given(
    seed=seeds,
    eta=st.floats(0.01, 0.3),
    decaying=st.booleans(),
    intercept=st.booleans(),
    penalty=st.sampled_from([0.0, 0.1]),
    average=st.sampled_from([None, 0.0, 0.05]),
)
def test_gradient_is_the_printed_step(seed, eta, decaying, intercept, penalty, average):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (60, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.3 + 0.1 * rng.normal(size=60)
    averaged, forgetting = average is not None, average or 0.0
    model = OnlineLinearRegression(
        InverseSqrt(eta) if decaying else eta,
        intercept=intercept,
        penalty=penalty,
        averaged=averaged,
        forgetting=forgetting,
    )
    twin = SlowGradient(3, lambda t: eta / np.sqrt(t) if decaying else eta, intercept, penalty, averaged, forgetting)
    answers = model.predict_then_learn(X, y)
    for x, target, answer in zip(X, y.tolist(), answers, strict=True):
        assert answer == pytest.approx(twin.answer(x), rel=1e-9, abs=1e-12)
        twin.learn(x, target)
    assert model.rate_ == pytest.approx(eta / np.sqrt(60) if decaying else eta)
    assert model.cut_steps_ == 0


@examples(60)
@given(
    seed=seeds,
    p=st.sampled_from([1, 2, 3, 5, 8, 9, 20]),
    intercept=st.booleans(),
    forgetting=st.sampled_from([0.0, 0.001, 0.02]),
    scale=st.sampled_from([1.0, 1e6]),
    offset=st.sampled_from([0.0, 1e6]),
)
def test_least_squares_is_the_batch_solution(seed, p, intercept, forgetting, scale, offset):
    rows = 30 * p
    X, y, scales = stream_of(seed, rows, p, scale, offset if intercept else 0.0)
    model = OnlineLinearRegression(solver="rls", intercept=intercept, forgetting=forgetting)
    for upto in (3 * p + 3, rows):
        start = 0 if upto < rows else 3 * p + 3
        model.partial_fit(X[start:upto], y[start:upto])
        w, _ = slow_least_squares(X[:upto], y[:upto], intercept, forgetting)
        size = np.abs(w * scales).max()
        np.testing.assert_allclose(model.coef_ * scales, (w * scales).astype(float), rtol=0, atol=1e-9 * float(size))
        middle = X[:upto].mean(axis=0)
        w, b = slow_least_squares(X[:upto] - middle, y[:upto], intercept, forgetting) if intercept else (w, 0)
        expected = ((X[:upto] - (middle if intercept else 0)) @ w + b).astype(float)
        np.testing.assert_allclose(model.predict(X[:upto]), expected, rtol=0, atol=1e-9 * np.abs(y[:upto]).max())


@examples(40)
@given(
    seed=seeds,
    p=st.sampled_from([1, 3, 8, 19]),
    forgetting=st.sampled_from([0.0, 0.01, 0.2]),
    penalty=st.floats(1e-3, 100),
    rows=st.integers(2, 60),
)
def test_the_penalty_is_ridge_regression_held_against_forgetting(seed, p, forgetting, penalty, rows):
    X, y, _ = stream_of(seed, rows, p)
    model = OnlineLinearRegression(solver="rls", penalty=penalty, forgetting=forgetting).partial_fit(X, y)
    held = penalty_held(rows, p, penalty, forgetting)
    assert min(held) >= 0.45 * penalty
    w, b = slow_least_squares(X, y, True, forgetting, held)
    np.testing.assert_allclose(model.coef_, w.astype(float), rtol=0, atol=1e-9 * max(1.0, float(np.abs(w).max())))
    assert model.intercept_ == pytest.approx(float(b), abs=1e-9 * np.abs(y).max())


@pytest.mark.parametrize("forgetting", [0.0, 0.01, 0.3])
def test_features_that_say_nothing_do_no_harm(forgetting):
    """A constant, a duplicate and one-hot columns beside a constant term: no unique weights, but the same answers."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 3000)
    x = rng.normal(size=3000)
    X = np.column_stack([np.eye(3)[kind], np.full(3000, 7.0), x, x])
    y = np.array([1.0, 2.0, 3.0])[kind] + x + 0.1 * rng.normal(size=3000)
    model = OnlineLinearRegression(solver="rls", forgetting=forgetting)
    answers = model.predict_then_learn(X, y)
    lean = OnlineLinearRegression(solver="rls", forgetting=forgetting).predict_then_learn(X[:, [1, 2, 4]], y)
    np.testing.assert_allclose(answers[50:], lean[50:], atol=1e-5 * np.abs(lean).max())
    assert np.abs(model.coef_).max() < 100 * np.abs(y).max()
    diagonal = model._core.state()["factor_diagonal"]
    assert (diagonal > 0).all()
    assert diagonal.max() < 1e17


def test_a_feature_that_stands_still_is_learned_anew_when_it_moves():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 2))
    X[5000:15_000, 1] = 0.3
    y = X @ [1.0, 1.0]
    y[15_000:] = X[15_000:] @ [1.0, -4.0] + 1.5  # the same at 0.3: nothing of what is remembered is wrong
    model = OnlineLinearRegression(solver="rls", forgetting=0.05)
    answers = model.predict_then_learn(X, y)
    assert np.abs(answers - y)[5500:15_000].max() < 1e-9
    assert np.abs(answers - y)[15_010:].max() < 1e-9
    np.testing.assert_allclose(model.coef_, [1.0, -4.0], atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", [0.0, 5.0])
def test_after_a_batch_start_forgetting_goes_on_as_after_single_rows_saved_or_not(intercept, penalty):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2)) + 10.0
    X[0] = [0.0, 10.0]
    y = X @ [1.0, -2.0] + rng.normal(size=300)
    model = OnlineLinearRegression(solver="rls", intercept=intercept, penalty=penalty, forgetting=0.01)
    single = clone(model).partial_fit(X, y)
    batch = clone(model).fit(X[:200], y[:200])
    loaded = loads(dumps(batch)).partial_fit(X[200:], y[200:])
    batch.partial_fit(X[200:], y[200:])
    assert dumps(loaded) == dumps(batch)
    np.testing.assert_allclose(batch.coef_, single.coef_, rtol=1e-9 if penalty == 0 else 1e-2)


def test_forgetting_follows_drift():
    stream = LinearResponse(seed=2, drift=[0.001, 0.0, -0.001, 0.0, 0.0], length=20_000)
    X, y = stream.take()
    errors = {}
    for forgetting in (0.0, 0.01):
        model = OnlineLinearRegression(solver="rls", forgetting=forgetting)
        answers, coef, _ = model.predict_then_learn(X, y, with_coef=True)
        away = coef[2000:] - np.array([stream.weights_at(t) for t in range(2000, 20_000)])
        errors[forgetting] = np.linalg.norm(away, axis=1).mean(), np.square(answers - y)[2000:].mean()
    assert errors[0.01][0] < 0.2 < 5 < errors[0.0][0]
    assert errors[0.01][1] < 0.0125  # the noise itself is 0.01
    assert errors[0.0][1] > 1


@pytest.mark.slow
@pytest.mark.parametrize("forgetting", [0.0, 0.01, 0.5])
def test_ten_million_rows_leave_it_positive_definite_and_exact(forgetting):
    rng = np.random.default_rng(0)
    mixing = np.array([[1.0, 0.9, 0.0], [0.0, 0.1, 0.5], [0.0, 0.0, 1.0]]) * [1.0, 1e4, 1e-5]
    model = OnlineLinearRegression(solver="rls", forgetting=forgetting)
    count, first, second = 0.0, np.zeros(4), np.zeros((4, 4))
    for _ in range(20):
        X = rng.standard_normal((500_000, 3)) @ mixing + [0.0, 1e4, 0.0]
        y = X @ [1.0, 2e-4, -3e5] + rng.standard_normal(500_000)
        model.partial_fit(X, y)
        both = np.column_stack([X, y]) - [0.0, 1e4, 0.0, 2.0]
        count, first, second = count + len(y), first + both.sum(axis=0), second + both.T @ both
    scatter = second - np.outer(first, first) / count
    if forgetting:
        tail = slice(-min(len(y), int(60 / forgetting)), None)
        weight = (1 - forgetting) ** np.arange(len(both[tail]) - 1, -1, -1.0)
        away = both[tail] - weight @ both[tail] / weight.sum()
        scatter = (away * weight[:, None]).T @ away
    scale = np.sqrt(np.diag(scatter)[:3])
    correlation = scatter[:3, :3] / scale[:, None] / scale
    np.testing.assert_allclose(model.inverse_scatter_ * scale[:, None] * scale @ correlation, np.eye(3), atol=1e-7)
    assert np.linalg.eigvalsh(model.inverse_scatter_ * scale[:, None] * scale).min() > 0
    expected = np.linalg.solve(correlation, scatter[:3, 3] / scale) / scale
    np.testing.assert_allclose(model.coef_ * scale, expected * scale, rtol=1e-8)


def test_the_papers_simulation():
    """100 streams of 1,000 rows: as far from the true weights, and as much regret, as the printed update must give."""
    distances, regrets = [], []
    for seed in range(100):
        stream = LinearResponse(seed=seed)
        X, y = stream.take()
        model = OnlineLinearRegression(InverseSqrt(1.0), intercept=False)
        loss = np.square(model.predict_then_learn(X, y) - y)
        distances.append(np.linalg.norm(model.coef_ - stream.weights_at(0)))
        regrets.append((loss - np.square(X @ stream.weights_at(0) - y)).sum())
        assert model.cut_steps_ == 0
    assert np.mean(distances) == pytest.approx(0.0315, abs=0.01)
    assert np.mean(regrets) == pytest.approx(20.0, abs=4.0)


@examples(30)
@given(
    seed=seeds,
    scale=st.sampled_from([3.0, 1e3, 1e20, 1e49]),
    rate=st.sampled_from([1.0, 1e3, 9e49]),
    averaged=st.booleans(),
    penalty=st.sampled_from([0.0, 1.0]),
)
def test_an_exploding_step_is_cut_and_named(seed, scale, rate, averaged, penalty):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4)) * scale
    y = rng.normal(size=300)
    model = OnlineLinearRegression(rate, averaged=averaged, penalty=penalty)
    with pytest.warns(Diverging, match="cut the step of row [0-9]+, .* squared length") as told:
        model.partial_fit(X, y)
    assert len(told) == 1
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once told, only counted
        before = model.cut_steps_
        model.partial_fit(X, y)
        model.learn_one(X[0], y[0])
    assert model.cut_steps_ > before > 0
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict(X)).all()
    single = OnlineLinearRegression(rate)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for x, target in zip(X, y.tolist(), strict=True):
            single.learn_one(x, target)
    assert [(each.category, each.filename) for each in told] == [(Diverging, __file__)]


@pytest.mark.filterwarnings("ignore::thalweg.errors.Diverging")
@examples(60)
@given(
    seed=seeds,
    values=st.lists(st.sampled_from([0.0, 1e-45, -1e-30, 1e-10, 1.0, -3.0, 1e10, 1e30, -1e50, 1e50]), min_size=2),
    name=st.sampled_from(sorted(REGRESSORS)),
)
def test_nothing_that_may_be_learned_makes_it_infinite(seed, values, name):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 12))
    model = clone(REGRESSORS[name])
    X = rng.choice(values, (60, p)) * rng.choice([1.0, 0.5], (60, p))
    answers = model.predict_then_learn(X, rng.choice(values, 60))
    assert np.isfinite(answers).all()
    assert np.isfinite(model.coef_ if model._has_coefficients else model.predict(X)).all()
    for each in model._core.state().values():
        assert np.isfinite(each).all()
    assert (model._core.state().get("factor_diagonal", np.ones(1)) > 0).all()


def test_unscaled_features_are_survived():
    """Where every step is far too large, cut steps fit row after row: no less than half the variance is explained."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3)) * 1e4
    y = X @ [1e-4, 2e-4, -1e-4] + 0.1 * rng.normal(size=5000)
    with pytest.warns(Diverging):
        answers = OnlineLinearRegression(0.5, intercept=False).predict_then_learn(X, y)
    assert 1 - np.square(answers - y)[100:].mean() / y.var() > 0.5


def test_fit_is_the_batch_solution_and_partial_fit_goes_on_from_it():
    X, y, _ = stream_of(5, 200, 4)
    w, b = slow_least_squares(X, y)
    for kwargs in ({}, {"averaged": True}, {"solver": "rls"}):
        model = OnlineLinearRegression(**kwargs).fit(X, y)
        np.testing.assert_allclose(model.coef_, w.astype(float), rtol=1e-9)
        assert model.intercept_ == pytest.approx(float(b), rel=1e-9)
    model = OnlineLinearRegression(InverseSqrt(0.1)).fit(X, y)
    assert model.rate_ == pytest.approx(0.1 / np.sqrt(200))
    start, constant = model.coef_, model.intercept_
    residual = 3.0 - model.predict_one(X[0])
    model.learn_one(X[0], 3.0)
    np.testing.assert_allclose(model.coef_, start + 0.1 / np.sqrt(201) * residual * X[0], rtol=1e-12)
    assert model.intercept_ == pytest.approx(constant + 0.1 / np.sqrt(201) * residual)
    exact = OnlineLinearRegression(solver="rls")
    streamed = OnlineLinearRegression(solver="rls").partial_fit(X, y)  # whose prior is that of the first deviations
    np.testing.assert_allclose(
        exact.fit(X[:90], y[:90]).partial_fit(X[90:], y[90:]).coef_, streamed.coef_, rtol=1e-9, atol=1e-12
    )
    ridge, bias = slow_least_squares(X, y, penalty=[0.02 * 200] * 4)  # the step's penalty is per row
    shrunk = OnlineLinearRegression(penalty=0.02).fit(X, y)
    np.testing.assert_allclose([*shrunk.coef_, shrunk.intercept_], [*ridge.astype(float), float(bias)], rtol=1e-9)


@pytest.mark.parametrize("features", [1, 2, 3, 5, 8, 9, 17, 40])
def test_levels_agree(features):
    X, y, _ = stream_of(features, 1000, features)
    for make in (
        lambda kernel: kernel.least_squares(features, True, 0.0, 0.01),
        lambda kernel: kernel.gradient_regression(features, (1, 0.1, 0), True, True, 0.01, 0.0),
    ):
        answers = []
        for level in kernels.available_levels():
            core = make(kernels.load(level))
            core.widen(1)
            out = np.empty((len(y), 1))
            core.run(X, y[:, None], out)
            answers.append(out[5 * features :])
        for other in answers[1:]:
            np.testing.assert_allclose(other, answers[0], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rate": 0.0}, "'rate' parameter"),
        ({"rate": 1e50}, "below 1e50"),
        ({"rate": ErrorDriven()}, "be a positive float, Constant or InverseSqrt"),
        ({"rate": 0.1, "solver": "rls"}, "which has no step"),
        ({"solver": "newton"}, 'be "sgd" or "rls"'),
        ({"intercept": 1}, "be True or False"),
        ({"averaged": "yes"}, "be True or False"),
        ({"averaged": True, "solver": "rls"}, "which is exact"),
        ({"penalty": -1.0}, "be a finite number >= 0"),
        ({"penalty": True}, "be a finite number >= 0"),
        ({"forgetting": 1.0, "solver": "rls"}, r"lie in \[0, 1\)"),
        ({"forgetting": 0.1}, "its rate forgets"),
    ],
)
def test_parameters_are_checked(parameters, message):
    for call in ("fit", "partial_fit", "predict_then_learn"):
        with pytest.raises(InvalidParameter, match=message):
            getattr(OnlineLinearRegression(**parameters), call)([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(InvalidParameter, match=message):
        OnlineLinearRegression(**parameters).learn_one([1.0], 2.0)


def test_attributes_belong_to_their_solver():
    X, y, _ = stream_of(0, 50, 2)
    gradient, exact = OnlineLinearRegression(0.1).fit(X, y), OnlineLinearRegression(solver="rls").fit(X, y)
    assert not hasattr(gradient, "inverse_scatter_")
    assert not hasattr(exact, "rate_")
    assert not hasattr(exact, "cut_steps_")
    assert not hasattr(OnlineLinearRegression(), "coef_")


def test_names_and_rows_of_every_form():
    model = OnlineLinearRegression(solver="rls")
    for a, b in ((1.0, 2.0), (2.0, 1.0), (0.0, 1.0), (3.0, -1.0)):
        model.learn_one({"a": a, "b": b}, 2 * a - b)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.predict_one({"b": 5.0, "a": 1.0}) == pytest.approx(-3.0, abs=1e-6)
    assert loads(dumps(model)).predict_one({"b": 5.0, "a": 1.0}) == model.predict_one([1.0, 5.0])


def test_a_forged_file_is_refused():
    from tests.test_store import forged, header_and_arrays

    X, y, _ = stream_of(0, 30, 2)
    for change in (
        lambda h, a: h["targets"].update(columns=2),
        lambda h, a: h["targets"].update(columns="two"),
        lambda h, a: a.update(n_outputs=np.array([2**40])),
        lambda h, a: a.update(factor_diagonal=-a["factor_diagonal"]),
        lambda h, a: a.update(weights=np.zeros((1, 3))),
        lambda h, a: h.pop("targets"),
    ):
        header, arrays = header_and_arrays(dumps(OnlineLinearRegression(solver="rls").fit(X, y)))
        change(header, arrays)
        with pytest.raises(ModelFileError):
            loads(forged(header, arrays))


def test_a_small_penalty_keeps_dependent_features_in_place():
    """Without it the weights wander along a duplicated feature, though rows that obey the duplication do not mind."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(100_000, 2))
    X, y = np.column_stack([A, A[:, 1]]), A @ [1.0, 2.0] + 0.1 * rng.normal(size=100_000)
    held = OnlineLinearRegression(solver="rls", penalty=1e-6).partial_fit(X, y)
    np.testing.assert_allclose(held.coef_, [1.0, 1.0, 1.0], atol=0.01)
    free = OnlineLinearRegression(solver="rls").partial_fit(X, y)
    np.testing.assert_allclose(free.predict(X[:50]), held.predict(X[:50]), atol=1e-5)
