"""Pipelines over sparse rows and texts: scaling without means, hashing, single rows, copies and files."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from thalweg import (
    CCIPCA,
    CostSensitive,
    OnlineLDC,
    OnlineLinearRegression,
    OnlineLogistic,
    PassiveAggressive,
    RandomFeatures,
    RandomTilings,
    StandardScaler,
    StreamPipeline,
    TextHasher,
)
from thalweg.errors import InvalidInput, NotNumbers
from thalweg.pipeline import TargetEncodedClassifier
from thalweg.store import dumps, loads

SCALE = StandardScaler(with_mean=False, clip=10.0)
TEXTS = [f"{'good fine' if i % 3 else 'bad awful'} {'day' if i % 2 else 'night'} {i}" for i in range(300)]
OPINIONS = np.where(np.arange(300) % 3, "praise", "blame")
LABELLED = [
    StreamPipeline([SCALE, OnlineLogistic()]),
    StreamPipeline([SCALE, CostSensitive(OnlineLogistic(), {("a", "b"): 2.0})]),
    StreamPipeline([StandardScaler(with_mean=False, forgetting=0.05), PassiveAggressive()]),
]


def rows(seed: int = 0, count: int = 1500, width: int = 40) -> tuple[csr_array, np.ndarray]:
    """Rows of which a tenth is not zero, with features of very different units."""
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.integers(-3, 4, width)
    Z = np.where(rng.random((count, width)) < 0.1, rng.normal(size=(count, width)), 0.0)
    return csr_array(Z * units), Z @ rng.normal(size=width)


def items(X: csr_array, row: int) -> dict[int, float]:
    part = slice(X.indptr[row], X.indptr[row + 1])
    return dict(zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True))


@pytest.mark.parametrize("forgetting", [0.0, 0.1])
def test_values_are_divided_by_the_root_mean_square_of_those_before(forgetting):
    X, _ = rows(count=300)
    X.data[::50] = 0.0  # zeros that are stored are zeros
    weights = np.random.default_rng(1).choice([0.0, 1.0, 2.5], 300)
    scaler = StandardScaler(with_mean=False, forgetting=forgetting, clip=5.0)
    found = scaler.transform_then_learn(X, sample_weight=weights)
    most = 1 / forgetting if forgetting else np.inf
    counts, squares = np.zeros(40), np.zeros(40)
    for i in range(300):
        for column, value in items(X, i).items():
            scale = np.sqrt(squares[column]) if counts[column] else abs(value) or 1.0
            assert found[i, column] == pytest.approx(np.clip(value / scale, -5.0, 5.0), rel=1e-12)
            if weights[i] and value:
                counts[column] = min(counts[column] + weights[i], most)
                squares[column] += min(1.0, weights[i] / counts[column]) * (value**2 - squares[column])
    np.testing.assert_allclose(scaler.scale_.toarray()[0], np.sqrt(squares), rtol=1e-12)
    assert scaler.n_samples_seen_ == weights.sum()
    assert scaler.transform_one(items(X, 3)) == pytest.approx(items(scaler.transform(X), 3), rel=1e-15)


@pytest.mark.parametrize("model", LABELLED, ids=repr)
def test_a_sparse_pipeline_is_its_steps_one_by_one(model):
    X, score = rows()
    y = np.where(score > 0, "a", "b")
    *_, learner = clone(model).named_steps.values()
    scaler = clone(next(iter(model.named_steps.values())))
    expected = learner.predict_then_learn(scaler.transform_then_learn(X), y)
    whole = clone(model)
    assert (whole.predict_then_learn(X, y) == expected).all()
    assert (expected[500:] == y[500:]).mean() > 0.8
    np.testing.assert_array_equal(whole.decision_function(X), learner.decision_function(scaler.transform(X)))

    single = clone(model).partial_fit(X[:1], y[:1])
    for i in range(1, len(y)):
        assert single.predict_one(items(X, i)) == expected[i]
        single.learn_one(items(X, i), y[i])
    np.testing.assert_array_equal(single.decision_function(X), whole.decision_function(X))
    assert whole.predict_one(items(X, 7)) == whole.predict(X)[7]

    first = clone(model).partial_fit(X[:700], y[:700])
    for twin in (copy.deepcopy(first), pickle.loads(pickle.dumps(first)), loads(dumps(first))):
        np.testing.assert_array_equal(
            twin.partial_fit(X[700:], y[700:]).decision_function(X), whole.decision_function(X)
        )


def test_late_labels_and_test_sets_of_sparse_rows():
    X, score = rows(count=600)
    y = np.where(score > 0, "a", "b")
    late = np.concatenate([np.arange(20), *([i, ~(i - 20)] for i in range(20, 600))])
    expected = np.empty(600, dtype="<U1")
    model, single = clone(LABELLED[0]), clone(LABELLED[0])
    found, _ = model.follow(X, y, late)
    for i in range(600):
        expected[i] = single.predict(X[[i]])[0] if i > 20 else ""
        if i >= 20:
            single.partial_fit(X[[i - 20]], y[[i - 20]])
    assert (found == expected).all()
    tests, labels = X[np.arange(1200) % 600], y[np.arange(1200) % 600].reshape(600, 2)
    mistakes = clone(LABELLED[0]).learn_then_test(X, y, tests, labels)
    assert mistakes[300:].mean() < 0.5


def test_regression_behind_a_scaler_of_sparse_rows():
    X, score = rows()
    model = StreamPipeline([SCALE, OnlineLinearRegression(0.02)])
    errors = model.predict_then_learn(X, score) - score
    assert np.square(errors[1000:]).mean() < 0.1 * score.var()
    assert model.coef_.shape == (1, 40)


@pytest.mark.parametrize("scaled", [False, True])
def test_texts_are_hashed_by_the_first_step(scaled):
    steps = [TextHasher(ngrams=(1, 2)), *([SCALE] * scaled), OnlineLogistic(1.0, per_feature=True)]
    model, single = StreamPipeline(steps), StreamPipeline(steps)
    X = TextHasher(ngrams=(1, 2)).transform(TEXTS)
    expected = StreamPipeline(steps[1:]).partial_fit(X, OPINIONS)
    assert (model.predict_then_learn(TEXTS, OPINIONS)[50:] == OPINIONS[50:]).all()
    for text, opinion in zip(TEXTS, OPINIONS, strict=True):
        single.predict_one(text)
        single.learn_one(text, opinion)
    for each in (model, single, loads(dumps(model)), pickle.loads(pickle.dumps(single))):
        np.testing.assert_array_equal(each.decision_function(TEXTS), expected.decision_function(X))
        assert each.n_features_in_ == 2**20
        assert each.predict_one("an awful night") == "blame"
    assert [type(step) for step in model.named_steps.values()] == [type(step) for step in steps]
    before = dumps(model)
    assert (model.predict(X) == model.predict(TEXTS)).all()  # hashed before
    for wrong in ([3.0], X[:2, :3].toarray(), X[:2, :3]):
        with pytest.raises(InvalidInput, match="text"):
            model.partial_fit(wrong, ["praise"] * np.shape(wrong)[0])
    with pytest.raises(InvalidInput, match="must hold texts, got 3 of type int"):
        model.learn_one(3, "praise")
    assert dumps(model) == before


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (StandardScaler(), r"mean.*use StandardScaler\(with_mean=False\)"),
        (CCIPCA(), "dense"),
        (RandomFeatures(), "dense"),
        (RandomTilings(), "dense"),
        (StreamPipeline([StandardScaler(), OnlineLogistic()]), "its step 'standardscaler' does"),
        (StreamPipeline([SCALE, RandomFeatures(), OnlineLogistic()]), "its step 'randomfeatures' does"),
        (StreamPipeline([SCALE, OnlineLDC()]), "its step 'onlineldc' does"),
        (StreamPipeline([SCALE, SCALE]), "ends in a learner"),
        (TargetEncodedClassifier(OnlineLogistic(), [0]), "takes dense rows"),
    ],
    ids=repr,
)
def test_what_needs_dense_rows_says_why(model, reason):
    X, score = rows(count=20)
    with pytest.raises(NotNumbers, match=reason):
        model.fit(X, score > 0)
    with pytest.raises(NotNumbers, match=reason):
        model.partial_fit(X, score > 0)


def test_fit_forgets_whether_rows_were_dense():
    X, score = rows()
    wide = csr_array((X.data, X.indices, X.indptr), shape=(1500, 2**30))
    model = OnlineLogistic().fit(X.toarray(), score > 0).fit(wide, score > 0)
    expected = OnlineLogistic().fit(wide, score > 0)
    np.testing.assert_array_equal(model.decision_function(wide), expected.decision_function(wide))
    loaded = loads(dumps(model))
    np.testing.assert_array_equal(loaded.decision_function(wide), expected.decision_function(wide))
