"""Dict rows with features that come and go: what they mean, for each learner that claims to grow."""

import copy
import pickle
from collections import OrderedDict
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest

from thalweg import (
    CCIPCA,
    AutoClassifier,
    AutoRegressor,
    BalancedWinnow,
    Committee,
    HiraokaLDA,
    KernelMeanClassifier,
    LearnNSE,
    OnlineLDC,
    OnlineLinearRegression,
    OnlineLogistic,
    PassiveAggressive,
    Perceptron,
    RandomFeatures,
    StandardScaler,
    StreamPipeline,
    TrendForecast,
)
from thalweg.errors import InvalidInput
from thalweg.river import to_river
from thalweg.river.open_learner import widen
from thalweg.store import dumps

pytest.importorskip("river", reason="River is not installed")

GROWING = [
    OnlineLDC(),
    OnlineLDC(0.05, counts="soft", ridge=1e-3),
    OnlineLDC(warmup=1000),
    OnlineLDC("auto", counts="soft"),
    AutoClassifier(curved=False),  # kernel means with a budget: see below
    Perceptron(averaged=True),
    BalancedWinnow(),
    HiraokaLDA(),
    PassiveAggressive(),
    OnlineLogistic(),
    TrendForecast(OnlineLDC()),
    KernelMeanClassifier(),  # with a budget it holds densities, which mean something else over more features
    Committee([OnlineLDC(), Perceptron()]),
    StreamPipeline([StandardScaler(), OnlineLDC()]),
    StreamPipeline([CCIPCA(2), OnlineLogistic()]),
]
#: A column that was always 0 has left these exactly as they would be without it.
AS_IF_ALWAYS_ZERO = [
    PassiveAggressive(),
    OnlineLogistic(),
    Perceptron(start_scale=0.0),
    KernelMeanClassifier(budget=20, sigma=1.0),
    KernelMeanClassifier(),
    OnlineLDC(warmup=1000),
]


def rows(n=200, p=3, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    return rng.normal(size=(n, p)) + np.eye(max(classes, p))[y][:, :p] * 2, y


def dicts(X, names="abcdefgh"):
    return [dict(zip(names, row, strict=False)) for row in X.tolist()]


@pytest.mark.parametrize("model", GROWING, ids=repr)
def test_room_for_new_features_changes_no_answer(model):
    X, y = rows()
    model = copy.deepcopy(model).partial_fit(X, y)
    before = model.decision_function(X)
    widen(model, 7)
    after = model.decision_function(np.pad(X, ((0, 0), (0, 4))))
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-12)
    assert model.n_features_in_ == 7
    wider, _ = rows(p=7, seed=1)
    assert np.isfinite(model.partial_fit(wider, y).decision_function(wider)).all()


@pytest.mark.parametrize("model", AS_IF_ALWAYS_ZERO, ids=repr)
def test_a_new_feature_was_zero_all_the_time(model):
    X, y = rows(n=300, p=5)
    X[:150, 3:] = 0.0
    whole, grown = copy.deepcopy(model).partial_fit(X, y), to_river(model)
    for i, (row, label) in enumerate(zip(dicts(X), y.tolist(), strict=True)):
        grown.learn_one(row if i >= 150 else dict(list(row.items())[:3]), label)
    assert grown.feature_names_ == tuple("abcde")
    np.testing.assert_allclose(grown.learner_.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("model", [AutoRegressor(curved=False), AutoRegressor()], ids=repr)
def test_a_mixture_of_regressors_grows(model, width):
    rng = np.random.default_rng(1)
    X, noise = rng.normal(size=(1200, width + 1)), rng.normal(size=1200) * 0.1
    X[:400, width:] = 0.0
    y = X.sum(axis=1) + noise
    whole, grown = to_river(model), to_river(model)
    errors = np.empty((2, 1200))
    for i, (row, target) in enumerate(zip(dicts(X), y.tolist(), strict=True)):
        known = row if i >= 400 else dict(list(row.items())[:width])
        for place, (each, x) in enumerate(((whole, row), (grown, known))):
            errors[place, i] = each.predict_one(x) - target
            each.learn_one(x, target)
    assert len(grown.feature_names_) == width + 1
    always, later = np.square(errors[:, 800:]).mean(axis=1)
    assert later < 0.2  # 1 and more without the feature
    if not model.curved:  # not the same: how often a feature gets its ridge back depends on how many there are
        assert later == pytest.approx(always, rel=0.03)


@pytest.mark.parametrize("model", [OnlineLinearRegression(solver="rls"), OnlineLinearRegression(rate=0.01)], ids=repr)
def test_a_new_feature_of_a_regression_was_zero_all_the_time(model):
    X, _ = rows(n=300, p=4)
    X[:150, 3] = 0.0
    y = X @ [1.0, -2.0, 0.5, 3.0] + 1.0
    whole, grown = copy.deepcopy(model).partial_fit(X, y), to_river(model)
    for i, (row, target) in enumerate(zip(dicts(X), y.tolist(), strict=True)):
        grown.learn_one(row if i >= 150 else {name: row[name] for name in "abc"}, target)
    np.testing.assert_allclose(grown.learner_.coef_, whole.coef_, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("model", [StandardScaler(), CCIPCA(), StreamPipeline([StandardScaler(), CCIPCA()])], ids=repr)
def test_a_new_feature_of_a_transformer_was_zero_all_the_time(model):
    X, _ = rows(n=300, p=4)
    X[:150, 3] = 0.0
    whole, grown = copy.deepcopy(model), to_river(model)
    for i, row in enumerate(dicts(X)):
        whole.learn_one(X[i])
        grown.learn_one(row if i >= 150 else {name: row[name] for name in "abc"})
    ours = np.array([list(grown.transform_one(row).values()) for row in dicts(X)])
    np.testing.assert_allclose(ours, whole.transform(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e6])
@pytest.mark.parametrize("model", [OnlineLDC(0.01, counts="soft"), AutoClassifier()], ids=repr)
def test_a_feature_that_comes_late_is_soon_of_use_whatever_its_unit(model, scale):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=6000)
    noise, telling = rng.normal(size=6000), scale * (rng.normal(size=6000) + 4 * y)
    grown = to_river(model)
    right = []
    for i, label in enumerate(y.tolist()):
        x = {"noise": noise[i]} | ({"telling": telling[i]} if i >= 5000 else {})
        right.append(grown.predict_one(x) == label)
        grown.learn_one(x, label)
    assert np.mean(right[4000:5000]) < 0.6
    assert np.mean(right[5100:]) > 0.9


@pytest.mark.parametrize("missing", ["zero", "mean"])
def test_what_a_row_lacks(missing):
    X, y = rows()
    X += 50.0
    model = to_river(OnlineLDC(), missing=missing)
    for row, label in zip(dicts(X), y.tolist(), strict=True):
        model.learn_one(row, label)
    stand_in = X[:, 1].mean() if missing == "mean" else 0.0
    for row in dicts(X[:20]):
        asked = [row["a"], stand_in, row["c"]]
        given = model.predict_proba_one({"c": row["c"], "a": row["a"]})
        np.testing.assert_allclose(list(given.values()), model.learner_.predict_proba([asked])[0], rtol=1e-6)


def test_a_learner_of_members_does_not_look_at_features_that_come_later():
    X, y = rows(p=4)
    model, plain = to_river(LearnNSE(OnlineLDC(), block_size=50)), to_river(LearnNSE(OnlineLDC(), block_size=50))
    for i, (row, label) in enumerate(zip(dicts(X), y.tolist(), strict=True)):
        known = {name: row[name] for name in "abc"}
        model.learn_one(row if i >= 60 else known, label)
        plain.learn_one(known, label)
    assert model.feature_names_ == tuple("abc")
    assert [model.predict_one(row) for row in dicts(X)] == plain.learner_.predict(X[:, :3]).tolist()


@pytest.mark.parametrize("bad", [{"a": 1.0, "b": "x"}, {"a": 1.0, "new": float("nan")}, {"a": 1.0, "new": "x"}])
def test_a_row_that_is_refused_changes_nothing(bad):
    model = to_river(OnlineLDC(), missing="mean")
    for row, label in zip(dicts(rows(p=2)[0]), rows()[1].tolist(), strict=True):
        model.learn_one(row, label)
    before = pickle.dumps(model)
    with pytest.raises(InvalidInput, match=r"column '(b|new)'"):
        model.learn_one(bad, 0)
    assert pickle.dumps(model) == before


WAYS_TO_WRITE = {
    "reversed": lambda row: dict(reversed(row.items())),
    "whole numbers": lambda row: {name: int(value) for name, value in row.items()},
    "fractions": lambda row: {name: Fraction(value) for name, value in row.items()},
    "names made anew": lambda row: {name.encode().decode(): np.float32(value) for name, value in row.items()},
    "ordered dict": OrderedDict,
    "no dict": MappingProxyType,
    "without noughts": lambda row: {name: value for name, value in row.items() if value},
}
ROWS_WRITTEN = [("zero", way) for way in WAYS_TO_WRITE] + [("mean", way) for way in list(WAYS_TO_WRITE)[:-1]]


@pytest.mark.parametrize(("missing", "way"), ROWS_WRITTEN)
def test_a_row_is_the_same_however_it_is_written(missing, way):
    written = WAYS_TO_WRITE[way]
    X, y = rows(n=300)
    plain, other = to_river(OnlineLDC(), missing=missing), to_river(OnlineLDC(), missing=missing)
    for i, (row, label) in enumerate(zip(dicts(X.round()), y.tolist(), strict=True)):
        plain.learn_one(row, label)
        other.learn_one(written(row) if i > 10 else row, label)
        assert plain.predict_one(row) == other.predict_one(written(row))
    assert dumps(plain.learner_) == dumps(other.learner_)
    assert pickle.dumps(plain._vocabulary.means()) == pickle.dumps(other._vocabulary.means())


def test_a_value_that_changes_its_row_while_it_is_read_does_no_harm():
    class Nasty:
        def __float__(self):
            row.clear()
            return 1.0

    model = to_river(OnlineLDC())
    for i in range(20):
        model.learn_one({"a": float(i), "b": 1.0 * (i % 3)}, i % 2)
    row = {"a": Nasty(), "b": 2.0}
    model.learn_one(row, 0)
    assert sum(model.predict_proba_one({"a": 1.0}).values()) == pytest.approx(1.0)


def test_names_may_be_anything_and_an_empty_row_is_a_row():
    model = to_river(OnlineLDC())
    model.learn_one({}, 1)
    assert model.predict_one({}) is None
    for i in range(40):
        model.learn_one({("pair", 1): float(i), 7: -float(i % 5), "word": 1.0 * (i % 3)}, i >= 20)
    assert set(model.feature_names_) == {("pair", 1), 7, "word"}
    assert model.predict_one({("pair", 1): 39.0}) is True
    assert model.predict_one({}) in (True, False)


@pytest.mark.parametrize("missing", ["zero", "mean"])
@pytest.mark.parametrize(
    "twin_of", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model)), lambda model: model.clone(None, True)]
)
def test_copies_go_on_as_the_original_would(missing, twin_of):
    X, y = rows()
    model = to_river(OnlineLDC(), missing=missing)
    for row, label in zip(dicts(X[:100]), y.tolist(), strict=False):
        model.learn_one(row, label)
    twin = twin_of(model)
    for row, label in zip(dicts(X[100:]), y[100:].tolist(), strict=True):
        row.pop("b")
        assert model.predict_proba_one(row) == twin.predict_proba_one(row)
        model.learn_one(row | {"new": 1.0}, label)
        twin.learn_one(row | {"new": 1.0}, label)
    assert dumps(model.learner_) == dumps(twin.learner_)
    assert model.feature_names_ == twin.feature_names_


def test_random_features_keep_their_frequencies_when_a_feature_comes():
    model = to_river(RandomFeatures(8))
    model.learn_one({"a": 1.0, "b": 2.0})
    before = model.transform_one({"a": 0.3, "b": 0.1})
    model.learn_one({"a": 1.0, "b": 2.0, "c": 1.0})
    assert model.transform_one({"a": 0.3, "b": 0.1}) == pytest.approx(before)
    assert model.transform_one({"a": 0.3, "b": 0.1, "c": 1.0}) != pytest.approx(before)
