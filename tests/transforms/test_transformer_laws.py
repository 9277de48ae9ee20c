"""Every law on every transformer, over rows that hypothesis chooses; and what a bad call leaves behind."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from tests.examples import examples
from tests.transformer_laws import LAWS, TRANSFORMERS
from thalweg import CCIPCA, RandomFeatures, RandomTilings, StandardScaler
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.store import dumps

GOOD = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, -9.0], [1.0, 1.0, 1.0], [2.0, 4.0, 8.0]])


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", TRANSFORMERS)
@examples(8, least=2)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(24, 70),
    features=st.sampled_from([3, 7, 16, 19]),
    scale=st.sampled_from([1.0, 1e-3, 1e4]),
)
def test_law(name, law, seed, rows, features, scale):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features)) * scale + rng.normal(size=features)
    X[:, 0] = rng.choice([0.0, 5.0 * scale])  # a feature that never moves
    law(TRANSFORMERS[name], X)


BAD = {
    "NaN": ([[1.0, np.nan, 0.0]], "got NaN at row 0, column 1"),
    "infinity": ([[1.0, np.inf, 0.0]], "got infinity"),
    "too large": ([[1.0, 2e50, 0.0]], "within ±1e\\+50"),
    "narrow": ([[1.0, 2.0]], "3 features"),
    "flat": ([1.0, 2.0, 3.0], "two-dimensional"),
    "words": ([["a", "b", "c"]], "numbers"),
}


@pytest.mark.parametrize("name", TRANSFORMERS)
@pytest.mark.parametrize("case", BAD)
def test_a_refused_call_changes_nothing(name, case):
    X, message = BAD[case]
    model = clone(TRANSFORMERS[name]).partial_fit(GOOD)
    before = dumps(model)
    for attempt in (model.partial_fit, model.transform_then_learn, model.transform):
        with pytest.raises(InvalidInput, match=message):
            attempt(X)
        assert dumps(model) == before
    if case == "narrow":
        return
    fresh = clone(TRANSFORMERS[name])
    with pytest.raises(InvalidInput, match=message):
        fresh.partial_fit(X)
    with pytest.raises(NotFittedError):
        fresh.transform(GOOD)


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_a_refused_row_changes_nothing(name):
    model = clone(TRANSFORMERS[name]).partial_fit(GOOD)
    before = dumps(model)
    for row in ([1.0, np.nan, 0.0], [1.0, 2.0], "abc", {"a": 1.0, "b": 2.0, "c": 3.0}, None):
        for attempt in (model.learn_one, model.transform_one):
            with pytest.raises(InvalidInput):
                attempt(row)
    assert dumps(model) == before


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_names_are_kept_and_frames_come_out(name):
    frame = pd.DataFrame(GOOD, columns=["a", "b", "c"])
    model = clone(TRANSFORMERS[name]).set_output(transform="pandas").partial_fit(frame)
    out = model.transform(frame)
    assert out.columns.tolist() == model.get_feature_names_out().tolist()
    assert model.transform_one({"c": 2.0, "b": 1.0, "a": 0.0}).tolist() == out.iloc[0].tolist()
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[["c", "b", "a"]])
    by_rows = clone(TRANSFORMERS[name])
    for row in frame.to_dict("records"):
        by_rows.learn_one(row)
    assert dumps(by_rows) == dumps(model)


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_a_series_is_read_by_its_names(name):
    """Whatever the order they come in, be the first row a Series or the names those of a frame."""
    frame = pd.DataFrame(GOOD, columns=["a", "b", "c"])
    model = clone(TRANSFORMERS[name]).partial_fit(frame)
    by_rows = clone(TRANSFORMERS[name])
    for i, row in frame.iterrows():
        by_rows.learn_one(row if i == 0 else row[["c", "a", "b"]])
    assert dumps(by_rows) == dumps(model)
    turned = frame.iloc[-1][["b", "c", "a"]]
    for each in (model, copy.deepcopy(model), by_rows):
        assert each.transform_one(turned).tolist() == each.transform(frame.iloc[-1:])[0].tolist()
    numbered = clone(TRANSFORMERS[name]).learn_one(pd.Series(GOOD[0]))
    assert not hasattr(numbered, "feature_names_in_")


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (StandardScaler, {"forgetting": 1.0}),
        (StandardScaler, {"forgetting": -0.1}),
        (StandardScaler, {"with_mean": "yes"}),
        (StandardScaler, {"clip": 0.0}),
        (CCIPCA, {"n_components": 4}),
        (CCIPCA, {"n_components": 0}),
        (CCIPCA, {"n_components": 1.5}),
        (CCIPCA, {"amnesic": -1.0}),
        (CCIPCA, {"forgetting": float("nan")}),
        (CCIPCA, {"recursion": "2017"}),
        (RandomFeatures, {"n_components": 0}),
        (RandomFeatures, {"sigma": 0.0}),
        (RandomFeatures, {"orthogonal": None}),
        (RandomFeatures, {"random_state": -1}),
        (RandomTilings, {"tilings": 0}),
        (RandomTilings, {"depth": 4}),
    ],
)
def test_bad_parameters_are_named(model, options):
    message = f"'{next(iter(options))}' parameter of {model.__name__}"
    for attempt in ("fit", "partial_fit", "transform_then_learn"):
        with pytest.raises(InvalidParameter, match=message):
            getattr(model(**options), attempt)(GOOD)
    with pytest.raises(InvalidParameter, match=message):
        model(**options).learn_one(GOOD[0])


def test_a_parameter_may_not_change_in_mid_stream():
    model = StandardScaler().partial_fit(GOOD).set_params(forgetting=0.5)
    with pytest.raises(InvalidParameter, match="'forgetting' parameter of StandardScaler must not change"):
        model.partial_fit(GOOD)
