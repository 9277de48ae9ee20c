"""A fleet's model of a key is the one that learned that key's rows alone, to the last bit, whatever came between."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from tests.examples import examples
from tests.laws import LEARNERS
from thalweg import LearnNSE, OnlineLDC, Perceptron, StandardScaler, StreamPipeline, load, save
from thalweg.errors import InvalidInput, InvalidParameter, ModelFileError
from thalweg.fleet import Fleet
from thalweg.kernels import compiled
from thalweg.store import dumps, loads


def is_compiled(model):
    core = model._make_core(3)
    return isinstance(core, compiled.Core) and not core.may_fail


COMPILED = [name for name, model in LEARNERS.items() if is_compiled(model) and not model._needs_label_names]


def interleaved(seed, rows, features, keys, late=True):
    """Rows of random keys, whose labels come one after the other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    if late:
        y = np.minimum(y, np.arange(rows) * 3 // rows)
    y = np.array([5, 9, 1])[y]  # each new label takes another place
    X = rng.normal(size=(rows, features)) + y[:, None] / 4
    return X, y, rng.integers(-1, keys - 1, rows)


def taught(fleet, X, y, keys, seed=0):
    """Learned by all ways in, in pieces of all sizes; answers before learning where they are given."""
    rng = np.random.default_rng(seed)
    start = 0
    while start < len(y):
        part = slice(start, start + int(rng.integers(1, 50)))
        way = rng.integers(0, 3)
        if way == 0:
            fleet.partial_fit(X[part], y[part], keys[part])
        elif way == 1:
            fleet.predict_then_learn(X[part], y[part], keys[part])
        else:
            for row, label, key in zip(X[part], y[part].tolist(), keys[part].tolist(), strict=True):
                fleet.learn_one(row, label, key)
        start = part.stop
    return fleet


def alone(model, X, y, classes):
    """A lone model that is told of all labels at its first row."""
    one = clone(model).partial_fit(X[:1], y[:1], classes=classes)
    return one.partial_fit(X[1:], y[1:]) if len(y) > 1 else one


@pytest.mark.quick(20)
@pytest.mark.parametrize("name", COMPILED)
@examples(5, least=2)
@given(seed=st.integers(0, 2**32), features=st.sampled_from([1, 2, 5, 17]), capacity=st.sampled_from([None, 1, 3]))
def test_each_key_is_as_if_it_were_alone(name, seed, features, capacity):
    model = LEARNERS[name]
    X, y, keys = interleaved(seed, 24 if name.startswith("AutoClassifier") else 160, features, 6)
    fleet = taught(Fleet(model, capacity=capacity), X, y, keys, seed)
    assert len(fleet) == len(np.unique(keys))
    answers = Fleet(model, capacity=capacity).predict_then_learn(X, y, keys)
    for key in fleet:
        own = keys == key
        one = alone(model, X[own], y[own], fleet.classes_)
        assert dumps(fleet.model_of(key)) == dumps(one)
        assert (fleet.predict(X, np.full(len(y), key)) == one.predict(X)).all()
        assert fleet.predict_one(X[0], key) == one.predict_one(X[0])
        assert (answers[own] == clone(model).predict_then_learn(X[own], y[own])).all()


@pytest.mark.parametrize("words", [False, True], ids=["numbers", "words"])
@pytest.mark.parametrize("capacity", [None, 4])
def test_saved_and_loaded_it_goes_on(words, capacity, tmp_path):
    X, y, keys = interleaved(1, 400, 3, 12)
    keys = np.array([f"naïve {'μ' * (key % 3)}{key}" for key in keys]) if words else keys
    fleet = Fleet(OnlineLDC(0.1, counts="soft"), capacity=capacity)
    fleet.partial_fit(X[:300], y[:300], keys[:300])
    save(fleet, tmp_path / "fleet.thalweg")
    again = load(tmp_path / "fleet.thalweg")
    assert dumps(again) == dumps(fleet)
    assert again.keys() == fleet.keys() == sorted(set(keys[:300].tolist()))
    for other in (again, copy.deepcopy(fleet), pickle.loads(pickle.dumps(fleet))):
        expected = copy.deepcopy(fleet).predict_then_learn(X[300:], y[300:], keys[300:])
        assert (other.predict_then_learn(X[300:], y[300:], keys[300:]) == expected).all()
    whole = Fleet(OnlineLDC(0.1, counts="soft"), capacity=capacity).partial_fit(X, y, keys)
    assert dumps(again) == dumps(whole)


def test_a_file_is_the_same_however_the_fleet_came_to_be():
    X, y, keys = interleaved(2, 300, 2, 9, late=False)
    fleet = Fleet(Perceptron()).partial_fit(X, y, keys)
    backwards = Fleet(Perceptron())
    for key in reversed(fleet.keys()):
        backwards.partial_fit(X[keys == key], y[keys == key], keys[keys == key])
    assert dumps(backwards) == dumps(fleet)


def test_predicting_changes_nothing():
    X, y, keys = interleaved(3, 200, 2, 5)
    fleet = Fleet(OnlineLDC(), capacity=2).partial_fit(X, y, keys)
    before = dumps(fleet)
    fleet.predict(X, keys)
    fleet.predict(X, keys + 1000)
    fleet.predict_one(X[0], 3)
    fleet.model_of(int(keys[0])).partial_fit(X, y)
    assert dumps(fleet) == before


def test_keys_come_and_go():
    X, y, keys = interleaved(4, 3000, 2, 500)
    fleet = Fleet(OnlineLDC()).partial_fit(X, y, keys)
    held = fleet.n_bytes_
    gone = fleet.keys()[::2]
    assert all(fleet.forget(key) for key in gone)
    assert not fleet.forget(gone[0])
    assert len(fleet) == len(np.unique(keys)) - len(gone)
    assert gone[0] not in fleet
    assert fleet.n_bytes_ < 0.7 * held
    assert fleet.predict_one(X[0], gone[0]) is None
    with pytest.raises(InvalidInput, match="no model"):
        fleet.model_of(gone[0])
    for key in fleet:
        assert dumps(fleet.model_of(key)) == dumps(alone(OnlineLDC(), X[keys == key], y[keys == key], fleet.classes_))
    fleet.partial_fit(X, y, keys)
    own = keys == gone[0]
    assert dumps(fleet.model_of(gone[0])) == dumps(alone(OnlineLDC(), X[own], y[own], fleet.classes_))


def test_the_key_may_be_a_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"heat": [0.0, 1.0, 0.2, 0.9], "machine": ["a", "a", "b", "b"], "load": [1.0, 2.0, 1.5, 3.0]}
    )
    fleet = Fleet(OnlineLDC(), key="machine").partial_fit(frame, ["off", "on", "off", "on"])
    assert fleet.keys() == ["a", "b"]
    assert fleet.feature_names_in_.tolist() == ["heat", "load"]
    row = {"heat": 0.1, "machine": "b", "load": 1.0}
    assert fleet.predict_one(row) == fleet.model_of("b").predict_one({"heat": 0.1, "load": 1.0})
    assert fleet.learn_one(row, "off").predict(frame).shape == (4,)
    with pytest.raises(InvalidInput, match="'machine'"):
        fleet.predict_one({"heat": 0.1, "load": 1.0})
    with pytest.raises(InvalidInput, match="'machine'"):
        fleet.partial_fit([[0.0, 1.0]], ["off"])


@pytest.mark.parametrize(
    ("X", "y", "keys", "told"),
    [
        ([[0.0]], [1], [0.5], "integers or strings"),
        ([[0.0]], [1], [True], "integers or strings"),
        ([[0.0]], [1], ["a"], "integers like those"),
        ([[0.0]], [1], [None], "all integers or all strings"),
        ([[0.0]], [1], [1, 2], "one for each"),
        ([[0.0]], [1], [2**63], "2**63"),
        ([[np.nan]], [1], [1], "finite"),
        ([[0.0, 1.0]], [1], [1], "features"),
        ([[0.0]], ["new kind"], [1], "integers like the labels"),
        ([[0.0]], [1], None, "needs a key"),
    ],
)
def test_a_refused_call_changes_nothing(X, y, keys, told):
    fleet = Fleet(OnlineLDC()).partial_fit([[0.0], [1.0]], [0, 1], [3, 4])
    before = dumps(fleet)
    for call in (fleet.partial_fit, fleet.predict_then_learn):
        with pytest.raises(InvalidInput) as refusal:
            call(X, y, keys)
        assert told in str(refusal.value)
    if keys is None or len(keys) == 1:
        with pytest.raises(InvalidInput):
            fleet.learn_one(X[0], y[0], None if keys is None else keys[0])
    assert dumps(fleet) == before
    fresh = Fleet(OnlineLDC())
    with pytest.raises(InvalidInput):
        fresh.learn_one([0.0], 1, 0.5)
    assert len(fresh) == 0
    assert not fresh.__sklearn_is_fitted__()


def test_before_the_first_row():
    fleet = Fleet(OnlineLDC())
    assert (len(fleet), fleet.keys(), 3 in fleet, fleet.forget(3)) == (0, [], False, False)
    assert fleet.predict_one([0.0], 3) is None
    with pytest.raises(NotFittedError):
        fleet.predict([[0.0]], [3])
    assert dumps(loads(dumps(fleet))) == dumps(fleet)


@pytest.mark.parametrize(
    ("fleet", "told"),
    [
        (Fleet(StreamPipeline([StandardScaler(), OnlineLDC()])), "compiled core"),
        (Fleet(LearnNSE(OnlineLDC(), block_size=5)), "compiled core"),
        (Fleet(StandardScaler()), "compiled core"),
        (Fleet(OnlineLDC(rate=7.0)), "rate"),
        (Fleet(OnlineLDC(), capacity=0), "capacity"),
        (Fleet(OnlineLDC(), capacity=1, folder="no such folder"), "folder"),
    ],
)
def test_a_fleet_that_cannot_be(fleet, told):
    with pytest.raises(InvalidParameter) as refusal:
        fleet.partial_fit([[0.0]], [0], [1])
    assert told in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("record_lengths", lambda a: a + 1),
        ("records", lambda a: a[:-1]),
        ("records", lambda a: np.where(np.arange(len(a)) == 0, 7.0, a)),
        ("records", lambda a: -a),
        ("keys", lambda a: a * 0),
        ("keys", lambda a: a[:-1]),
        ("key_ends", lambda a: np.array([5])),
        ("layout", lambda a: a[1:]),
        ("order_of_use", lambda a: a[1:]),
        ("n_classes", lambda a: a + 1),
    ],
)
def test_a_state_no_fleet_can_have_is_refused(name, change):
    X, y, keys = interleaved(5, 100, 2, 4)
    fleet = Fleet(OnlineLDC(), capacity=2).partial_fit(X, y, keys)
    state = fleet._core.state()
    core = fleet._make_core(2)
    with pytest.raises(ValueError, match="saved state"):
        core.restore(state | {name: np.ascontiguousarray(change(state[name]))})
    damaged = bytearray(dumps(fleet))
    damaged[-5] ^= 1
    with pytest.raises(ModelFileError, match="damaged"):
        loads(bytes(damaged))
