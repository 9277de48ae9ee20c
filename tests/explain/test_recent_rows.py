"""`importance_` of learners: the recent rows that they keep, and what those must not change."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_regressor

from thalweg import AutoRegressor, OnlineLDC, OnlineLinearRegression, StandardScaler, StreamPipeline, load, save
from thalweg.explain import contributions

ROWS = 700


def stream(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 3))
    return X, 2.0 * X[:, 1] - X[:, 2] + 0.2 * rng.normal(size=ROWS)


@pytest.mark.parametrize(
    "model",
    [
        OnlineLDC(0.01, counts="soft"),
        StreamPipeline([StandardScaler(), OnlineLDC(0.01, counts="soft")]),
        AutoRegressor(),
        OnlineLinearRegression(solver="rls"),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("chunk", [1, 40, ROWS])
def test_ranks_the_features_by_what_they_explain(model, chunk):
    X, score = stream()
    model = clone(model)
    y = score if is_regressor(model) else np.where(score > 0, "wet", "dry")
    for begin in range(0, ROWS, chunk):
        model.partial_fit(X[begin : begin + chunk], y[begin : begin + chunk])
    found = model.importance_
    assert list(found.ranking()) == ["x1", "x2", "x0"]
    assert np.sign(found.effect[1:]).tolist() == [1.0, -1.0]
    assert found.rows <= 128
    explained = contributions(model, X[:2])
    np.testing.assert_allclose(explained.base + explained.values.sum(axis=1), explained.score, atol=1e-9)


def test_recent_rows_are_copies_and_stay_out_of_files(tmp_path):
    X, score = stream()
    y = score > 0
    model = OnlineLDC(0.01).partial_fit(X, y)
    before = model.importance_
    X[:] = 0.0
    np.testing.assert_array_equal(model.importance_.increase, before.increase)
    save(model, tmp_path / "m.thalweg")
    bare = OnlineLDC(0.01).learn_one([0.0], 1)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), load(tmp_path / "m.thalweg"), bare):
        with pytest.raises(AttributeError, match="kept no recent rows"):
            other.importance_  # noqa: B018
    model.fit(stream(1)[0][:5], [0, 1, 0, 1, 1])
    assert model.importance_.rows == 5
