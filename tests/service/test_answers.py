"""What is answered at once is what the library answers, of every kind of model."""

from __future__ import annotations

import numpy as np
import pytest

from thalweg.catalogue import MODELS, make_model


@pytest.mark.parametrize("kind", MODELS["classification"])
@pytest.mark.parametrize("classes", [1, 2, 4])
def test_answers_and_probabilities_at_once_are_those_asked_one_by_one(kind, classes):
    rng = np.random.default_rng(classes)
    model = make_model(kind)
    y = np.array(["a", "b", "c", "d"])[rng.integers(0, classes, 400)]
    X = np.round(rng.normal(size=(400, 3)) + (y == "b")[:, None])  # rounded: there are ties
    model.partial_fit(X, y)
    answers, proba = model._codes_and_proba(X)
    np.testing.assert_array_equal(model.classes_[answers], model.predict(X))
    assert (proba is None) == (not hasattr(model, "predict_proba"))
    if proba is not None:
        np.testing.assert_array_equal(proba, model.predict_proba(X))
