"""Evaluation over sparse rows: the scores of the same rows when they are dense, with late labels too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csr_array
from sklearn.linear_model import SGDClassifier

from thalweg import (
    MajorityClass,
    OnlineLDC,
    OnlineLinearRegression,
    OnlineLogistic,
    Part,
    StandardScaler,
    StreamPipeline,
    TextHasher,
)
from thalweg.errors import InvalidInput, NotAdditive, NotNumbers
from thalweg.evaluate import (
    BestWeights,
    Regret,
    prequential,
    summarise,
)
from thalweg.fleet import Fleet
from thalweg.streams import Table


def data(count: int = 700, width: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = np.where(rng.random((count, width)) < 0.1, rng.normal(size=(count, width)), 0.0)
    numbers = X @ rng.normal(size=width)
    return X, np.where(numbers > 0, "a", "b"), numbers


def chunks(X, y, kind=csr_array):
    return [(kind(X[at : at + 250]), y[at : at + 250]) for at in range(0, len(y), 250)]


@pytest.mark.parametrize("delay", [0, 20])
@pytest.mark.parametrize("kind", [csr_array, coo_matrix])
def test_scores_are_those_of_dense_rows(delay, kind):
    X, y, numbers = data()
    dense = summarise(prequential(OnlineLogistic(), chunks(X, y, np.asarray), delay=delay))
    options = {"delay": delay, "chunk": 97}
    assert summarise(prequential(OnlineLogistic(), chunks(X, y, kind), **options)).model.error == dense.model.error
    assert summarise(prequential(OnlineLogistic(), Table(kind(X), y), **options)).model.error == dense.model.error
    of_numbers = [
        summarise(prequential(OnlineLinearRegression(), chunks(X, numbers, made), **options))
        for made in (kind, np.asarray)
    ]
    assert of_numbers[0].model.rmse ** 2 == pytest.approx(of_numbers[1].model.rmse ** 2, rel=1e-9)


@pytest.mark.parametrize("delay", [0, 20])
def test_texts_are_evaluated_and_pipelines(delay):
    texts = [f"{'good' if i % 2 else 'bad'} {i}" for i in range(300)]
    labels = np.arange(300) % 2
    model = StreamPipeline([TextHasher(), StandardScaler(with_mean=False), OnlineLogistic()])
    records = prequential(model, [(texts[:200], labels[:200]), (texts[200:], labels[200:])], delay=delay)
    assert summarise(records).model.error < 0.1


def test_classifiers_of_scikit_learn_are_given_sparse_rows():
    X, y, _ = data(100)
    model = SGDClassifier(random_state=0)
    assert summarise(prequential(model, chunks(X, y))).rows == 100
    assert model.coef_.shape == (1, 30)


def test_a_table_of_sparse_rows():
    X, y, _ = data(40)
    table = Table(csr_array(X), y)
    assert (table.n_features, table.feature_names[-1], table.length) == (30, "x30", 40)
    np.testing.assert_array_equal(table.take(5, start=7)[0].toarray(), X[7:12])
    wide = csr_array((np.ones(2), [3, 2**40], [0, 1, 2]), shape=(2, 2**41))
    assert Table(wide, [0, 1]).n_features == 2**41
    X[3, 4] = np.inf
    with pytest.raises(InvalidInput, match="got inf in row 3, column 4"):
        Table(csr_array(X), y)


def test_what_needs_dense_rows_says_so():
    X, y, numbers = data(60)
    sparse = csr_array(X)
    with pytest.raises(NotNumbers, match=r"a Fleet takes dense rows: .* use X.toarray\(\)"):
        Fleet(OnlineLogistic()).partial_fit(sparse, y, ["key"] * 60)
    with pytest.raises(NotNumbers, match="toarray"):
        Fleet(OnlineLinearRegression()).partial_fit(sparse, numbers, ["key"] * 60)
    with pytest.raises(NotNumbers, match="toarray"):
        Part(OnlineLDC()).learn(sparse, y)
    with pytest.raises(NotAdditive, match="learned sparse rows"):
        MajorityClass().partial_fit(sparse, y) + MajorityClass().partial_fit(sparse, y)
    scaler = StandardScaler(with_mean=False).partial_fit(sparse)
    with pytest.raises(NotAdditive, match="learned sparse rows"):
        scaler - scaler
    with pytest.raises(InvalidInput, match=r"got a sparse matrix: give X.toarray\(\)"):
        Regret(BestWeights()).update(sparse, numbers, numbers)
    with pytest.raises(AttributeError, match="scale_ alone"):
        _ = scaler.mean_
