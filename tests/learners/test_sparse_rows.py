"""Sparse rows against dense ones: the same predictions and the same model, whatever the features and their numbers."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix, hstack
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from thalweg import (
    AutoClassifier,
    AutoRegressor,
    BalancedWinnow,
    Committee,
    CostSensitive,
    MajorityClass,
    NoChange,
    OnlineLDC,
    OnlineLinearRegression,
    OnlineLogistic,
    PassiveAggressive,
    Perceptron,
)
from thalweg.errors import InvalidInput, NotNumbers
from thalweg.kernels import compiled
from thalweg.learners import auto
from thalweg.learners.base.mixture import mixed
from thalweg.rates import InverseSqrt
from thalweg.store import dumps, load, loads, save

pytestmark = pytest.mark.filterwarnings("ignore:X is sparse")
CLASSIFIERS = [
    Perceptron(),
    Perceptron(averaged=True, margin=0.1),
    BalancedWinnow(),
    PassiveAggressive(C=0.1),
    OnlineLogistic(),
    OnlineLogistic(0.5, penalty=0.05),
    OnlineLogistic(1.0, per_feature=True, forgetting=0.01),
    OnlineLogistic(0.1, per_feature=True, initial_squares=0.001),
    OnlineLogistic(InverseSqrt(1.0), class_weight="balanced"),
    NoChange(),
    MajorityClass(),
    Committee([OnlineLogistic(), Perceptron(), BalancedWinnow()], persistence=True),
    CostSensitive(OnlineLogistic(), {("a", "b"): 2.0}),
]
REGRESSORS = [
    OnlineLinearRegression(),
    OnlineLinearRegression(0.1, penalty=0.01, intercept=False),
    OnlineLinearRegression(averaged=True),
    OnlineLinearRegression(0.05, averaged=True, forgetting=0.02, penalty=0.05),
    OnlineLinearRegression(0.2, averaged=True, forgetting=0.05, penalty=4.9),
    OnlineLinearRegression(0.3, per_feature=True),
]
BOTH = pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=str)


def rows(seed: int, count: int = 300, width: int = 40) -> tuple[csr_array, np.ndarray, np.ndarray]:
    """Rows of which a tenth is not zero, with labels and with numbers that depend on them."""
    rng = np.random.default_rng(seed)
    X = csr_array(np.where(rng.random((count, width)) < 0.1, rng.normal(size=(count, width)), 0.0))
    score = X @ rng.normal(size=width) + 0.1 * rng.normal(size=count)
    return X, np.digitize(score, [-0.7, 0.7]).astype(str), score


def scores(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def targets(model, labels, numbers):
    return labels if hasattr(model, "classes_") or hasattr(model, "decision_function") else numbers


@pytest.mark.quick(9)
@pytest.mark.filterwarnings("ignore::thalweg.errors.Diverging")
@BOTH
@given(seed=st.integers(0, 10**6), cut=st.integers(1, 299))
def test_sparse_rows_are_learned_as_dense_ones(model, seed, cut):
    X, labels, numbers = rows(seed)
    if isinstance(model, CostSensitive):
        labels = np.where(labels == "0", "a", "b")
    y = targets(model, labels, numbers)
    dense, sparse = clone(model), clone(model)
    for part in (slice(0, cut), slice(cut, None)):
        expected, got = (
            dense.predict_then_learn(X[part].toarray(), y[part]),
            sparse.predict_then_learn(X[part], y[part]),
        )
        if y.dtype.kind == "U":
            assert (expected == got).mean() > 0.99  # a tie may fall on either side
        else:
            np.testing.assert_allclose(got, expected, atol=1e-10)
    np.testing.assert_allclose(scores(sparse, X), scores(dense, X.toarray()), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(scores(sparse, X.toarray()), scores(sparse, X), rtol=0, atol=0)
    np.testing.assert_allclose(scores(dense, X), scores(dense, X.toarray()), rtol=0, atol=0)


@BOTH
def test_a_model_of_sparse_rows_continues_from_copies_and_files_to_the_last_bit(model, tmp_path):
    X, labels, numbers = rows(3)
    if isinstance(model, CostSensitive):
        labels = np.where(labels == "0", "a", "b")
    y = targets(model, labels, numbers)
    first = clone(model).partial_fit(X[:200], y[:200])
    save(first, tmp_path / "model")
    others = [copy.deepcopy(first), pickle.loads(pickle.dumps(first)), load(tmp_path / "model")]
    expected = scores(first.partial_fit(X[200:], y[200:]), X)
    for other in others:
        np.testing.assert_array_equal(scores(other.partial_fit(X[200:], y[200:]), X), expected)


@pytest.mark.parametrize("make", [csr_matrix, csc_matrix, coo_array, csr_array])
def test_every_format_is_the_matrix_it_stands_for(make):
    X, y, _ = rows(1)
    expected = OnlineLogistic().partial_fit(X, y).decision_function(X)
    np.testing.assert_array_equal(OnlineLogistic().partial_fit(make(X), y).decision_function(make(X)), expected)


def test_values_of_a_column_that_is_there_twice_are_added():
    twice = csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), np.array([0, 3, 3])), shape=(2, 3))
    once = csr_array([[2.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    models = [PassiveAggressive().partial_fit(X, [0, 1]) for X in (twice, once)]
    np.testing.assert_array_equal(models[0].decision_function(once), models[1].decision_function(once))


def test_memory_grows_with_the_features_that_were_seen():
    wide = csr_array((np.ones(4), np.array([0, 10**12, 5, 2**40]), np.array([0, 2, 4])), shape=(2, 2**41))
    model = OnlineLogistic().partial_fit(wide, [0, 1])
    assert model.n_features_in_ == 2**41
    assert sum(array.nbytes for array in model._core.state().values()) < 500
    assert model.decision_function(wide).shape == (2,)


def test_what_cannot_be_learned_is_refused_and_changes_nothing():
    X, y, _ = rows(2)
    model = OnlineLogistic().partial_fit(X, y)
    before = model.decision_function(X)
    bad = X.copy()
    bad.data[7] = np.inf
    row = int(np.searchsorted(bad.indptr, 7, side="right")) - 1
    with pytest.raises(InvalidInput, match=rf"infinity \(inf\) at row {row}, column {bad.indices[7]}"):
        model.partial_fit(bad, y)
    with pytest.raises(InvalidInput, match="features"):
        model.partial_fit(X[:, :30], y)
    with pytest.raises(NotNumbers, match=r"an OnlineLDC takes dense rows: .*use OnlineLogistic"):
        OnlineLDC().partial_fit(X, y)
    with pytest.raises(NotNumbers, match=r'solver="rls".* use solver="sgd"'):
        OnlineLinearRegression(solver="rls").partial_fit(X, np.zeros(len(y)))
    damages = {
        "indptr ends at 9999, beyond the": lambda given: given.indptr.__setitem__(-1, 9999),
        "indptr must hold 301 places that rise from 0": lambda given: given.indptr.__setitem__(3, 0),
        "it has the column 40, and 40 columns": lambda given: given.indices.__setitem__(5, 40),
    }
    for what, damage in damages.items():
        broken = X.copy()
        damage(broken)
        with pytest.raises(InvalidInput, match=f"X is a damaged sparse matrix: {what}"):
            model.partial_fit(broken, y)
    with pytest.raises(InvalidInput, match=r"must be two-dimensional, got one row of 3: X.reshape\(1, -1\)"):
        model.predict(coo_array(np.array([1.0, 0.0, 2.0])))
    for kind, target in ((AutoClassifier, y), (AutoRegressor, np.zeros(len(y)))):
        with pytest.raises(InvalidInput, match="X must have at least the 41 columns of dense_features, got 40"):
            kind(dense_features=41).partial_fit(X, target)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_rare_columns_of_noise_do_not_hide_the_others():
    rng = np.random.default_rng(0)
    useful = rng.normal(size=(2000, 10)) * (rng.random((2000, 10)) < 0.9)
    y = (useful @ rng.normal(size=10) > 0).astype(int)
    places = np.stack([rng.choice(5000, 10, replace=False) for _ in range(2000)])
    noise = csr_array((rng.exponential(size=20_000), places.ravel(), np.arange(0, 20_001, 10)), shape=(2000, 5000))
    X = csr_array(hstack([csr_array(useful), noise]))
    each = zip(auto.SPARSE_RATES, auto.SPARSE_SQUARES, strict=True)
    members = [OnlineLogistic(rate, per_feature=True, initial_squares=g).predict_then_learn(X, y) for rate, g in each]
    worst = max((each != y).mean() for each in members)
    assert (AutoClassifier().predict_then_learn(X, y) != y).mean() < worst  # twice that, by the values before alone


def test_rows_in_any_order_and_with_tests_of_their_own():
    X, y, _ = rows(4)
    order = np.array([0, 1, ~0, 2, ~1, 3, ~3, ~2, *np.arange(4, 300).repeat(2)])
    order[9::2] = ~order[9::2]
    dense, sparse = (PassiveAggressive().follow(given, y, order, with_proba=True) for given in (X.toarray(), X))
    assert (dense[0] == sparse[0]).all()
    np.testing.assert_allclose(sparse[1], dense[1], atol=1e-12)
    tests, labels = X[np.arange(600) % 300], y[np.arange(600) % 300].reshape(300, 2)
    dense = Perceptron().learn_then_test(X.toarray(), y, tests.toarray().reshape(300, 2, 40), labels)
    assert (Perceptron().learn_then_test(X, y, tests, labels) == dense).all()


def test_single_rows_are_dicts_of_columns():
    X, y, _ = rows(5)
    model, one = OnlineLogistic().partial_fit(X[:100], y[:100]), OnlineLogistic().partial_fit(X[:100], y[:100])
    model.partial_fit(X[100:], y[100:])
    for i in range(100, 300):
        start, end = X.indptr[i : i + 2]
        row = dict(zip(X.indices[start:end].tolist(), X.data[start:end].tolist(), strict=True))
        one.predict_one(row)
        one.learn_one(row, y[i])
    np.testing.assert_array_equal(one.decision_function(X), model.decision_function(X))
    with pytest.raises(InvalidInput, match="must be a dict of columns' numbers, got the key 'a'"):
        one.learn_one({"a": 1.0}, "0")
    with pytest.raises(
        InvalidInput, match="must be a dict of columns, by number or name, to values, got <class 'list'"
    ):
        one.learn_one([1.0, 2.0], "0")
    for other in (one, copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        with pytest.raises(InvalidInput, match="has the column 40, but the rows that were learned have 40 columns"):
            other.predict_one({3: 1.0, 40: 1.0})


def test_the_default_learns_rare_words():
    rng = np.random.default_rng(0)
    words = rng.zipf(1.3, size=(3000, 20)) % 5000
    weights = rng.normal(size=5000)
    y = (weights[words].sum(axis=1) > 0).astype(int)
    X = csr_array((np.ones(60_000), words.ravel(), np.arange(0, 60_001, 20)), shape=(3000, 2**20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AutoClassifier()
        errors = model.predict_then_learn(X, y) != y
    plain = OnlineLogistic().predict_then_learn(X, y) != y
    assert errors[1000:].mean() < plain[1000:].mean()
    assert len(model.weights_) == len(model.members_)
    assert "logistic" in model.explain()


def test_a_file_of_a_model_of_sparse_rows_holds_the_features_that_were_seen(tmp_path):
    wide = csr_array((np.ones(4), np.array([0, 10**12, 5, 2**40]), np.array([0, 2, 4])), shape=(2, 2**41))
    model = Perceptron().partial_fit(wide, [0, 1])
    save(model, tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 5000
    np.testing.assert_array_equal(load(tmp_path / "model").decision_function(wide), model.decision_function(wide))


@pytest.mark.parametrize("dense", [0, 3])
def test_the_default_answers_a_row_as_it_predicts_it(dense):
    X, y, _ = rows(7)
    model = AutoClassifier(dense_features=dense)
    for i in range(X.shape[0]):
        row = X[[i]]
        expected = model.predict_proba(row) if i else None
        proba = model.predict_then_learn(row, y[[i]], with_proba=True).proba
        if i and proba.shape == expected.shape:
            np.testing.assert_allclose(proba, expected, atol=1e-12)


def test_dense_columns_of_sparse_rows_are_learned_as_dense_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 2))
    y = (np.hypot(*X.T) > 1.2).astype(int)
    words = rng.integers(2, 1000, size=(1500, 5))
    wide = csr_array((np.ones(7500), words.ravel(), np.arange(0, 7501, 5)), shape=(1500, 1000)).tolil()
    wide[:, :2] = X
    model = AutoClassifier(dense_features=2)
    errors = model.predict_then_learn(wide.tocsr(), y) != y
    alone = AutoClassifier().predict_then_learn(X, y) != y
    assert errors[500:].mean() < alone[500:].mean() + 0.03
    assert len(model.weights_) == len(model.members_) == len(model.families_) == 36


@pytest.mark.filterwarnings("ignore::thalweg.errors.Diverging")
@pytest.mark.parametrize(
    "model", [each for each in [*CLASSIFIERS, *REGRESSORS] if has_fit_parameter(each, "sample_weight")], ids=str
)
def test_weights_of_sparse_rows_count_as_those_of_dense_ones(model):
    X, labels, numbers = rows(6)
    if isinstance(model, CostSensitive):
        labels = np.where(labels == "0", "a", "b")
    y, weights = targets(model, labels, numbers), np.random.default_rng(6).choice([0.0, 0.5, 1.0, 3.0], 300)
    weights[0] = 1.0
    dense, sparse = (clone(model).partial_fit(given, y, sample_weight=weights) for given in (X.toarray(), X))
    np.testing.assert_allclose(scores(sparse, X), scores(dense, X.toarray()), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_the_default_takes_weights_of_sparse_rows(class_weight):
    X, y, _ = rows(7)
    weights = np.random.default_rng(7).choice([0.0, 2.5], 300)
    weights[:3] = 1.0
    model = AutoClassifier(class_weight=class_weight).partial_fit(X, y, sample_weight=weights)
    kept = AutoClassifier(class_weight=class_weight)
    kept.partial_fit(X[weights > 0], y[weights > 0], sample_weight=weights[weights > 0])
    np.testing.assert_array_equal(model.decision_function(X), kept.decision_function(X))


def test_few_sparse_columns_without_curved_members_are_warned_of():
    X, y = csr_array(np.eye(6)), np.arange(6) % 2
    for default, targets in ((AutoClassifier(), y), (AutoRegressor(), y + 0.5)):
        with pytest.warns(UserWarning, match=r"by linear members only: give so few columns \(6\) as a dense array"):
            default.partial_fit(X, targets)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        default.partial_fit(X, targets)  # once
        AutoClassifier(dense_features=2).partial_fit(X, y)
        AutoClassifier().partial_fit(csr_array((6, 1000)), y)
        OnlineLogistic().partial_fit(X, y)


def test_a_zero_that_is_stored_is_a_zero():
    X, y, _ = rows(8)
    stored = X.copy()
    stored.data[::9] = 0.0
    plain = stored.copy()
    plain.eliminate_zeros()
    for model in (AutoClassifier(), OnlineLogistic(1.0, per_feature=True), BalancedWinnow()):
        expected = clone(model).partial_fit(plain, y).decision_function(plain)
        np.testing.assert_allclose(clone(model).partial_fit(stored, y).decision_function(plain), expected, rtol=1e-12)


def test_it_does_not_matter_where_dense_columns_have_their_zero():
    X, y, _ = rows(9)
    numbers, given = np.random.default_rng(9).normal(size=(X.shape[0], 2)), []
    for zero in (0.0, 1000.0):
        wide = X.tolil()
        wide[:, :2] = numbers + zero
        given.append(wide.tocsr())
    proba = [AutoClassifier(dense_features=2).partial_fit(each, y).predict_proba(each) for each in given]
    np.testing.assert_allclose(proba[0], proba[1], atol=1e-6)


@pytest.mark.parametrize("classes", [1, 2, 4])
def test_members_side_by_side_are_learners_of_their_own(classes):
    rng = np.random.default_rng(classes)
    X, y = rare_words(rng, 400), np.minimum(rng.integers(0, classes, 400), np.arange(400) // 7)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], 400)
    together, apart = AutoClassifier(), AutoClassifier()
    apart._make_core = core_of_separate_members
    for part in (slice(0, 30), slice(30, 400)):
        given = [model.predict_then_learn(X[part], y[part], sample_weight=weights[part]) for model in (together, apart)]
        np.testing.assert_array_equal(*given)
    states = [model._learned_core().state() for model in (together, apart)]
    assert states[0].keys() == states[1].keys()
    for name, values in states[0].items():
        np.testing.assert_allclose(values, states[1][name], rtol=1e-12, atol=1e-13, err_msg=name)
    np.testing.assert_allclose(together.predict_proba(X), apart.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(loads(dumps(apart)).predict_then_learn(X, y), together.predict_then_learn(X, y))


def rare_words(rng, rows):
    """Rows of a few values among many columns, of which later rows have new ones; the scales differ by column."""
    columns = np.arange(rows)[:, None] // 8 * (rng.random((rows, 9)) < 0.5) + rng.integers(0, 60, (rows, 9))
    values = rng.normal(size=(rows, 9)) * 10.0 ** (columns % 3)
    found = coo_array((values.ravel(), (np.repeat(np.arange(rows), 9), columns.ravel())), shape=(rows, 200))
    return csr_array(found)


def core_of_separate_members(features):
    members = [
        compiled.logistic(features, (0, rate, 0), 0.0, True, 0.0, squares)
        for rate, squares in zip(auto.SPARSE_RATES, auto.SPARSE_SQUARES, strict=True)
    ]
    return compiled.scaled(mixed([*members, compiled.majority(features)]))
