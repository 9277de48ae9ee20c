"""Long chunks, whose rows and labels the core looks at on its way: as if they had been looked at before."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import clone

from thalweg import NoChange, OnlineLDC, Perceptron
from thalweg.errors import InvalidInput
from thalweg.store import dumps

LONG = 70_000  # rows of two features that are looked at on the way


def long_stream():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, LONG)
    return rng.normal(size=(LONG, 2)) + y[:, None], y


@pytest.mark.parametrize("learner", [OnlineLDC(0.3), OnlineLDC(0.1, counts="soft"), Perceptron(), NoChange()])
@pytest.mark.parametrize("late", [2, -3, 10**15])
def test_a_new_label_late_in_a_long_chunk(learner, late):
    X, y = long_stream()
    known = clone(learner).partial_fit(X[:50], y[:50])
    y[LONG - 7] = late
    in_one, in_parts = deepcopy(known), deepcopy(known)
    answers = in_one.predict_then_learn(X, y)
    in_parts.partial_fit(X[:1], y[:1], classes=[late, 0, 1])
    assert (
        answers[1:]
        == np.concatenate([in_parts.predict_then_learn(X[i : i + 999], y[i : i + 999]) for i in range(1, LONG, 999)])
    ).all()
    assert dumps(in_one) == dumps(in_parts)
    assert dumps(deepcopy(known).partial_fit(X, y)) == dumps(in_one)


def test_a_new_label_and_a_bad_value_in_a_long_chunk_leave_the_model_as_it_was():
    X, y = long_stream()
    model = OnlineLDC().partial_fit(X[:50], y[:50])
    before = dumps(model)
    y[40_000] = 7
    for row in (10, 39_999, 69_999):
        bad = X.copy()
        bad[row, 1] = np.nan
        for learn in (model.partial_fit, model.predict_then_learn):
            with pytest.raises(InvalidInput, match=f"at row {row}, column 1"):
                learn(bad, y)
        assert dumps(model) == before
        assert model.classes_.tolist() == [0, 1]


def test_probabilities_of_a_long_chunk_have_a_column_for_a_label_that_comes_late():
    X, y = long_stream()
    model = OnlineLDC().partial_fit(X[:50], y[:50])
    y[-1] = 2
    found = model.predict_then_learn(X, y, with_proba=True)
    assert found.proba.shape == (LONG, 3)
    assert (found.proba[:, 2] == 0).all()
