"""The mixture for numbers: each part against a slow twin, and streams whose best answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.late_calls import ask, tell
from tests.oracles_regression import (
    SlowMixing,
    SlowTilings,
    slow_forgetting_answers,
    slow_half_widths,
    slow_late_half_widths,
    slow_local_noise,
    slow_scaled,
    slow_sparse_linear,
)
from thalweg import (
    AutoRegressor,
    OnlineLinearRegression,
    PredictionIntervals,
    StandardScaler,
    StreamPipeline,
    TilingRegressor,
)
from thalweg.errors import InvalidParameter, ModelFileError
from thalweg.learners.auto_regressor import FORGETTING_RATES, SPARSE_STEPS, WIDEST_LEAST_SQUARES
from thalweg.learners.base.mixture import NUMBER_STEPS
from thalweg.store import dumps, loads


def stream(seed, rows, features, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features)) * 3 + 1
    return X, 5 + X @ rng.normal(size=features) + X[:, 0] * X[:, -1] + noise * rng.normal(size=rows)


def held(answers, y):
    """Within the range of the targets before, and a tenth of it on either side."""
    low, high = np.minimum.accumulate(y)[:-1], np.maximum.accumulate(y)[:-1]
    return np.clip(answers[1:], low - 0.1 * (high - low), high + 0.1 * (high - low))


def walked(model, X, y):
    """Members' answers and weights before every row but the first."""
    answers, weights = [], []
    model.learn_one(X[0], y[0].item())
    for x, target in zip(X[1:], y[1:].tolist(), strict=True):
        answers.append(model._core.opinions(x[None])[0, 0, : model._core.n_members])
        weights.append(model._core.shares()[0])
        model.learn_one(x, target)
    return np.array(answers), np.array(weights)


def test_least_squares_at_every_rate_is_its_slow_twin():
    X, y = stream(1, 250, 3)
    model = AutoRegressor(curved=False)
    answers, _ = walked(model, X, y)
    Z = slow_scaled(X)
    for i, rate in enumerate(FORGETTING_RATES):
        twin = held(y[0] + slow_forgetting_answers(Z, y, rate, prior=0.01), y)
        np.testing.assert_allclose(answers[:, i], twin, rtol=0, atol=1e-8)
    np.testing.assert_allclose(answers[:, -2], y[:-1])
    np.testing.assert_allclose(answers[:, -1], np.cumsum(y)[:-1] / np.arange(1, len(y)))


def test_the_quadratic_member_is_its_slow_twin():
    X, y = stream(2, 200, 2)
    model = AutoRegressor()
    answers, _ = walked(model, X, y)
    Z = slow_scaled(X)
    near = np.clip(Z, -3, 3)
    products = [near[:, i] * near[:, j] - (i == j) for i, j in ((0, 0), (0, 1), (1, 1))]
    twin = held(y[0] + slow_forgetting_answers(np.column_stack([Z, *products]), y, 1e-3, prior=0.1), y)
    np.testing.assert_allclose(answers[:, model.members_.index("quadratic")], twin, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    "options",
    [
        {"tilings": 20, "step": 1.0, "replace_every": 0, "random_state": 5},
        {"tilings": 40, "step": 0.1, "replace_every": 10, "min_age": 20, "random_state": 1},
        {"tilings": 23, "depth": 2, "replace_every": 15, "replace_share": 0.3, "min_age": 0},
    ],
)
def test_tilings_are_their_slow_twin(options):
    X, y = stream(3, 300, 4)
    model = TilingRegressor(**options)
    answers, _ = walked(model, X, y)
    steps = NUMBER_STEPS if model.step == "auto" else [model.step]
    slow = SlowTilings(4, model, steps)
    twin = y[0] + np.array(
        [slow.predict_then_learn(z, target) for z, target in zip(slow_scaled(X), y - y[0], strict=True)]
    )
    for lane in range(len(steps)):
        np.testing.assert_allclose(answers[:, lane], held(twin[:, lane], y), rtol=0, atol=1e-7)
    serials = model._core.state()["target0_tilings0_tiling_serials"].tolist()
    assert serials == [grid.serial for grid in slow.grids]
    assert (max(serials) >= model.tilings) == (model.replace_every > 0)


def test_the_mixture_is_its_slow_twin():
    X, y = stream(4, 300, 3)
    answers, weights = walked(AutoRegressor(), X, y)
    twin, given = SlowMixing(answers.shape[1]), []
    for opinions, own, target in zip(answers, weights, y[1:], strict=True):
        np.testing.assert_allclose(own, twin.weights(), atol=1e-6)
        given.append(twin.weights() @ opinions)
        twin.judge(opinions, target)
    np.testing.assert_allclose(AutoRegressor().predict_then_learn(X, y)[1:], given, rtol=0, atol=1e-6)


def sparse_stream(seed, rows, dense=0):
    """Rows of five values among sixty columns, behind some dense ones far from zero."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((rows, 60)) < 5 / 60, rng.normal(size=(rows, 60)) + 0.5, 0.0)
    X = np.column_stack([rng.normal(size=(rows, dense)) + 50, X])
    return X, 20 + (X - 50 * (X > 40)) @ rng.normal(size=X.shape[1]) + 0.2 * rng.normal(size=rows)


@pytest.mark.filterwarnings("ignore:X is sparse")
@pytest.mark.parametrize("dense", [0, 2])
def test_the_members_over_sparse_rows_and_their_mixture_are_their_slow_twins(dense):
    X, y = sparse_stream(5, 250, dense)
    model, given, answers = AutoRegressor(dense_features=dense), [], []
    for t in range(len(y)):
        row = csr_array(X[[t]])
        if t:
            given.append(model.predict(row)[0])
            answers.append(model._core.opinions(model._rows_to_predict(row))[0, 0, : model._core.n_members])
        assert model.predict_then_learn(row, y[[t]])[0] == (given[-1] if t else 0.0)
    answers, mean = np.array(answers), np.cumsum(y)[:-1] / np.arange(1, len(y))
    base, linear = np.append(y[0], mean), answers[:, : len(SPARSE_STEPS)]
    if dense:
        alone = AutoRegressor(local_widths=False)
        theirs, _ = walked(alone, X[:, :dense], y)
        base = np.append(y[0], AutoRegressor().predict_then_learn(X[:, :dense], y)[1:])
        np.testing.assert_allclose(answers[:, : theirs.shape[1]], theirs, atol=1e-9)
        linear = answers[:, theirs.shape[1] :]
    else:
        np.testing.assert_allclose(answers[:, len(SPARSE_STEPS) :], np.column_stack([y[:-1], mean]))
    for at, steps in enumerate(SPARSE_STEPS):
        twin = base + slow_sparse_linear(X[:, dense:], y - base, *steps)
        np.testing.assert_allclose(linear[:, at], held(twin, y), atol=1e-7)
    mixing = SlowMixing(answers.shape[1])
    for opinions, own, target in zip(answers, given, y[1:], strict=True):
        np.testing.assert_allclose(own, mixing.weights() @ opinions, atol=1e-6)
        mixing.judge(opinions, target)
    np.testing.assert_allclose(model.weights_, mixing.weights(), atol=1e-6)
    assert len(model.members_) == len(model.families_) == answers.shape[1]


@pytest.mark.filterwarnings("ignore:X is sparse")
@pytest.mark.parametrize("options", [{"dense_features": 2}, {"robust": True}])
def test_a_model_of_sparse_rows_is_the_same_by_chunks_from_files_and_with_weights(options):
    X, y = sparse_stream(6, 300, 2)
    rows, weights = csr_array(X), np.random.default_rng(6).choice([0.0, 0.5, 3.0], 300)
    several = np.column_stack([y, -y])
    whole = AutoRegressor(**options).partial_fit(rows, several, sample_weight=weights)
    parts = AutoRegressor(**options).partial_fit(rows[:100], several[:100], sample_weight=weights[:100])
    parts = loads(dumps(parts))
    parts.partial_fit(rows[100:], several[100:], sample_weight=weights[100:])
    np.testing.assert_array_equal(parts.predict(rows), whole.predict(rows))
    np.testing.assert_array_equal(parts.predict_interval(rows), whole.predict_interval(rows))
    kept = weights > 0
    some = AutoRegressor(**options).fit(rows[kept], several[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(some.predict(rows), whole.predict(rows))
    state = whole._core.state()
    for name in ("target0_linear0_bias", "target1_linear2_weights", "target0_mixing_losses", "scaler_squares"):
        with pytest.raises(ValueError, match="the saved state is not valid at"):
            AutoRegressor(**options)._make_core(0).restore({**state, name: np.full_like(state[name], -np.inf)})


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.99])
def test_intervals_are_their_slow_twin(coverage):
    X, y = stream(5, 400, 3)
    line = OnlineLinearRegression(solver="rls", forgetting=0.01)
    answers, lower, upper = PredictionIntervals(line, coverage, step=0.1).predict_interval_then_learn(X, y)
    np.testing.assert_array_equal(
        answers, OnlineLinearRegression(solver="rls", forgetting=0.01).predict_then_learn(X, y)
    )
    twin = slow_half_widths(answers, y, coverage, 0.1)
    np.testing.assert_allclose(upper - answers, twin, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(answers - lower, twin, rtol=1e-9, atol=1e-9)


def noisy_by_feature(seed, rows):
    """Noise that is seven times as large where the first feature is above its middle."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, 4))
    return X, X @ [1.0, 2.0, 3.0, 4.0] + rng.normal(size=rows) * np.where(X[:, 0] > 0.5, 2.1, 0.3)


def test_local_widths_are_their_slow_twin():
    X, y = noisy_by_feature(1, 900)
    model = PredictionIntervals(OnlineLinearRegression(solver="rls"), 0.8, step=0.1, local_widths=True)
    answers, lower, upper = model.predict_interval_then_learn(X, y)
    factors = slow_local_noise(X, np.abs(y - answers))
    assert np.ptp(factors[300:]) > 0.5
    np.testing.assert_allclose((upper - lower) / 2, slow_half_widths(answers, y, 0.8, 0.1, factors), rtol=0, atol=1e-7)
    # What is given without learning is what the next row gets, and a saved model gives the same.
    row, again = X[:1], loads(dumps(model))
    np.testing.assert_array_equal(again.predict_interval(row), model.predict_interval(row))
    np.testing.assert_array_equal(
        model.predict_interval(row), np.array(again.predict_interval_then_learn(row, y[:1])[1:])
    )


@pytest.mark.parametrize("make", [AutoRegressor, TilingRegressor])
def test_intervals_are_wider_where_the_noise_is(make):
    X, y = noisy_by_feature(0, 5000)

    def scored(local_widths):
        """Interval score (Gneiting & Raftery 2007), and the coverage where the noise is small and where it is large."""
        _, lower, upper = make(local_widths=local_widths).predict_interval_then_learn(X, y)
        outside = np.maximum(lower - y, 0) + np.maximum(y - upper, 0)
        inside, loud = (outside == 0)[1000:], (X[:, 0] > 0.5)[1000:]
        return np.mean((upper - lower + 20 * outside)[1000:]), inside.mean(), inside[~loud].mean(), inside[loud].mean()

    score, whole, still, loud = scored(local_widths=True)
    plain_score, plain_whole, plain_still, plain_loud = scored(local_widths=False)
    assert score < 0.8 * plain_score
    assert abs(whole - 0.9) < 0.01
    assert abs(plain_whole - 0.9) < 0.01
    assert still - loud < 0.08 < 0.15 < plain_still - plain_loud


def late(model, X, y, delay, *, coverage=0.9, given=True):
    """Predictions and half-widths of all rows but the first, which are only learned; targets come late."""
    tell(model, X[:delay], y[:delay], None, delay, coverage)
    kept = [ask(model, X[t : t + 1], coverage) for t in range(delay, 2 * delay)]
    ends = [model.predict_interval(X[t : t + 1], coverage) for t in range(delay, 2 * delay)]
    for t in range(2 * delay, len(y)):
        row = slice(t - delay, t - delay + 1)
        if given:
            tell(model, X[row], y[row], kept[-delay], delay, coverage)
        else:
            model.partial_fit(X[row], y[row])
        kept.append(ask(model, X[t : t + 1], coverage))
        ends.append(model.predict_interval(X[t : t + 1], coverage))
    lower, upper = np.transpose(ends)[0]
    return (lower + upper) / 2, (upper - lower) / 2


@pytest.mark.parametrize(("coverage", "delay"), [(0.5, 3), (0.9, 60)])
def test_intervals_of_late_targets_are_their_slow_twin(coverage, delay):
    X, y = stream(5, 500, 3)
    line = OnlineLinearRegression(solver="rls", forgetting=0.01)
    answers, half = late(PredictionIntervals(line, coverage, step=0.1), X, y, delay, coverage=coverage)
    twin = slow_late_half_widths(answers, y[delay:], coverage, 0.1, delay)
    np.testing.assert_allclose(half, twin, rtol=1e-9, atol=1e-9)


def test_coverage_holds_where_targets_come_late():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2500, 2)), np.cumsum(rng.normal(size=2500))

    def coverage(given):
        answers, half = late(AutoRegressor(curved=False), X, y, 20, given=given)
        return np.mean(np.abs(y[20:] - answers) <= half)

    assert abs(coverage(given=True) - 0.9) < 0.02
    assert coverage(given=False) < 0.5  # judged by what the model gives once it knows more


def test_coverages_that_were_not_asked_for_hold_too_where_targets_come_late():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 2)), np.cumsum(rng.normal(size=3000))
    model, waiting, inside = AutoRegressor(curved=False).partial_fit(X[:5], y[:5]), [], []
    for t in range(5, 3000):
        half, row = model._core.half_widths()[0], slice(t, t + 1)
        waiting.append((X[row], y[row], ask(model, X[row])))
        inside.append(abs(y[t] - model.predict(X[row])[0]) <= half)
        if t >= 10:
            tell(model, *waiting.pop(0), delay=5)
    np.testing.assert_allclose(np.mean(inside, axis=0), [0.5, 0.8, 0.9, 0.95, 0.99], atol=0.015)


def test_on_a_still_linear_stream_it_answers_as_the_batch():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5))
    y = 100 + X @ rng.normal(size=5) + 0.5 * rng.normal(size=4000)
    model = AutoRegressor().partial_fit(X, y)
    batch = OnlineLinearRegression(solver="rls").fit(X, y)
    assert np.abs(model.predict(X) - batch.predict(X)).mean() < 0.05
    assert max(model.family_weights_, key=model.family_weights_.__getitem__) == "least squares"
    assert "least squares" in model.explain().splitlines()[0]


def test_where_the_last_value_is_best_it_is_nearly_as_good():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 4)), np.cumsum(rng.normal(size=3000))
    model = AutoRegressor()
    errors = model.predict_then_learn(X, y)[20:] - y[20:]
    assert np.sqrt(np.mean(errors**2)) < 1.05 * np.sqrt(np.mean(np.diff(y[19:]) ** 2))
    assert model.family_weights_["last value"] > 0.95


def test_it_finds_what_lines_cannot_and_useless_features_are_left_alone():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(4000, 10))
    y = np.where(X[:, 0] > 0, np.abs(X[:, 1]), -np.abs(X[:, 2]))

    def error(model):
        return np.std((model.predict_then_learn(X, y) - y)[2000:]) / y.std()

    replaced, kept = error(TilingRegressor(64)), error(TilingRegressor(64, replace_every=0))
    assert replaced < 0.85 * kept
    assert error(AutoRegressor()) < 0.25 < 0.45 < error(AutoRegressor(curved=False))


@pytest.mark.parametrize("make", [AutoRegressor, TilingRegressor])
def test_outliers_ruin_the_plain_one_and_not_the_robust_one(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    truth = X @ [1.0, -2.0, 0.5]
    y = truth + 0.2 * rng.normal(size=3000) + (rng.random(3000) < 0.05) * rng.normal(size=3000) * 200

    def error(robust):
        return np.sqrt(np.mean((make(robust=robust).predict_then_learn(X, y) - truth)[500:] ** 2))

    assert error(robust=True) < 0.25 * error(robust=False)


def test_without_outliers_robust_costs_little_and_follows_a_jump():
    X, y = stream(6, 3000, 4)
    y[1500:] += 500  # of a level
    plain, robust = (AutoRegressor(robust=each).predict_then_learn(X, y) - y for each in (False, True))
    for part in (slice(500, 1500), slice(2000, 3000)):
        assert robust[part].std() < 1.2 * plain[part].std()


@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95])
def test_coverage_holds_where_the_noise_doubles(coverage):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=10_000) * np.repeat([1.0, 2.0], 5000)
    _, lower, upper = AutoRegressor(curved=False).predict_interval_then_learn(X, y, coverage)
    hit = (lower <= y) & (y <= upper)
    assert abs(hit.mean() - coverage) < 0.01
    windows = np.convolve(hit[5200:], np.full(1000, 1e-3), mode="valid")
    assert coverage - 0.05 <= windows.min() <= windows.max() <= coverage + 0.05
    fixed = np.quantile(np.abs(y - X @ [1.0, -2.0, 0.5, 0.0])[:5000], coverage)
    assert np.mean(np.abs(y - X @ [1.0, -2.0, 0.5, 0.0])[5000:] < fixed) < coverage - 0.1  # what a fixed quantile gives


def test_a_coverage_that_is_not_tracked_is_refused_and_nothing_learned():
    X, y = stream(7, 30, 2)
    model = AutoRegressor(curved=False)
    with pytest.raises(InvalidParameter, match=r"be 0.5, 0.8, 0.9, 0.95 or 0.99, which are tracked, got 0.7"):
        model.predict_interval_then_learn(X, y, 0.7)
    assert not model.__sklearn_is_fitted__()
    line = PredictionIntervals(OnlineLinearRegression(solver="rls"), 0.7).partial_fit(X, y)
    with pytest.raises(InvalidParameter, match=r"be 0.7, which is tracked, got 0.9"):
        line.predict_interval(X, 0.9)
    assert line.half_width_ == pytest.approx(np.ptp(line.predict_interval(X[:1]), axis=0)[0] / 2)


@pytest.mark.parametrize("inside", [StreamPipeline([StandardScaler(), OnlineLinearRegression()]), "line", None])
def test_intervals_want_a_regressor_of_ours(inside):
    with pytest.raises(InvalidParameter, match="be a regressor of thalweg and no pipeline"):
        PredictionIntervals(inside).partial_fit([[0.0], [1.0]], [0.0, 1.0])


def test_it_stands_at_the_end_of_a_pipeline():
    X, y = stream(8, 200, 3)
    model = StreamPipeline([StandardScaler(), AutoRegressor()]).partial_fit(X, y)
    assert not hasattr(model, "coef_")
    assert np.isfinite(model.predict(X)).all()
    with pytest.raises(InvalidParameter, match="AutoRegressor"):
        model.predict_then_learn(X, y, with_coef=True)


def test_wide_rows_are_learned_by_gradient_steps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, WIDEST_LEAST_SQUARES + 1))
    y = X[:, :3].sum(axis=1)
    model = AutoRegressor(curved=False)
    assert np.std((model.predict_then_learn(X, y) - y)[2000:]) < 0.1 * y.std()
    assert model.families_[0] == "gradient"
    assert loads(dumps(model)).weights_.tolist() == model.weights_.tolist()


def test_several_targets_have_weights_of_their_own():
    X, y = stream(9, 300, 2)
    walk = np.cumsum(np.random.default_rng(0).normal(size=300))
    model = AutoRegressor(curved=False).partial_fit(X, np.column_stack([y, walk]))
    assert model.weights_.shape == (2, len(model.members_))
    assert model.weights_[1, model.members_.index("last value")] > 0.9 > model.weights_[0, -2]
    lower, upper = model.predict_interval(X[:4])
    assert lower.shape == upper.shape == (4, 2)


def test_a_forged_state_is_refused():
    X, y = stream(10, 60, 2)
    model = AutoRegressor().partial_fit(X, y)
    state = model._core.state()
    cell = state["target0_tilings0_cell_weights"]
    forgeries = {
        "n_outputs": np.array([10**6]),
        "interval_sizes": np.array([[-1.0]]),
        "interval_noise_sizes": np.array([[-1.0]]),
        "interval_noise_scaler_variance": -state["interval_noise_scaler_variance"],
        "target0_lowest": np.array([np.inf]),
        "target0_mixing_losses": -state["target0_mixing_losses"],
        "target0_bank_weights": np.full_like(state["target0_bank_weights"], np.nan),
        "target0_quadratic_factor_diagonal": np.zeros_like(state["target0_quadratic_factor_diagonal"]),
        "target0_tilings0_cell_weights": np.where(np.arange(cell.shape[1]) == 0, -1.0, cell),
        "scaler_variance": -state["scaler_variance"],
    }
    for name, value in forgeries.items():
        with pytest.raises(ValueError, match="the saved state is not valid at"):
            AutoRegressor()._make_core(2).restore({**state, name: value})
    with pytest.raises(ModelFileError):
        loads(dumps(model)[:-8])


def late_errors(delay, judged_then):
    """Errors of predictions whose targets come late, on a stream whose noise lasts for some rows."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(2500, 3))
    noise = np.convolve(rng.normal(size=2510), np.ones(10), "valid")[:2500]
    y = X @ [1.0, -1.0, 0.5] + noise
    model = AutoRegressor(curved=False).partial_fit(X[:2], y[:2])
    answers, kept = np.full(len(y), np.nan), {}
    for now in range(2, len(y)):
        answers[now], kept[now] = model.predict_one(X[now]), ask(model, X[now : now + 1])
        row = slice(now - delay, now - delay + 1)
        if now - delay >= 2 and judged_then:
            tell(model, X[row], y[row], kept.pop(now - delay), delay)
        elif now - delay >= 2:
            model.partial_fit(X[row], y[row])
    return (answers - y)[500:]


def test_members_are_judged_by_what_they_said_when_the_row_was_predicted():
    """One row ahead the last residuals help; thirty rows later the members that lean on them know nothing."""
    then, now = (np.sqrt(np.mean(late_errors(30, judged) ** 2)) for judged in (True, False))
    assert then < 1.1 * np.sqrt(10.0) < now  # the noise has this deviation


@pytest.mark.parametrize("at", [600, 2400])
def test_a_category_that_is_new_or_rare_is_predicted_like_the_others(at: int) -> None:
    """The indicators of a column of categories sum to one, which leaves what they have in common to a ridge."""
    rng = np.random.default_rng(3)
    rows, kinds = 3000, 6
    place = rng.choice(kinds - 1, rows, p=[0.4, 0.3, 0.2, 0.08, 0.02])
    place[[at, at + 5, at + 40]] = kinds - 1
    size = rng.normal(size=rows)
    y = 100 + np.arange(kinds)[place] + 2 * size + rng.normal(scale=0.5, size=rows)
    X = np.column_stack([np.eye(kinds)[place], size])
    for curved in (False, True):
        model = AutoRegressor(curved=curved)
        off = np.abs(model.predict_then_learn(X, y) - y)
        assert off[[at, at + 5, at + 40]].max() < 6
        none = np.column_stack([np.zeros((50, kinds)), np.linspace(-2, 2, 50)])
        assert np.abs(model.predict(none) - (101 + 2 * none[:, -1])).max() < 4
