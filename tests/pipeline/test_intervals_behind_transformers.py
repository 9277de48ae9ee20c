"""Prediction intervals behind transformers are those of the steps one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from tests.late_calls import ask, tell
from thalweg import (
    AutoRegressor,
    OnlineLinearRegression,
    PredictionIntervals,
    StandardScaler,
    StreamPipeline,
    TilingRegressor,
)
from thalweg.errors import InvalidParameter
from thalweg.evaluate import prequential
from thalweg.store import dumps, loads
from thalweg.streams import Table

LINE = PredictionIntervals(OnlineLinearRegression(solver="rls"), 0.8)
LEARNERS = {"wrapped": LINE, "mixture": AutoRegressor(curved=False), "tilings": TilingRegressor()}


def drifting(rows: int = 2600) -> tuple[np.ndarray, np.ndarray]:
    """Rows of more than two blocks, in units that differ."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rows, 3)) * [1.0, 1e3, 1e-2]
    return X, X @ [1.0, 2e-3, 50.0] + np.linspace(0.0, 5.0, rows) + rng.normal(size=rows)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_are_those_of_the_steps(name: str, weighted: bool) -> None:
    X, y = drifting()
    weights = {"sample_weight": np.random.default_rng(0).uniform(0.0, 2.0, 2000)} if weighted else {}
    scaler, learner = StandardScaler(), clone(LEARNERS[name])
    whole = StreamPipeline([scaler, LEARNERS[name]])
    Z = scaler.transform_then_learn(X[:2000], **weights)
    expected = learner.predict_interval_then_learn(Z, y[:2000], 0.8, **weights)
    found = whole.predict_interval_then_learn(X[:2000], y[:2000], 0.8, **weights)
    np.testing.assert_array_equal(found, expected)
    whole = loads(dumps(whole))
    new, targets = X[2000:], y[2000:]
    known = scaler.transform(new)
    lower, upper = whole.predict_interval(new, 0.8)
    np.testing.assert_array_equal([lower, upper], learner.predict_interval(known, 0.8))
    assert (lower < upper).all()
    kept, of_learner = ask(whole, new, 0.8), ask(learner, known, 0.8)
    np.testing.assert_array_equal(kept.values, of_learner.values)
    tell(whole, new, targets, kept, 600, 0.8)
    tell(learner, scaler.transform_then_learn(new), targets, of_learner, 600, 0.8)
    np.testing.assert_array_equal(whole.predict_interval(X, 0.8), learner.predict_interval(scaler.transform(X), 0.8))


def test_late_targets_judge_the_intervals_that_were_given() -> None:
    X, y = drifting()
    inside = {}
    for name, model in {"piped": StreamPipeline([StandardScaler(), LINE]), "alone": LINE}.items():
        records = list(prequential(clone(model), Table(X, y), delay=50, coverage=0.8))
        held = np.concatenate([(each.lower <= each.y) & (each.y <= each.upper) for each in records])
        inside[name] = held[200:].mean()
    assert inside["piped"] == pytest.approx(inside["alone"], abs=0.02)
    assert inside["piped"] == pytest.approx(0.8, abs=0.02)


def test_what_has_no_intervals_says_so() -> None:
    assert not hasattr(StreamPipeline([StandardScaler(), OnlineLinearRegression()]), "predict_interval")
    X, y = drifting(20)
    with pytest.raises(InvalidParameter, match="make PredictionIntervals the last step of the pipeline"):
        PredictionIntervals(StreamPipeline([StandardScaler(), OnlineLinearRegression()])).partial_fit(X, y)
    with pytest.raises(InvalidParameter, match="'coverage' parameter"):
        StreamPipeline([StandardScaler(), LINE]).predict_interval_then_learn(X, y, 0.5)
