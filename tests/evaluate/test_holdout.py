"""The per-step protocol: a fresh test set of the current concept after each learned row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from thalweg.errors import InvalidParameter
from thalweg.evaluate import collect_steps, draw_start, holdout
from thalweg.streams import ConceptStream, MovingPlane, Stagger


def slow_errors(model: Any, stream: ConceptStream, steps: int, n_test: int) -> list[list[float]]:
    """The protocol in the paper's words; columns: model, no-change, majority."""
    X, y = draw_start(stream, 10)
    model.fit(X, y)
    labels = y.tolist()
    test_rows, rows = stream.sampler("test"), []
    for step in range(steps):
        (x,), (label,) = stream.take(1, start=step)
        model.learn_one(x, label)
        labels.append(label)
        X_test, y_test = stream.concept(step).draw(n_test, test_rows)
        answers = [model.predict_one(row, None) for row in X_test]
        majority = min(set(labels), key=lambda label: (-labels.count(label), label))
        rows.append([np.mean(answer != y_test) for answer in (np.array(answers), label, majority)])
    return rows


@pytest.mark.parametrize("stream", [Stagger(seed=5), MovingPlane(seed=6)])
@pytest.mark.parametrize("with_rate", [False, True])
def test_every_step_as_in_the_paper(stream: ConceptStream, with_rate: bool, counting_learner: Any) -> None:
    records = holdout(counting_learner(), stream, steps=100, n_test=20, chunk=33, with_rate=with_rate)
    steps = collect_steps(records)
    expected = slow_errors(counting_learner(), stream, 100, 20)
    assert steps.step.tolist() == list(range(100))
    got = np.column_stack([steps.error, steps.no_change_error, steps.majority_error])
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-15)
    if with_rate:
        np.testing.assert_array_equal(steps.rate, 1.0 / np.arange(12, 112))
    else:
        assert steps.rate is None


def test_a_scikit_learn_classifier_takes_the_same_protocol() -> None:
    stream = MovingPlane(seed=8)
    steps = collect_steps(holdout(GaussianNB(), stream, steps=60, n_test=30))
    slow = GaussianNB().fit(*draw_start(stream, 10))
    tests = stream.sampler("test")
    for step in range(60):
        slow.partial_fit(*stream.take(1, start=step))
        X_test, y_test = stream.concept(step).draw(30, tests)
        assert steps.error[step] == pytest.approx(1.0 - slow.score(X_test, y_test))


def test_by_default_the_whole_protocol(counting_learner: Any) -> None:
    assert len(list(holdout(counting_learner(), Stagger()))) == 120
    empty = collect_steps(holdout(counting_learner(), Stagger(), steps=0))
    assert len(empty.error) == 0


@given(seed=st.integers(0, 2**32), rows=st.integers(2, 30))
def test_the_start_holds_every_class_and_skips_nothing_else(seed: int, rows: int) -> None:
    stream = Stagger(seed)
    X, y = draw_start(stream, rows)
    assert (len(X), y[:2].tolist()) == (rows, [0, 1])
    np.testing.assert_array_equal(stream.concept(0).label(X), y)
    pool, labels = stream.sampler("start").rows_at(np.zeros(4000, dtype=int))
    first = int(np.flatnonzero(labels == 0)[0])
    second = first + 1 + int(np.flatnonzero(labels[first + 1 :] == 1)[0])
    np.testing.assert_array_equal(X, pool[[first, *range(second, second + rows - 1)]])


def test_without_start_rows_the_model_is_left_as_it_is(counting_learner: Any) -> None:
    model = counting_learner().fit(np.ones((3, 2)), np.array([1, 0, 1]))
    list(holdout(model, MovingPlane(), start=0, steps=5))
    assert model.rows == 8


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"start": 1}, "'start' parameter of holdout must be 0 or at least the 2 classes, got 1"),
        ({"steps": -1}, "'steps' parameter of holdout"),
        ({"chunk": 0}, "'chunk' parameter of holdout"),
        ({"n_test": 0}, "'n_test' parameter of holdout"),
        ({"model": object()}, "must have learn_then_test, or predict and partial_fit"),
    ],
)
def test_a_bad_argument_is_named_at_once(arguments: dict[str, Any], words: str, counting_learner: Any) -> None:
    with pytest.raises(InvalidParameter, match=words):
        holdout(arguments.pop("model", counting_learner()), MovingPlane(), **arguments)


def test_a_class_absent_from_the_first_concept_is_an_error_not_a_loop(
    counting_learner: Any,
) -> None:
    class ThreeSides(MovingPlane):
        @property
        def classes(self) -> np.ndarray:
            return np.array([0, 1, 2])

    with pytest.raises(InvalidParameter, match="class 2 does not occur"):
        holdout(counting_learner(), ThreeSides())
