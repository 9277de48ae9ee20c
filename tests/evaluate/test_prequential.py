"""Test, then train: causal, the same in chunks of any size, the baselines alongside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB

from thalweg import NoChange
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate import NO_PREDICTION, Record, prequential, summarise
from thalweg.streams import MovingPlane, Stagger, Table, load_elec2

LABELS = st.lists(st.sampled_from(["dry", "wet", "hot"]), min_size=1, max_size=60)


def table_of(labels: list[str]) -> Table:
    rng = np.random.default_rng(len(labels))
    return Table(rng.normal(size=(len(labels), 2)), np.array(labels))


def joined(records: list[Record], field: str) -> np.ndarray:
    return np.concatenate([getattr(record, field) for record in records])


@given(labels=LABELS, chunk=st.integers(1, 70))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_chunks_never_change_the_records(labels: list[str], chunk: int, counting_learner: Any) -> None:
    table = table_of(labels)
    (whole,) = prequential(counting_learner(), table, chunk=len(labels))
    parts = list(prequential(counting_learner(), table, chunk=chunk))
    assert [part.start for part in parts] == list(range(0, len(labels), chunk))
    for field in ("y", "predictions", "no_change", "majority", "proba", "rate", "mistakes"):
        np.testing.assert_array_equal(joined(parts, field), getattr(whole, field))


@given(labels=LABELS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_every_answer_is_given_before_its_label(labels: list[str], counting_learner: Any) -> None:
    table = table_of(labels)
    records = list(prequential(counting_learner(), table, chunk=7))
    classes = table.classes
    assert classes[joined(records, "y")].tolist() == labels

    slow = counting_learner()
    for row, (x, label) in enumerate(table):
        answer, proba = joined(records, "predictions")[row], joined(records, "proba")[row]
        no_change, majority = joined(records, "no_change")[row], joined(records, "majority")[row]
        if row == 0:
            assert answer == no_change == majority == NO_PREDICTION
            assert (proba == 1.0 / len(classes)).all()
        else:
            assert classes[answer] == slow.predict_one(x, None)
            known = slow.proba_one(x)
            np.testing.assert_array_equal(proba, [known.get(label, 0.0) for label in classes])
            past = labels[:row]
            assert classes[no_change] == past[-1]
            assert classes[majority] == min(set(past), key=lambda label: (-past.count(label), label))
        slow.learn_one(x, label)
        assert joined(records, "rate")[row] == slow.rate_


def test_a_first_answer_right_by_accident_is_no_answer(counting_learner: Any) -> None:
    (record,) = prequential(counting_learner(), Table([[1.0], [1.0]], [0, 0]))
    assert record.predictions.tolist() == [NO_PREDICTION, 0]
    assert record.mistakes.tolist() == [True, False]


def test_a_model_goes_on_from_what_it_knows(counting_learner: Any) -> None:
    model = counting_learner()
    list(prequential(model, table_of(["dry", "wet"])))
    (record,) = prequential(model, table_of(["dry", "wet"]))
    assert record.predictions[0] != NO_PREDICTION
    assert record.no_change[0] == NO_PREDICTION
    assert model.rows == 4


def test_answers_outside_the_streams_classes_are_mistakes(counting_learner: Any) -> None:
    model = counting_learner().fit(np.ones((5, 2)), np.array(["zebra"] * 5))
    (record,) = prequential(model, Table(np.ones((3, 2)), np.array(["ant", "bee", "ant"])))
    assert record.predictions.tolist() == [NO_PREDICTION] * 3
    assert record.mistakes.all()
    assert record.proba.shape == (3, 2)


@pytest.mark.parametrize("make", [lambda: SGDClassifier(loss="log_loss", random_state=0), BernoulliNB])
@pytest.mark.parametrize("delay", [0, 7])
def test_any_scikit_learn_classifier_is_asked_row_by_row(make: Any, delay: int) -> None:
    stream = Stagger(seed=3)
    model, slow = make(), make()
    records = list(prequential(model, stream, rows=50, chunk=16, delay=delay))
    X, y = stream.take(50)
    for row, x in enumerate(X):
        if row > delay:
            assert joined(records, "predictions")[row] == slow.predict([x])[0]
            np.testing.assert_array_equal(joined(records, "proba")[row], slow.predict_proba([x])[0])
        if row >= delay:
            slow.partial_fit(X[row - delay : row - delay + 1], y[row - delay : row - delay + 1], classes=[0, 1])
    assert joined(records, "predictions")[: delay + 1].tolist() == [NO_PREDICTION] * (delay + 1)
    assert joined(records, "proba")[: delay + 1].tolist() == [[0.5, 0.5]] * (delay + 1)
    assert records[0].rate is None
    np.testing.assert_array_equal(model.predict_proba(X), slow.predict_proba(X))


@pytest.mark.parametrize("rows", [[({"a": 1.0}, True), ({"a": 2.0}, False)], iter([({"a": 1.0}, "x")])])
def test_who_gives_single_rows_learns_what_makes_a_stream_of_them(rows: Any, counting_learner: Any) -> None:
    with pytest.raises((InvalidInput, InvalidParameter), match=r"thalweg\.river\.river_stream"):
        list(prequential(counting_learner(), rows))


def test_without_probabilities_there_are_none(counting_learner: Any) -> None:
    stream = Stagger(seed=3)
    assert next(prequential(counting_learner(), stream, with_proba=False)).proba is None
    assert next(prequential(SGDClassifier(random_state=0), stream, rows=20)).proba is None


def test_rows_default_to_the_streams_length_and_may_go_beyond(counting_learner: Any) -> None:
    assert summarise(prequential(counting_learner(), MovingPlane())).rows == 360
    assert summarise(prequential(counting_learner(), MovingPlane(), rows=1000)).rows == 1000
    assert list(prequential(counting_learner(), MovingPlane(), rows=0)) == []


def test_a_stream_that_hides_a_class_is_refused(counting_learner: Any) -> None:
    class Secretive(Table):
        @property
        def classes(self) -> np.ndarray:
            return np.array([0])

    with pytest.raises(InvalidInput, match="among its classes"):
        list(prequential(counting_learner(), Secretive([[1.0], [2.0]], [0, 1])))


@pytest.mark.parametrize(
    ("model", "arguments", "words"),
    [
        (object(), {}, "'model' parameter of prequential must have predict_then_learn"),
        (SGDClassifier(), {"chunk": 0}, "'chunk' parameter of prequential"),
        (SGDClassifier(), {"rows": -1}, "'rows' parameter of prequential"),
    ],
)
def test_a_bad_argument_is_named_at_once(model: Any, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        prequential(model, Stagger(), **arguments)


@pytest.mark.skipif(
    not (Path(os.environ.get("THALWEG_DATA", "/nowhere")) / "elec2.csv.gz").is_file(),
    reason="THALWEG_DATA names no folder with elec2.csv.gz",
)
def test_no_change_on_elec2_errs_as_published() -> None:
    summary = summarise(prequential(NoChange(), load_elec2(), with_proba=False))
    assert summary.no_change.error == pytest.approx(0.1467, abs=1e-4)
    assert summary.majority.error == pytest.approx(0.4245, abs=2e-3)
    assert summary.no_change.kappa_temporal == 0.0
