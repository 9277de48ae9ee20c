"""What a weight does, against models that learn repeated rows, fewer rows, or by a slow and obvious recursion."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.utils.validation import has_fit_parameter

from tests.examples import examples
from tests.laws import LEARNERS
from tests.regressor_laws import REGRESSORS
from tests.transformer_laws import TRANSFORMERS
from thalweg import (
    CCIPCA,
    AutoClassifier,
    BalancedWinnow,
    Committee,
    CostSensitive,
    HiraokaLDA,
    KernelMeanClassifier,
    MajorityClass,
    OnlineLDC,
    OnlineLinearRegression,
    OnlineLogistic,
    OnlineThreshold,
    PassiveAggressive,
    Perceptron,
    PredictionSets,
    RandomFeatures,
    Recalibrated,
    StandardScaler,
    StreamPipeline,
    TilingClassifier,
    TrendForecast,
    WindowForest,
)
from thalweg.conformance import estimators, expected_failures
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.learners.base.classifier import WithWeights
from thalweg.store import dumps

WEIGHED = {
    f"{kind} {name}": model
    for kind, models in {"classifier": LEARNERS, "regressor": REGRESSORS, "transformer": TRANSFORMERS}.items()
    for name, model in models.items()
    if has_fit_parameter(model, "sample_weight")
}
#: Classifiers say so by their base class; regressors and transformers have a `fit` of their own.
TAKE_WEIGHTS = {name for name, model in estimators().items() if isinstance(model, WithWeights)} | {
    "AutoRegressor",
    "CCIPCA",
    "OnlineLinearRegression",
    "PredictionIntervals",
    "StandardScaler",
    "StreamPipeline, regressor",
    "StreamPipeline, transformer",
    "TilingRegressor",
    "WindowForestRegressor",
}


def rows_and_labels(seed, rows, features, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    y[:classes] = np.arange(classes)
    return rng.normal(size=(rows, features)) + y[:, None], y


def answered(model, X, y, **weights):
    """What a test-then-train run gives, whatever the kind of model."""
    if hasattr(model, "transform_then_learn"):
        return model.transform_then_learn(X, **weights)
    return model.predict_then_learn(X, y, **weights)


def known(model, X):
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


def test_weights_are_taken_by_those_that_mean_something_by_them_and_no_others():
    found = {
        name
        for name, model in estimators().items()
        for method in ("fit", "partial_fit")
        if "sample_weight" in model._get_metadata_request().__getattribute__(method).requests
    }
    assert found == TAKE_WEIGHTS
    assert {name for name, model in estimators().items() if has_fit_parameter(model, "sample_weight")} == TAKE_WEIGHTS


@pytest.mark.quick(19)
@pytest.mark.filterwarnings("ignore::thalweg.errors.Diverging")
@pytest.mark.parametrize("name", WEIGHED)
@examples(4)
@given(seed=st.integers(0, 2**32), features=st.sampled_from([3, 7, 19]))
def test_a_weight_of_one_is_no_weight_and_of_zero_no_row(name, seed, features):
    """To the last bit, in `fit`, `partial_fit` and test-then-train; rows without weight are answered all the same."""
    X, y = rows_and_labels(seed, 60, features)
    w = np.random.default_rng(seed).choice([0.0, 1.0], 60)
    w[:3] = 1.0
    taken = w > 0
    for begin in (True, False):
        plain, weighed = clone(WEIGHED[name]), clone(WEIGHED[name])
        if begin:
            plain.fit(X[taken], y[taken])
            weighed.fit(X, y, sample_weight=w)
        else:
            plain.partial_fit(X[taken], y[taken])
            weighed.partial_fit(X, y, sample_weight=w)
        assert dumps(weighed) == dumps(plain)
        given_plain = answered(plain, X[taken], y[taken])
        given = answered(weighed, X, y, sample_weight=w)
        assert given[taken].tolist() == given_plain.tolist()
        assert dumps(weighed) == dumps(plain)
        last = known(weighed, X[-1:])
        assert answered(weighed, X[-1:], y[-1:], sample_weight=[0.0]).tolist() == last.tolist()
        assert dumps(weighed) == dumps(plain)


@pytest.mark.filterwarnings("ignore::thalweg.errors.Diverging")
@pytest.mark.parametrize("name", WEIGHED)
def test_chunks_and_detailed_answers_do_not_matter_with_weights(name):
    X, y = rows_and_labels(5, 70, 4)
    w = np.random.default_rng(5).exponential(size=70)
    whole, cut = clone(WEIGHED[name]), clone(WEIGHED[name])
    whole.partial_fit(X, y, sample_weight=w)
    for part in (slice(0, 1), slice(1, 30), slice(30, 70)):
        cut.partial_fit(X[part], y[part], sample_weight=w[part])
    assert dumps(cut) == dumps(whole)
    asked = clone(WEIGHED[name])
    if name.startswith("classifier"):
        asked.predict_then_learn(X, y, sample_weight=w, with_proba=True, with_rate=True, with_weights=True)
    elif hasattr(asked, "predict_interval_then_learn"):
        asked.predict_interval_then_learn(X, y, getattr(asked, "coverage", 0.9), sample_weight=w)
    elif name.startswith("regressor"):
        asked.predict_then_learn(X, y, sample_weight=w, with_coef=True)
    else:
        asked.transform_then_learn(X, sample_weight=w)
    assert dumps(asked) == dumps(whole)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, model in WEIGHED.items()
        if not expected_failures(model).keys() - {"check_sample_weight_equivalence_on_sparse_data"}
        and "forgetting" not in name
    ],
)
@examples(6)
@given(seed=st.integers(0, 2**32), features=st.sampled_from([3, 9]))
def test_whole_weights_in_fit_are_repeated_rows_in_any_order(name, seed, features):
    X, y = rows_and_labels(seed, 40, features)
    rng = np.random.default_rng(seed)
    w = rng.integers(0, 4, 40)
    w[:3] = 1
    order = rng.permutation(40)
    weighed = clone(WEIGHED[name]).fit(X[order], y[order], sample_weight=w[order])
    repeated = clone(WEIGHED[name]).fit(X.repeat(w, axis=0), y.repeat(w))
    for method in ("predict_proba", "decision_function", "predict", "transform"):
        if hasattr(weighed, method):
            np.testing.assert_allclose(
                getattr(weighed, method)(X), getattr(repeated, method)(X), rtol=1e-7, atol=1e-9, err_msg=method
            )


COPIES = {
    "soft": OnlineLDC(0.05, counts="soft"),
    "soft, eager": OnlineLDC(0.4, counts="soft"),
    "hard, one half": OnlineLDC(0.5),
    "least squares": OnlineLinearRegression(solver="rls"),
    "least squares, forgetting": OnlineLinearRegression(solver="rls", forgetting=0.05),
    "least squares, raw": OnlineLinearRegression(solver="rls", intercept=False, forgetting=0.02),
    "scaler": StandardScaler(),
    "scaler, forgetting": StandardScaler(forgetting=0.2),
}


@pytest.mark.parametrize("name", COPIES)
@examples(10)
@given(seed=st.integers(0, 2**32), features=st.sampled_from([2, 5]))
def test_whole_weights_on_the_way_are_copies_in_sequence(name, seed, features):
    """And two weights that follow one another on the same row are their sum, whole or not."""
    X, y = rows_and_labels(seed, 60, features)
    rng = np.random.default_rng(seed)
    w = rng.integers(0, 4, 30)
    start = clone(COPIES[name]).fit(X[:30], y[:30])
    weighed, repeated = (clone(COPIES[name]).fit(X[:30], y[:30]) for _ in range(2))
    weighed.partial_fit(X[30:], y[30:], sample_weight=w)
    repeated.partial_fit(X[30:].repeat(w, axis=0), y[30:].repeat(w)) if w.any() else repeated
    np.testing.assert_allclose(spoken(weighed, X), spoken(repeated, X), rtol=1e-7, atol=1e-8)
    parts = rng.exponential(size=(30, 2))
    whole, halves = (clone(COPIES[name]).fit(X[:30], y[:30]) for _ in range(2))
    whole.partial_fit(X[30:], y[30:], sample_weight=parts.sum(axis=1))
    halves.partial_fit(X[30:].repeat(2, axis=0), y[30:].repeat(2), sample_weight=parts.ravel())
    np.testing.assert_allclose(spoken(whole, X), spoken(halves, X), rtol=1e-7, atol=1e-8)
    assert not np.allclose(spoken(whole, X), spoken(start, X), rtol=1e-7)


def spoken(model, X):
    for method in ("decision_function", "transform", "predict"):
        if hasattr(model, method):
            return getattr(model, method)(X)
    raise AssertionError


def test_hard_counts_set_the_weighted_row_against_the_old_ones():
    """eq. (10) with lambda w for lambda, and Schnackenberg's covariance likewise, one row at a time and obviously."""
    X, y = rows_and_labels(2, 50, 3)
    w = np.random.default_rng(2).exponential(size=50) + 0.1
    rate = 0.7
    model = OnlineLDC(rate).fit(X[:20], y[:20], sample_weight=w[:20])
    model.partial_fit(X[20:], y[20:], sample_weight=w[20:])
    start = OnlineLDC(rate).fit(X[:20], y[:20], sample_weight=w[:20])
    n, m, S = start.counts_.copy(), start.means_.copy(), np.linalg.inv(start.precision_)
    for c in range(3):
        own = y[:20] == c
        np.testing.assert_allclose(n[c], w[:20][own].sum())
        np.testing.assert_allclose(m[c], np.average(X[:20][own], axis=0, weights=w[:20][own]))
    inner = X[:20] - m[y[:20]]
    np.testing.assert_allclose(S, (inner * w[:20, None]).T @ inner / w[:20].sum(), rtol=1e-9)
    for x, k, weight in zip(X[20:], y[20:], w[20:], strict=True):
        news, kept = rate * weight, (1 - rate) * n[k]
        e = x - m[k]
        beyond = e * kept / (kept + news)  # from the mean after the row
        a = (1 - rate) * n.sum()
        S = (a * S + news * (n[k] + weight) / n[k] * np.outer(beyond, beyond)) / (a + news)
        m[k] += news / (kept + news) * e
        n[k] += weight
    np.testing.assert_allclose(model.counts_, n, rtol=1e-12)
    np.testing.assert_allclose(model.means_, m, rtol=1e-10)
    np.testing.assert_allclose(np.linalg.inv(model.precision_), S, rtol=1e-8, atol=1e-10)


def test_a_weight_multiplies_the_step_of_the_linear_learners():
    """Each against its own rule for two classes, where the difference of the two weight vectors is the papers' one."""
    X, y = rows_and_labels(4, 80, 3, classes=2)
    w = np.random.default_rng(4).exponential(size=80)
    Z, sign = np.c_[np.ones(80), X], np.where(y == 1, 1.0, -1.0)

    def perceptron(v, z, s, weight):
        return v + 0.5 * weight * s * z if s * (v @ z) <= 0.3 else v

    def passive_aggressive(v, z, s, weight):
        return v + s * z * min(0.2 * weight, max(0.0, 1 - s * (v @ z)) / (z @ z))

    def logistic(v, z, s, weight):
        return v + 2 * min(0.1 * weight, 4 / (z @ z)) * s / (1 + np.exp(s * (v @ z))) * z

    rules = {
        perceptron: Perceptron(0.5, margin=0.3, start_scale=0.0),
        passive_aggressive: PassiveAggressive(0.2),
        logistic: OnlineLogistic(0.1),
    }
    for rule, model in rules.items():
        model.partial_fit(X[:1], y[:1]).partial_fit(X[1:], y[1:], sample_weight=w[1:])
        v = np.zeros(4)
        for z, s, weight in zip(Z[1:], sign[1:], w[1:], strict=True):
            v = rule(v, z, s, weight)
        np.testing.assert_allclose(model.decision_function(X), Z @ v, rtol=1e-9, atol=1e-9, err_msg=rule.__name__)


def test_a_weight_is_the_power_of_winnows_beta():
    X, y = rows_and_labels(6, 80, 4, classes=2)
    twice = BalancedWinnow(0.8).partial_fit(X, y, sample_weight=np.full(80, 2.0))
    squared = BalancedWinnow(0.8**2).partial_fit(X, y)
    np.testing.assert_allclose(twice.decision_function(X), squared.decision_function(X), rtol=1e-9)


def test_a_weight_multiplies_the_gradient_step():
    X, y = rows_and_labels(7, 50, 3)
    w = np.random.default_rng(7).exponential(size=50)
    model = OnlineLinearRegression(0.01).partial_fit(X, y, sample_weight=w)
    v = np.zeros(4)
    for x, target, weight in zip(np.c_[np.ones(50), X], y, w, strict=True):
        v = v + 0.01 * weight * (target - v @ x) * x
    np.testing.assert_allclose([model.intercept_, *model.coef_], v, rtol=1e-10)


def test_weighted_least_squares_is_that_of_the_batch():
    X, y = rows_and_labels(8, 60, 4)
    w = np.random.default_rng(8).exponential(size=60)
    root, Z = np.sqrt(w), np.c_[np.ones(60), X]
    exact = np.linalg.lstsq(Z * root[:, None], y * root, rcond=None)[0]
    for model in (
        OnlineLinearRegression().fit(X, y, sample_weight=w),
        OnlineLinearRegression(solver="rls").fit(X, y, sample_weight=w),
        OnlineLinearRegression(solver="rls").partial_fit(X, y, sample_weight=w),
    ):
        np.testing.assert_allclose([model.intercept_, *model.coef_], exact, rtol=1e-8)


def test_ccipca_turns_once_with_the_weight_of_the_row():
    rng = np.random.default_rng(9)
    X, w = rng.normal(size=(60, 4)) * [3, 2, 1, 0.5], rng.exponential(size=60) + 0.05
    model = CCIPCA(1, amnesic=0.0).fit(X, sample_weight=w)
    mean, seen, axis = np.zeros(4), 0.0, np.zeros(4)
    for row, (x, weight) in enumerate(zip(X, w, strict=True)):
        seen += weight
        g = weight / seen
        u = np.sqrt(1 - g) * (x - mean)
        mean = mean + g * (x - mean)
        if row == 1:
            axis, age = u * np.linalg.norm(u), weight
        elif row > 1:
            age += weight
            h = weight / age
            axis = (1 - h) * axis + h * (u @ axis) / np.linalg.norm(axis) * u
    np.testing.assert_allclose(model.mean_, np.average(X, axis=0, weights=w), rtol=1e-12)
    np.testing.assert_allclose(model.explained_variance_, [np.linalg.norm(axis)], rtol=1e-9)
    np.testing.assert_allclose(np.abs(model.components_[0]), np.abs(axis) / np.linalg.norm(axis), rtol=1e-9)


def test_means_follow_as_copies_in_hiraokas_analysis_and_a_trend():
    X, y = rows_and_labels(10, 200, 2, classes=2)
    w = np.random.default_rng(10).integers(1, 4, 200)
    model = HiraokaLDA(0.3).partial_fit(X, y).partial_fit(X, y, sample_weight=w)
    for c, mean in enumerate(model._core.state()["means"]):
        slow = HiraokaLDA(0.3).partial_fit(X, y)._core.state()["means"][c]
        for x, weight in zip(X[y == c], w[y == c], strict=True):
            for _ in range(weight):
                slow = slow + 0.3 * (x - slow)
        np.testing.assert_allclose(mean, slow, rtol=1e-10, atol=1e-12)
    # Time passes by rows: a line that drifts is forecast as without weights, where weights do not tell rows apart.
    times = np.arange(200.0)[:, None] / 100
    plain, weighed = (TrendForecast(OnlineLDC(0.5), window=20).partial_fit(X + times, y) for _ in range(2))
    plain.partial_fit(X + 2 + times, y)
    weighed.partial_fit(X + 2 + times, y, sample_weight=np.full(200, 1.0 + 1e-12))
    np.testing.assert_allclose(weighed.forecast_.means, plain.forecast_.means, rtol=1e-6)


BAD = {
    "negative": ([1.0, -1.0, 1.0, 1.0], "from 0 to 1e\\+50, got -1.0 at row 1"),
    "NaN": ([1.0, 1.0, np.nan, 1.0], "got nan at row 2"),
    "infinite": ([np.inf, 1.0, 1.0, 1.0], "got inf at row 0"),
    "short": ([1.0, 1.0], "each of the 4 rows, got shape \\(2,\\)"),
    "one number": (2.0, "got shape \\(\\)"),
    "two columns": (np.ones((4, 2)), "got shape \\(4, 2\\)"),
    "words": (["a", "b", "c", "d"], "must hold numbers"),
}


@pytest.mark.parametrize("name", sorted(TAKE_WEIGHTS))
def test_bad_weights_are_refused_before_anything_changes(name):
    X, y = rows_and_labels(0, 40, 3)
    model, fresh = estimators()[name].fit(X, y), estimators()[name]
    before = dumps(model)
    methods = ("fit", "partial_fit", "transform_then_learn" if hasattr(model, "transform") else "predict_then_learn")
    for method in methods:
        labels = () if method == "transform_then_learn" else (y[:4],)
        for weights, message in BAD.values():
            for each in (model, fresh):
                with pytest.raises(InvalidInput, match=f"sample_weight .*{message}"):
                    getattr(each, method)(X[:4], *labels, sample_weight=weights)
    assert dumps(model) == before
    assert not fresh.__sklearn_is_fitted__()
    for method in methods:
        labels = () if method == "transform_then_learn" else (y,)
        with pytest.raises(InvalidInput, match="must not be zero for every row"):
            getattr(fresh, method)(X, *labels, sample_weight=np.zeros(40))
    assert not fresh.__sklearn_is_fitted__()


@pytest.mark.filterwarnings("ignore::thalweg.errors.Diverging")
@pytest.mark.parametrize("name", WEIGHED)
def test_wild_weights_leave_the_model_finite(name):
    X, y = rows_and_labels(3, 120, 3)
    w = np.random.default_rng(3).choice([1e-300, 1e-50, 1e-9, 0.5, 1.0, 3.0, 1e3, 1e9, 1e50], 120)
    for begin in ("fit", "partial_fit"):
        model = getattr(clone(WEIGHED[name]), begin)(X, y, sample_weight=w)
        assert np.isfinite(spoken(model.partial_fit(X, y, sample_weight=w), X)).all()
        assert np.isfinite(spoken(model.partial_fit(X, y), X)).all()


@pytest.mark.parametrize("counts", ["hard", "soft"])
@pytest.mark.parametrize("weight", [5e-324, 1e-310, 1e-201])
def test_a_weight_of_next_to_nothing_counts_for_nothing(counts, weight):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 50)
    X = rng.normal(size=(50, 2)) + y[:, None]
    model = OnlineLDC(0.01, counts=counts).partial_fit(X, y)
    twin = deepcopy(model).partial_fit(X[:1], [2], sample_weight=[0.0])
    model.partial_fit(X[:1], [2], sample_weight=[weight])
    assert dumps(model) == dumps(twin)
    assert np.isfinite(model.partial_fit(X, y).predict_proba(X)).all()


def test_a_rate_of_next_to_nothing_is_refused():
    with pytest.raises(InvalidParameter, match="at least 1e-100"):
        OnlineLDC(1e-310).partial_fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("inner", "transformers"),
    [
        (OnlineLDC(0.1, counts="soft"), [StandardScaler(), CCIPCA(2)]),
        (OnlineLinearRegression(0.01), [StandardScaler()]),
        (OnlineLogistic(0.1), [RandomFeatures(8)]),  # which learns nothing, and takes no weights
    ],
)
def test_a_pipeline_gives_weights_to_each_of_its_steps(inner, transformers):
    X, y = rows_and_labels(11, 1500, 3)  # more than a block of rows
    w = np.random.default_rng(11).exponential(size=1500) * (np.arange(1500) % 5 > 0)
    model = StreamPipeline([*transformers, inner])
    Z = X
    for step in transformers:
        weighs = has_fit_parameter(step, "sample_weight")
        Z = clone(step).transform_then_learn(Z, **({"sample_weight": w} if weighs else {}))
    expected = clone(inner).predict_then_learn(Z, y, sample_weight=w)
    np.testing.assert_array_equal(model.predict_then_learn(X, y, sample_weight=w), expected)
    assert (clone(model).predict_then_learn(X, y) != expected).any()


def test_a_pipeline_scores_as_its_last_step_decides():
    X, y = rows_and_labels(12, 300, 3)
    model = StreamPipeline([StandardScaler(), CostSensitive(OnlineLDC(), {0: 5.0})]).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))
    assert (model.predict_proba(X).argmax(axis=1) != model.predict(X)).any()


def test_whole_weights_in_fit_of_a_pipeline_are_repeated_rows():
    X, y = rows_and_labels(15, 60, 3)
    w = np.arange(60) % 4
    model = StreamPipeline([StandardScaler(), OnlineLDC()])
    weighed = clone(model).fit(X, y, sample_weight=w).predict_proba(X)
    np.testing.assert_allclose(weighed, model.fit(X.repeat(w, axis=0), y.repeat(w)).predict_proba(X), atol=1e-9)


def test_weights_go_through_wrappers_and_pipelines_inside_each_other():
    X, y = rows_and_labels(12, 300, 3)
    w = np.random.default_rng(12).exponential(size=300)
    scaled = StandardScaler(), OnlineLDC(0.1, counts="soft")
    inside, outside = Recalibrated(StreamPipeline(scaled)), StreamPipeline([scaled[0], Recalibrated(scaled[1])])
    given = [model.predict_then_learn(X, y, sample_weight=w, with_proba=True) for model in (inside, outside)]
    np.testing.assert_allclose(given[0].proba, given[1].proba, atol=1e-12)


def test_what_a_decision_counts_is_counted_by_weight():
    """A threshold finds a share of the positive weight, sets cover a share of it all, costs go by weighted shares."""
    rng = np.random.default_rng(13)
    x, w = rng.normal(size=20_000), rng.choice([1.0, 9.0], 20_000)
    y = (rng.uniform(size=20_000) < 1 / (1 + np.exp(-2 * x))).astype(int)
    X = np.where(w > 1, x, x + 3)[:, None]  # light rows look more positive than they are
    late = np.arange(20_000) > 5000
    flagged = OnlineThreshold(OnlineLogistic(), "recall", target=0.8).predict_then_learn(X, y, sample_weight=w) == 1
    positive = late & (y == 1)
    assert abs(np.average(flagged[positive], weights=w[positive]) - 0.8) < 0.02
    assert abs(flagged[positive].mean() - 0.8) > 0.05
    model = PredictionSets(OnlineLogistic(), 0.8, step=0.02)
    sets = model.predict_set_then_learn(X, y, sample_weight=w)
    assert dumps(model) == dumps(clone(model).partial_fit(X, y, sample_weight=w))
    hits = sets[np.arange(20_000), y]
    assert abs(np.average(hits[late], weights=w[late]) - 0.8) < 0.005
    assert abs(hits[late].mean() - 0.8) > 0.01
    costs = CostSensitive(OnlineLogistic(), recalibrate=False).partial_fit(X, y, sample_weight=w)
    whole = np.average(y[-5000:], weights=w[-5000:])
    shares = costs._core.state()["class_shares"].ravel()
    assert abs(shares[1] - whole) < 0.03


@pytest.mark.parametrize("last", [KernelMeanClassifier(), MajorityClass(), Committee([OnlineLDC()]), SGDClassifier()])
def test_what_takes_no_weights_takes_none_inside_another(last):
    X, y = rows_and_labels(0, 40, 3)
    for model in (StreamPipeline([StandardScaler(), last]), Recalibrated(last), PredictionSets(StreamPipeline([last]))):
        for method in ("fit", "partial_fit", "predict_then_learn"):
            with pytest.raises(TypeError, match=f"sample_weight.*{type(last).__name__}|{type(last).__name__} takes no"):
                getattr(model, method)(X, y, sample_weight=np.ones(40))
        assert not model.__sklearn_is_fitted__()


def test_class_weights_by_label_reach_the_learner_inside():
    X, y = rows_and_labels(14, 300, 3, classes=2)
    inner = OnlineLogistic(0.1, class_weight={1: 9.0})
    w = np.where(y == 1, 9.0, 1.0)
    plain = OnlineLogistic(0.1).partial_fit(X, y, sample_weight=w)
    for model in (PredictionSets(inner), PredictionSets(inner, delay=20), PredictionSets(PredictionSets(inner))):
        np.testing.assert_allclose(model.partial_fit(X, y).predict_proba(X), plain.predict_proba(X), rtol=1e-12)
    with pytest.raises(InvalidParameter, match="weights or costs by label"):
        Committee([inner]).partial_fit(X, y)
    with pytest.raises(InvalidParameter, match="weights or costs by label inside a pipeline"):
        Recalibrated(StreamPipeline([StandardScaler(), inner])).partial_fit(X, y)


@pytest.mark.parametrize(
    "learner",
    [
        OnlineLogistic(0.1),
        Perceptron(0.5),
        PassiveAggressive(),
        BalancedWinnow(0.6),
        OnlineLDC(0.7),
        OnlineLDC(0.1, counts="soft"),
        OnlineLDC("auto", counts="soft"),
        TilingClassifier(24),
        WindowForest(3, 2),
        AutoClassifier(),
    ],
    ids=repr,
)
def test_class_weights_are_weights_of_rows(learner):
    X, y = rows_and_labels(7, 400, 3)
    X = np.abs(X)  # Winnow's features are not negative
    own = np.random.default_rng(8).uniform(0, 2, 400) * (np.arange(400) % 7 > 0)

    def scores(model, given, **weights):
        return clone(model).set_params(class_weight=given).partial_fit(X, y, **weights).decision_function(X)

    by_label = {0: 3.0, 2: 0.5}
    same = np.array([by_label.get(label, 1.0) for label in y.tolist()])
    np.testing.assert_array_equal(scores(learner, by_label), scores(learner, None, sample_weight=same))
    np.testing.assert_allclose(
        scores(learner, by_label, sample_weight=own), scores(learner, None, sample_weight=same * own), rtol=1e-9
    )
    counts, balanced = np.zeros(3), np.empty(400)
    for i, k in enumerate(y.tolist()):
        counts = (1 - 1 / 5000) * counts + (np.arange(3) == k)
        balanced[i] = counts.sum() / ((counts > 0).sum() * counts[k])
    np.testing.assert_allclose(
        scores(learner, "balanced"), scores(learner, None, sample_weight=balanced), rtol=1e-6, atol=1e-9
    )
    for bad in ("even", {0: -1.0}, {0: "much"}):
        with pytest.raises(InvalidParameter, match="class_weight"):
            clone(learner).set_params(class_weight=bad).fit(X, y)
