"""A fleet's regressor of a key is the one that learned that key's rows alone, to the last bit."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from tests.fleet.test_one_per_key import interleaved, taught
from thalweg import (
    AutoRegressor,
    OnlineLDC,
    OnlineLinearRegression,
    PredictionIntervals,
    StandardScaler,
    StreamPipeline,
    TilingRegressor,
    WindowForestRegressor,
    load,
    save,
)
from thalweg.errors import InvalidInput, InvalidParameter, ModelFileError
from thalweg.fleet import Fleet, RegressorFleet
from thalweg.store import dumps, loads

REGRESSORS = {
    "least squares": OnlineLinearRegression(solver="rls", forgetting=0.01),
    "gradient": OnlineLinearRegression(0.05, averaged=True),
    "intervals": PredictionIntervals(OnlineLinearRegression(solver="rls"), coverage=0.8),
    "auto, linear": AutoRegressor(curved=False),
    "auto": AutoRegressor(),
    "tilings": TilingRegressor(16),
    "forest": WindowForestRegressor(2, 2, rows=64),
}


@pytest.mark.quick(6)
@pytest.mark.parametrize(("features", "capacity"), [(1, 2), (5, None)])
@pytest.mark.parametrize("name", REGRESSORS)
def test_each_key_is_as_if_it_were_alone(name, features, capacity, tmp_path):
    model = REGRESSORS[name]
    X, y, keys = interleaved(7, 120, features, 5)
    y = y / 4 + X[:, 0]
    fleet = taught(Fleet(model, capacity=capacity), X, y, keys)
    assert isinstance(fleet, RegressorFleet)
    answers = Fleet(model, capacity=capacity).predict_then_learn(X, y, keys)
    for key in fleet:
        own = keys == key
        one = clone(model).partial_fit(X[own], y[own])
        assert dumps(fleet.model_of(key)) == dumps(one)
        assert (fleet.predict(X, np.full(len(y), key)) == one.predict(X)).all()
        assert fleet.predict_one(X[0], key) == one.predict_one(X[0])
        assert (answers[own] == clone(model).predict_then_learn(X[own], y[own])).all()
    save(fleet, tmp_path / "fleet.thalweg")
    again = load(tmp_path / "fleet.thalweg")
    for other in (again, copy.deepcopy(fleet)):
        assert dumps(other.partial_fit(X, y, keys)) == dumps(copy.deepcopy(fleet).partial_fit(X, y, keys))


def test_a_key_never_learned_is_no_number():
    fleet = Fleet(OnlineLinearRegression(solver="rls"), key="city")
    rows = [{"city": "Bern", "t": 1.0}, {"city": "Bern", "t": 2.0}, {"city": "Genf", "t": 3.0}]
    for row, y in zip(rows, (1, 2.0, np.float32(3)), strict=True):
        assert (fleet.predict_one(row) is None) is (row["t"] != 2.0)  # the only row whose key came before
        fleet.learn_one(row, y)
    assert fleet.keys() == ["Bern", "Genf"]
    assert fleet.feature_names_in_.tolist() == fleet.model_of("Bern").feature_names_in_.tolist() == ["t"]
    assert np.isnan(fleet.predict(pd.DataFrame({"city": ["Chur"], "t": [1.0]}))).all()
    assert fleet.predict_one({"city": "Chur", "t": 1.0}) is None


@pytest.mark.parametrize("y", [[1.0, np.nan], [1.0, 1e60], ["a", "b"], [[1.0, 2.0], [3.0, 4.0]], [1.0]])
def test_a_refused_target_changes_nothing(y):
    fleet = Fleet(OnlineLinearRegression(solver="rls")).partial_fit([[1.0], [2.0]], [1.0, 2.0], [1, 2])
    before = dumps(fleet)
    with pytest.raises(InvalidInput, match="y must"):
        fleet.partial_fit([[1.0], [2.0]], y, [1, 2])
    with pytest.raises(InvalidInput, match="y must"):
        fleet.learn_one([1.0], y, 1)
    with pytest.raises(InvalidParameter, match="classes"):
        fleet.partial_fit([[1.0], [2.0]], [1.0, 2.0], [1, 2], classes=[0, 1])
    assert dumps(fleet) == before


def test_what_cannot_be_in_a_fleet_is_refused():
    pipeline = StreamPipeline([StandardScaler(), OnlineLinearRegression()])
    with pytest.raises(InvalidParameter, match="regressor of thalweg with a compiled core"):
        Fleet(pipeline).partial_fit([[1.0]], [1.0], [1])
    content = dumps(Fleet(OnlineLinearRegression(solver="rls")).partial_fit([[1.0], [2.0]], [1.0, 2.0], [1, 2]))
    with pytest.raises(ModelFileError):
        loads(content.replace(b"RegressorFleet", b"Fleet"))
    assert not isinstance(Fleet(OnlineLDC()), RegressorFleet)
