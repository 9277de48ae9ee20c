"""River's dicts as sparse rows: the model that dense rows would give, without an array over all features met."""

from __future__ import annotations

import copy
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

pytest.importorskip("river", reason="River is not installed")

from thalweg import (
    AutoClassifier,
    BalancedWinnow,
    Committee,
    CostSensitive,
    MajorityClass,
    OnlineLDC,
    OnlineLinearRegression,
    OnlineLogistic,
    PassiveAggressive,
    Perceptron,
    StandardScaler,
    StreamPipeline,
)
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.river import open_learner, to_river

SAME = [
    Perceptron(start_scale=0.0),
    PassiveAggressive(),
    OnlineLogistic(),
    OnlineLogistic(1.0, per_feature=True),
    BalancedWinnow(),
    MajorityClass(),
    Committee([OnlineLogistic(), PassiveAggressive()]),
    CostSensitive(OnlineLogistic()),
    OnlineLinearRegression(0.005),
]
ASKED = [AutoClassifier(), StreamPipeline([StandardScaler(with_mean=False), OnlineLogistic()])]


def documents(count: int = 400, seed: int = 0) -> list[tuple[dict[str, float], bool]]:
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=300)
    found = []
    for _ in range(count):
        words = np.unique(rng.zipf(1.3, size=12) % 300)
        found.append(({f"w{word}": float(rng.integers(1, 4)) for word in words}, bool(weights[words].sum() > 0)))
    return found


def walk(model, rows):
    given = []
    for x, y in rows:
        given.append(model.predict_one(x))
        model.learn_one(x, y)
    return given


@pytest.fixture
def no_widening(monkeypatch):
    def refuse(*_):
        raise AssertionError("widened")

    monkeypatch.setattr(open_learner, "widen", refuse)


@pytest.mark.parametrize("model", SAME, ids=repr)
def test_the_model_is_that_of_rows_over_all_features(model):
    rows = documents()
    sparse = to_river(model)
    walk(sparse, rows)
    assert sparse.learner_._core.is_sparse
    names = sparse.feature_names_
    assert names == tuple(dict.fromkeys(word for x, _ in rows for word in sorted(x)))
    assert sparse.learner_.n_features_in_ == len(names)
    X = np.array([[x.get(name, 0.0) for name in names] for x, _ in rows])
    whole = clone(model).partial_fit(X, [y for _, y in rows])
    given = [sparse.predict_one(x) for x, _ in rows]
    if isinstance(model, OnlineLinearRegression):
        np.testing.assert_allclose(given, whole.predict(X), atol=1e-9)
        np.testing.assert_allclose(sparse.learner_.coef_, whole.coef_, atol=1e-9)
        return
    assert (np.array(given) == whole.predict(X)).mean() > 0.99  # a tie may fall on either side
    np.testing.assert_allclose(sparse.learner_.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9)
    if hasattr(model, "predict_proba"):
        known, more = rows[0][0], rows[0][0] | {"never seen": 0.0}
        assert sparse.predict_proba_one(more) == sparse.predict_proba_one(known)
        assert list(sparse.predict_proba_one(known).values()) == pytest.approx(whole.predict_proba(X[:1])[0], abs=1e-9)


@pytest.mark.usefixtures("no_widening")
@pytest.mark.parametrize("model", [*SAME, *ASKED], ids=repr)
def test_copies_continue_to_the_same_predictions(model):
    rows = documents()
    first = to_river(model, sparse=True)
    walk(first, rows[:200])
    twins = [copy.deepcopy(first), pickle.loads(pickle.dumps(first)), first.clone(include_attributes=True)]
    expected = walk(first, rows[200:])
    for twin in twins:
        assert walk(twin, rows[200:]) == expected
        assert twin.feature_names_ == first.feature_names_
    assert first.clone().feature_names_ == ()
    assert first._raw_memory_usage > 0


@pytest.mark.usefixtures("no_widening")
@pytest.mark.parametrize("model", [OnlineLogistic(), OnlineLinearRegression(0.005), *ASKED], ids=repr)
def test_frames_are_the_same_rows(model):
    rng = np.random.default_rng(1)
    early = pd.DataFrame(rng.integers(0, 3, (50, 3)), columns=["a", "b", "c"])
    later = pd.DataFrame(rng.integers(0, 3, (50, 3)), columns=["d", "c", "a"])
    y = pd.Series(rng.random(50) < 0.5)
    single, many = to_river(model, sparse=True), to_river(model, sparse=True)
    for frame in (early, later):
        for x, label in zip(frame.to_dict("records"), y, strict=True):
            single.learn_one(x, label)
        many.learn_many(frame, y)
    many.learn_one({"a": 1, "e": 2.0}, True)
    single.learn_one({"a": 1, "e": 2.0}, True)
    assert many.feature_names_ == ("a", "b", "c", "d", "e")
    asked = later.assign(unknown=1.0)
    predicted = many.predict_many(asked).tolist()
    assert predicted == [single.predict_one(row) for row in asked.to_dict("records")]
    assert predicted == single.predict_many(asked).tolist()


def test_rows_are_dicts_of_any_kind():
    expected = to_river(OnlineLogistic())
    expected.learn_one({"a": 2.0, "b": 1.0}, "x")
    expected.learn_one({}, "y")
    expected.learn_one({"b": 3.0}, "y")
    other = to_river(OnlineLogistic())
    other.learn_one(Counter("aab"), "x")
    other.learn_one({}, "y")
    other.learn_one({"b": np.float32(3)}, "y")
    assert other.predict_proba_one({"b": 1}) == expected.predict_proba_one({"b": 1.0})
    numbered = to_river(OnlineLogistic())
    numbered.learn_one({("a", 1): 2.0, 7: True}, "x")
    assert numbered.feature_names_ == (("a", 1), 7)


@pytest.mark.parametrize("bad", [{"a": float("nan")}, {"a": "text"}, {"new": 1.0, "b": float("inf")}])
def test_a_refused_row_changes_nothing(bad):
    model = to_river(OnlineLogistic())
    with pytest.raises(InvalidInput):
        model.learn_one(bad, "x")
    assert (model.predict_one({"a": 1.0}), model.predict_proba_one({"a": 1.0}), model.feature_names_) == (None, {}, ())
    model.learn_one({"a": 1.0}, "x")
    with pytest.raises(InvalidInput):
        model.learn_one(bad, "z")
    with pytest.raises(InvalidInput):
        model.predict_one(bad)
    assert (model.feature_names_, model.learner_.classes_.tolist()) == (("a",), ["x"])


def test_who_takes_sparse_rows_and_who_must_be_asked():
    x = {"a": 1.0, "b": 0.5}
    for model in (
        *ASKED,
        Committee([AutoClassifier(), OnlineLogistic()]),
        OnlineLDC(),
        OnlineLinearRegression(solver="rls"),
    ):
        assert not to_river(model)._is_sparse
    assert not to_river(OnlineLogistic(), missing="mean")._is_sparse
    asked = to_river(AutoClassifier(), sparse=True)
    asked.learn_one(x, True)
    assert "logistic 3 per feature" in asked.learner_.members_
    for model, options in (
        (OnlineLDC(), {}),
        (StandardScaler(with_mean=False), {}),
        (OnlineLogistic(), {"missing": "mean"}),
    ):
        with pytest.raises(InvalidParameter, match="'sparse' parameter of to_river"):
            to_river(model, sparse=True, **options)
