"""Each run of a sweep is the run a model makes by itself, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from tests.laws import LEARNERS
from thalweg import NoChange, OnlineLDC, OnlineLinearRegression, Perceptron
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.fleet import sweep
from thalweg.rates import ErrorDriven
from thalweg.store import dumps


def streams(count, rows=120, features=2, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, (count, rows))
    return rng.normal(size=(count, rows, features)) + y[..., None], y


@pytest.mark.quick(50)
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("threads", [1, 3])
def test_every_learner_over_many_streams(name, threads):
    X, y = streams(3, rows=60)
    found = sweep(LEARNERS[name], None, X, y, threads=threads)
    assert found.mistakes.shape == (1, 3)
    for stream in range(3):
        alone = clone(LEARNERS[name])
        expected = alone.predict_then_learn(X[stream], y[stream])
        assert (found.predictions[0, stream] == expected).all()
        assert found.mistakes[0, stream] == (expected != y[stream]).sum()
        assert dumps(found.model_of(0, stream)) == dumps(alone)


@pytest.mark.parametrize("features", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("counts", ["hard", "soft"])
@pytest.mark.parametrize("classes", [2, 3])
def test_every_setting_over_one_stream(features, counts, classes):
    X, y = streams(1, rows=300, features=features, classes=classes)
    grid = {"rate": [0.5, 0.01, ErrorDriven(0.3, 10)], "warmup": [1, 10, 33], "ridge": [0.0, 1e-3]}
    found = sweep(OnlineLDC(counts=counts), grid, X[0], y[0])
    assert found.predictions.shape == (18, 300)
    for number, setting in enumerate(found.settings):
        alone = OnlineLDC(counts=counts).set_params(**setting)
        assert (found.predictions[number] == alone.predict_then_learn(X[0], y[0])).all()
        assert dumps(found.model_of(number)) == dumps(alone)
    assert found.best == found.settings[int(found.mistakes.argmin())]


@pytest.mark.quick(20)
@pytest.mark.parametrize(
    "model",
    [
        OnlineLDC(0.5),
        OnlineLDC(0.97, warmup=1),
        OnlineLDC(0.1, covariance="2008"),
        OnlineLDC(0.3, counts="soft"),
        OnlineLDC(0.02, counts="soft", covariance="2008", warmup=350),
        OnlineLDC(0.02, counts="soft", warmup=200),
        OnlineLDC(ErrorDriven(0.3, 10)),
        OnlineLDC(ErrorDriven(0.1, 10), counts="soft"),
        OnlineLDC(0.2, counts="soft", ridge=1e-3),
    ],
)
@pytest.mark.parametrize(("features", "scale"), [(1, 1.0), (2, 1.0), (2, 1e9), (3, 1.0), (4, 1e-3)])
@pytest.mark.parametrize("classes", [2, 3])
def test_streams_end_with_the_bits_of_lone_runs(model, features, scale, classes):
    X, y = streams(19, rows=300, features=features, classes=classes)
    X[3, 100:] = 0.0  # features that stand still: the factor is capped
    X[4, :, -1] = X[4, :, 0]
    X[5, 250] = 1e6
    y[6] = 1
    X *= scale
    found = sweep(model, None, X, y, threads=1)
    for stream in range(19):
        alone = clone(model).partial_fit(X[stream][:1], y[stream][:1], classes=range(classes))
        alone.partial_fit(X[stream][1:], y[stream][1:])
        assert dumps(found.model_of(0, stream)) == dumps(alone)
        assert (found.predictions[0, stream] == clone(model).predict_then_learn(X[stream], y[stream])).all()


@pytest.mark.parametrize("features", [127, 140, pytest.param(257, marks=pytest.mark.slow)])
@pytest.mark.parametrize("ridge", [0.0, 1e-3])
def test_wide_streams_end_with_the_bits_of_lone_runs(features, ridge):
    X, y = streams(1, rows=400, features=features, classes=2)
    model = OnlineLDC(0.05, counts="soft", ridge=ridge)
    found = sweep(model, None, X, y, threads=1)
    assert dumps(found.model_of(0)) == dumps(clone(model).partial_fit(X[0], y[0]))
    many = np.asfortranarray(np.tile(X[0], (8, 1)))  # looked at before, and not on the way
    chunks = [clone(model).partial_fit(rows, np.tile(y[0], 8)) for rows in (many, np.ascontiguousarray(many))]
    assert dumps(chunks[0]) == dumps(chunks[1])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("features", [2, 30])
def test_a_value_that_is_no_number_is_found_in_any_row(threads, features):
    X, y = streams(11, rows=200, features=features, classes=2)
    for value in (np.nan, np.inf, -1e60):
        for stream, row in ((0, 0), (3, 9), (8, 199), (10, 64)):
            bad = X.copy()
            bad[stream, row, 1] = value
            with pytest.raises(InvalidInput, match=f"at row {stream * 200 + row}, column 1"):
                sweep(OnlineLDC(), None, bad, y, threads=threads)


@pytest.mark.parametrize("late", [2, -1, 10**12])
@pytest.mark.parametrize("features", [2, 30])
def test_a_label_that_the_first_stream_does_not_have(late, features):
    X, y = streams(9, rows=150, features=features, classes=2)
    y[8, 140] = late
    found = sweep(OnlineLDC(0.3), None, X, y)
    expected = OnlineLDC(0.3).partial_fit(X[8, :1], y[8, :1], classes=np.unique(y))
    assert (found.predictions[0, 8][1:] == expected.predict_then_learn(X[8, 1:], y[8, 1:])).all()
    assert dumps(found.model_of(0, 8)) == dumps(expected)


@pytest.mark.parametrize("label", [str, float, bool])
def test_labels_of_every_kind(label):
    X, numbers = streams(10, rows=100, classes=2)
    y = numbers.astype(label)
    found = sweep(OnlineLDC(0.3), None, X, y)
    for stream in range(10):
        expected = OnlineLDC(0.3).predict_then_learn(X[stream], y[stream])
        assert found.predictions[0, stream].tolist() == expected.tolist()
        assert found.mistakes[0, stream] == (expected != y[stream]).sum()


@pytest.mark.parametrize("classes", [127, 128, 300])
def test_more_classes_than_a_byte_holds(classes):
    X, y = streams(4, rows=900, classes=classes)
    y[0, :classes] = np.arange(classes)
    found = sweep(OnlineLDC(0.3), None, X, y, threads=1)
    for stream in range(4):
        alone = OnlineLDC(0.3).partial_fit(X[stream, :1], y[stream, :1], classes=range(classes))
        assert (found.predictions[0, stream][1:] == alone.predict_then_learn(X[stream, 1:], y[stream, 1:])).all()


def test_answers_are_the_callers_own():
    X, y = streams(3, classes=2)
    found = sweep(OnlineLDC(), None, X, y)
    found.predictions[:] = 7
    assert found.predictions.max() == 1


def test_seeds_stand_for_random_states():
    X, y = streams(1)
    found = sweep(Perceptron(), [3, 4], X[0], y[0])
    assert found.settings == [{"random_state": 3}, {"random_state": 4}]
    assert dumps(found.model_of(1)) == dumps(Perceptron(random_state=4).partial_fit(X[0], y[0]))


def test_an_answer_before_any_label_counts_as_it_is_given():
    found = sweep(NoChange(), None, np.zeros((2, 2, 1)), [[0, 0], [1, 1]])
    assert found.mistakes.tolist() == [[0, 1]]
    assert found.predictions.tolist() == [[[0, 0], [0, 1]]]


@pytest.mark.parametrize(
    ("model", "settings", "X", "y", "error"),
    [
        (OnlineLinearRegression(), None, [[0.0]], [0], InvalidParameter),
        (OnlineLDC(), [], [[0.0]], [0], InvalidParameter),
        (OnlineLDC(), [{"rate": 7.0}], [[0.0]], [0], InvalidParameter),
        (OnlineLDC(), None, [[[0.0]]], [[0, 1]], InvalidInput),
        (OnlineLDC(), None, [[[np.nan]]], [[0]], InvalidInput),
        (OnlineLDC(), None, [[0.0]], [0, 1], InvalidInput),
        (OnlineLDC(), None, [[[0.0], [0.0]], [[0.0]]], [[0, 1], [1]], InvalidInput),
        (OnlineLDC(), None, [[[0.0], [0.0]], [[0.0]]], [[0, 1], [1, 0]], InvalidInput),
        (OnlineLDC(), None, [[0.0], [1.0]], [[0, 1], [1, 0]], InvalidInput),
        (OnlineLDC(), None, np.zeros((2, 2, 1)), np.ma.masked_equal([[0, 1], [1, 0]], 1), InvalidInput),
        (OnlineLDC(), None, np.ma.masked_equal(np.zeros((2, 2, 1)), 0.0), [[0, 1], [1, 0]], InvalidInput),
        (OnlineLDC(), {"rate": []}, [[0.0]], [0], InvalidParameter),
        (OnlineLDC(), {"rat": [1]}, [[0.0]], [0], InvalidParameter),
        (OnlineLDC(), "ab", [[0.0]], [0], InvalidParameter),
        (OnlineLDC(), [1, 2], [[0.0]], [0], InvalidParameter),
    ],
)
def test_what_cannot_be_swept(model, settings, X, y, error):
    with pytest.raises(error):
        sweep(model, settings, X, y)


def test_models_are_counted_from_either_end_and_none_is_anothers():
    X, y = streams(3, classes=2)
    found = sweep(OnlineLDC(), {"rate": [0.01, 0.9]}, X, y)
    assert dumps(found.model_of(-1, -1)) == dumps(found.model_of(1, 2))
    for setting, stream in ((0, 3), (1, -4), (2, 0), (-3, 0), (0.0, 0), (True, 0)):
        with pytest.raises(InvalidParameter, match="must be the number of one of"):
            found.model_of(setting, stream)


def test_threads_must_be_some():
    with pytest.raises(InvalidParameter, match="threads"):
        sweep(OnlineLDC(), None, [[0.0]], [0], threads=0)
