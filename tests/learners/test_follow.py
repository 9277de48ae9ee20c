"""`follow` beside the law that it is the loop: rows without labels, orders of any kind, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from tests.examples import examples
from tests.laws import LEARNERS
from thalweg import AutoClassifier, MajorityClass, NoChange, OnlineLDC, StandardScaler, StreamPipeline
from thalweg.errors import InvalidInput
from thalweg.learners.base.kept_predictions import KeptPredictions
from thalweg.store import dumps

MODELS = {
    "compiled": OnlineLDC(0.3, counts="soft"),
    "python": StreamPipeline([StandardScaler(), OnlineLDC(0.3, counts="soft")]),
    "committee": AutoClassifier(),
}


@pytest.mark.parametrize("name", MODELS)
@examples(40)
@given(data=st.data())
def test_any_order_over_any_cuts(name: str, data: st.DataObject) -> None:
    """Steps given in several calls are those given in one, rows learned twice and never included."""
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    X = rng.normal(size=(9, 2))
    y = np.array(["low", "middling", "high"])[rng.integers(0, 3, 9)]
    order = np.array(data.draw(st.lists(st.integers(-9, 8), max_size=40)), dtype=np.int64)
    cut = data.draw(st.integers(0, len(order)))
    whole, parts = clone(MODELS[name]), clone(MODELS[name])
    answers, _ = whole.follow(X, y, order)
    members = KeptPredictions.none(9)
    first, _ = parts.follow(X, y, order[:cut], kept=members)
    second, _ = parts.follow(X, y, order[cut:], kept=members)
    again = set(order[cut:].tolist())
    assert answers.tolist() == [(second if i in again else first)[i] for i in range(9)]
    assert dumps(whole) == dumps(parts)


def test_the_label_of_a_row_that_is_never_learned_is_no_class() -> None:
    model = OnlineLDC()
    answers, _ = model.follow(np.eye(4), ["a", "", "b", "zebra"], [0, ~0, 1, 2, ~2, 3])
    assert model.classes_.tolist() == ["a", "b"]
    assert answers[1] == "a"


@pytest.mark.parametrize("name", LEARNERS)
def test_a_label_that_is_still_to_come_says_nothing(name: str) -> None:
    """Rows before the first label have no answer, even where the call that brings them brings it, too."""
    X, y = np.random.default_rng(0).uniform(0.1, 1.0, size=(6, 3)), ["a", "b", "a", "b", "a", "b"]
    model = clone(LEARNERS[name])
    answers, proba = model.follow(X, y, [0, 1, 2, ~0, 3, ~1, ~2, 4], with_proba=True)
    assert answers[:4].tolist() == ["", "", "", "a"]
    if proba is not None:
        assert np.ptp(proba[:3], axis=1).max() == 0.0
        assert proba[3].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("model", [OnlineLDC(), NoChange(), MajorityClass(), MODELS["python"]])
def test_before_any_label_there_is_no_answer(model) -> None:
    answers, proba = model.follow([[0.0, 1.0], [1.0, 0.0]], ["a", "b"], [0, 1], with_proba=True)
    assert answers.tolist() == ["", ""]
    assert proba is None
    assert not model.__sklearn_is_fitted__()


def test_rows_that_are_not_answered_have_no_probability() -> None:
    model = OnlineLDC()
    _, proba = model.follow(np.eye(3), ["a", "b", "a"], [~0, ~1, 2], with_proba=True)
    assert np.isnan(proba[:2]).all()
    assert proba[2].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("order", [[3], [~3], [[0, 1]]])
def test_an_order_of_other_rows_is_refused(order) -> None:
    model = OnlineLDC().partial_fit(np.eye(3), ["a", "b", "a"])
    before = dumps(model)
    with pytest.raises(InvalidInput, match="order must hold numbers of the 3 rows"):
        model.follow(np.eye(3), ["a", "b", "c"], order)
    assert dumps(model) == before
