"""Contributions against the definition of Shapley values, summed over all orders, and what any model must give."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array
from sklearn.base import is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from thalweg import (
    AutoClassifier,
    AutoRegressor,
    KernelMeanClassifier,
    OnlineLDC,
    OnlineLogistic,
    Perceptron,
    StreamPipeline,
    TextHasher,
    TilingClassifier,
    WindowForest,
)
from thalweg.catalogue import MODELS, make_model
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.explain import contributions
from thalweg.explain.importance import scores_of

CATALOGUE = [(task, name) for task, models in MODELS.items() for name in models]


def stream(rows, features, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    score = X[:, 0] * X[:, 1] - X[:, -1] + 0.3 * rng.normal(size=rows)
    return X, np.digitize(score, [-0.5, 0.5][: classes - 1]), score


def by_definition(model, row, background, output):
    """For every background row and every order of the features, who changes the score by how much."""
    count = len(row)
    found = np.zeros(count)
    orders = list(permutations(range(count)))
    for other in background:
        for order in orders:
            mixed = other.copy()
            before = scores_of(model, mixed[np.newaxis])[0, output]
            for feature in order:
                mixed[feature] = row[feature]
                after = scores_of(model, mixed[np.newaxis])[0, output]
                found[feature] += (after - before) / (len(orders) * len(background))
                before = after
    return found


@pytest.mark.parametrize(("task", "name"), CATALOGUE, ids=[name for _, name in CATALOGUE])
def test_adds_up_for_every_model_of_the_catalogue(task, name):
    X, labels, numbers = stream(330, 9)
    model = make_model(name, task=task).partial_fit(
        X[:300], labels[:300] if task == "classification" else numbers[:300]
    )
    found = contributions(model, X[320:323], X[300:306])
    assert found.values.shape == (3, 9)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), found.score, rtol=1e-9, atol=1e-9)
    wanted = scores_of(model, X[320:323])
    if task == "classification":
        places = np.searchsorted(model.classes_, model.predict(X[320:323]))
        np.testing.assert_array_equal(found.labels, model.classes_[places])
        wanted = wanted[np.arange(3), places]
    np.testing.assert_allclose(found.score, np.ravel(wanted), rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        AutoClassifier(),
        OnlineLDC(0.05),
        TilingClassifier(40, depth=2),
        KernelMeanClassifier(),
        WindowForest(),
        Perceptron(),
        LogisticRegression(),
        make_model("auto", task="regression"),
        make_model("linear", task="regression"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_is_what_the_definition_says(model):
    X, labels, numbers = stream(230, 4)
    model.fit(X[:200], labels[:200] if hasattr(model, "decision_function") else numbers[:200])
    background = X[200:203]
    found = contributions(model, X[220:221], background)
    output = 0 if found.labels is None else int(np.searchsorted(model.classes_, found.labels[0]))
    np.testing.assert_allclose(found.values[0], by_definition(model, X[220], background, output), atol=1e-9)
    assert (found.standard_error == 0.0).all()


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_paths_come_near_the_exact_values(seed, features):
    X, labels, _ = stream(160, features, seed)
    model = OnlineLDC(0.05).fit(X[:100], labels[:100])
    exact = contributions(model, X[150:152], X[100:150])
    some = contributions(model, X[150:152], X[100:150], paths=8, seed=seed)
    np.testing.assert_allclose(some.values.sum(axis=1), exact.values.sum(axis=1), atol=1e-12)
    assert (np.abs(some.values - exact.values) <= 6.0 * some.standard_error + 1e-12).all()


def test_groups_share_what_their_features_contribute():
    X, _, numbers = stream(120, 5)
    model = make_model("linear", task="regression").fit(X[:100], numbers[:100])
    single = contributions(model, X[110:112], X[100:110])
    grouped = contributions(model, X[110:112], X[100:110], groups={"first": [0, 3], "last": 4})
    assert grouped.names == ("first", "last", "other features")
    expected = np.stack(
        [single.values[:, [0, 3]].sum(axis=1), single.values[:, 4], single.values[:, [1, 2]].sum(axis=1)]
    )
    np.testing.assert_allclose(grouped.values, expected.T, atol=1e-12)


@pytest.mark.parametrize("model", [OnlineLogistic(0.1), Perceptron(), AutoClassifier()], ids=lambda m: type(m).__name__)
def test_sparse_rows_are_explained_by_their_values(model):
    rng = np.random.default_rng(3)
    X = csr_array(random_array((200, 3000), density=0.004, rng=rng, format="csr"))
    y = np.asarray(X[:, :1500].sum(axis=1) > X[:, 1500:].sum(axis=1)).astype(int)
    model.partial_fit(X[:190], y[:190])
    found = contributions(model, X[190:])
    assert found.names is None
    np.testing.assert_array_equal(found.values.indices, X[190:].indices)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), found.score, atol=1e-9)
    assert len(found.top(0, 3)) == 3
    with pytest.raises(InvalidParameter, match="must be left out of sparse rows"):
        contributions(model, X[190:], groups={"first": [0, 3]})


@pytest.mark.parametrize("last", [AutoClassifier(), AutoRegressor()], ids=lambda m: type(m).__name__)
def test_texts_are_explained_by_their_words(last):
    rng = np.random.default_rng(4)
    late = rng.random(300) < 0.5
    texts = [f"{'Late' if each else 'fast'} delivery number{at % 9}" for at, each in enumerate(late)]
    model = StreamPipeline([TextHasher(), last]).partial_fit(texts, late.astype(float if is_regressor(last) else str))
    asked = ["late delivery", "a fast van"]
    for rows in (asked, pd.DataFrame({"note": asked})):
        found = contributions(model, rows)
        assert [next(iter(found.top(row, 1))) for row in (0, 1)] == ["text: late", "text: fast"]
        np.testing.assert_allclose(found.base + found.values.sum(axis=1), found.score, atol=1e-9)
    hashed = contributions(model, TextHasher().transform(asked))
    np.testing.assert_array_equal(hashed.values.data, found.values.data)
    with pytest.raises(InvalidParameter, match="left out for texts"):
        contributions(model, asked, groups={"a": [0]})
    with pytest.raises(InvalidInput, match=r"X must hold numbers .* behind a TextHasher"):
        contributions(make_pipeline(TextHasher(), LogisticRegression()).fit(texts, late), asked)


def test_what_cannot_be_explained_is_refused():
    X, labels, numbers = stream(50, 3)
    model = OnlineLDC(0.1).fit(X, labels)
    for given_, rule in (
        ({"background": X[:, :2]}, "features of X"),
        ({"background": X, "label": 7}, "one of the classes"),
        ({"background": X, "paths": 3}, "even integer"),
        ({"background": X, "groups": {"a": [0, 0]}}, "each feature once"),
        ({"background": X, "groups": {"a": [5]}}, "names or places"),
    ):
        with pytest.raises((InvalidInput, InvalidParameter), match=rule):
            contributions(model, X[:1], **given_)
    regressor = make_model("linear", task="regression").fit(X, np.stack([numbers, -numbers], axis=1))
    with pytest.raises(InvalidParameter, match="target from 0 to 1"):
        contributions(regressor, X[:1], X)
    both = [contributions(regressor, X[:1], X, label=at).values for at in (0, 1)]
    np.testing.assert_allclose(both[0], -both[1], atol=1e-6)
