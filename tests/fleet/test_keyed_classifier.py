"""A model of all keys with a small one for each key: sharing, spilling, copies and files."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.laws import LAWS
from thalweg import AutoClassifier, CostSensitive, OnlineLDC, PassiveAggressive, StandardScaler, StreamPipeline
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.fleet import KeyedClassifier
from thalweg.store import dumps, loads

ROWS, KEYS, P = 3000, 200, 3


def related_keys(seed=0, rows=ROWS, keys=KEYS, classes=2):
    """Rows with their key first; labels depend on a part that all keys share and on one of their own."""
    rng = np.random.default_rng(seed)
    key, X = rng.integers(0, keys, rows), rng.normal(size=(rows, P))
    own = rng.normal(size=(keys, P + 1, classes))
    scores = X @ rng.normal(size=(P, classes)) + np.einsum("ij,ijc->ic", np.column_stack([np.ones(rows), X]), own[key])
    return np.column_stack([key * 7.5 - 3.0, X]), scores.argmax(axis=1)


class Twin:
    """The same by its formulas, in NumPy, for two labels known from the start."""

    def __init__(self, learner, features, spread=1.0, drift=0.002):
        self.learner, self.drift = learner, drift
        self.start = np.array([spread**2, *[spread**2 / features] * features])
        self.keys, self.rows, self.mean, self.square = {}, 0, np.zeros(features), np.zeros(features)

    def proba(self, key, x):
        p = np.zeros(2)
        p[self.learner.classes_] = self.learner.predict_proba(x[None])[0]
        if key not in self.keys:
            return p, p, p, 0.5
        m, _, gain = self.keys[key]
        q = p * np.exp(m.astype(float) @ self.z(x))
        q, a = q / q.sum(), 1 / (1 + np.exp(-gain))
        return (1 - a) * p + a * q, p, q, a

    def z(self, x):
        spread = np.sqrt(self.square)
        return np.array(
            [1.0, *np.clip(np.where(spread > 0, (x - self.mean) / np.where(spread > 0, spread, 1), 0), -4, 4)]
        )

    def learn(self, key, x, k):
        if self.rows:
            m, v, gain = self.keys.setdefault(key, (np.zeros((2, len(x) + 1)), np.tile(self.start, (2, 1)), 0.0))
            _, p, q, _ = self.proba(key, x)
            z = self.z(x)
            if p[k] > 0:
                gain = 0.98 * gain + np.log(max(q[k], 1e-6)) - np.log(max(p[k], 1e-6))
            for c in range(2):
                if q[c] <= 0 and c != k:
                    continue
                h = q[c] * (1 - q[c])
                d = 1 + 2 * h * (v[c] * z * z).sum()
                step = v[c] * z
                m[c] += step * ((c == k) - q[c]) / d
                left = v[c] - h * step**2 / d
                v[c] = left + self.drift * (self.start - left)
            self.keys[key] = m, v, gain
        self.learner.learn_one(x, k)
        self.rows += 1
        share = max(1 / self.rows, 1e-4)
        off = x - self.mean
        self.mean += share * off
        self.square += share * (off * (x - self.mean) - self.square)


def test_it_agrees_with_its_formulas():
    X, y = related_keys(rows=300, keys=12)
    model, twin = KeyedClassifier(OnlineLDC()), Twin(OnlineLDC(), P)
    for key_and_row, label in zip(X, y, strict=True):
        if twin.rows > 10:
            expected = twin.proba(key_and_row[0], key_and_row[1:])[0]
            np.testing.assert_allclose(model.predict_proba(key_and_row[None])[0], expected, atol=1e-4)
        model.learn_one(key_and_row, label)
        twin.learn(key_and_row[0], key_and_row[1:], label)


def test_a_new_key_predicts_what_all_keys_know_and_a_known_one_does_better():
    X, y = related_keys()
    alone, model = OnlineLDC(), KeyedClassifier(OnlineLDC())
    wrong_alone = alone.predict_then_learn(X[:, 1:], y) != y
    wrong = model.predict_then_learn(X, y) != y
    new = np.column_stack([np.full(50, -1e9), X[:50, 1:]])
    np.testing.assert_allclose(model.predict_proba(new), alone.predict_proba(X[:50, 1:]), rtol=1e-12)
    assert wrong[-1000:].mean() < wrong_alone[-1000:].mean() - 0.1
    rows, since, error, recent, weight = model.summary(X[-1, 0])
    assert (rows, since) == ((X[:, 0] == X[-1, 0]).sum(), 0)
    assert error == wrong[X[:, 0] == X[-1, 0]].mean()
    assert 0 <= recent <= 1
    assert 0 < weight < 1
    assert model.n_keys_ == len(np.unique(X[:, 0]))
    assert model.summary(-1e9) is None


def test_keys_that_are_put_aside_come_back_bit_for_bit():
    X, y = related_keys(rows=9000, keys=2000)
    kept, tight = KeyedClassifier(OnlineLDC()), KeyedClassifier(OnlineLDC(), max_bytes=1 << 16)
    assert np.array_equal(kept.predict_then_learn(X[:6000], y[:6000]), tight.predict_then_learn(X[:6000], y[:6000]))
    assert 0 < tight.n_keys_in_memory_ < kept.n_keys_in_memory_ == tight.n_keys_
    twin, state = copy.deepcopy(tight), dumps(tight)
    for model in (kept, tight):
        model.partial_fit(X[6000:], y[6000:])
    # A copy is as it was, though the model it shares its keys with has gone on, and goes on alike.
    assert dumps(twin) == state
    twin.partial_fit(X[6000:], y[6000:])
    again = loads(state).partial_fit(X[6000:], y[6000:])
    last = [model._core.state() for model in (kept, tight, twin, again)]
    for other in last[1:]:
        assert all(np.array_equal(other[name], values) for name, values in last[0].items())


def test_a_class_that_comes_late_reaches_keys_wherever_they_are():
    X, y = related_keys(rows=4000, keys=1500, classes=3)
    order = np.argsort(y == 0, kind="stable")  # the first label of all comes last
    X, y = X[order], y[order]
    models = [KeyedClassifier(OnlineLDC(), max_bytes=most) for most in (None, 1 << 16)]
    answers = [model.predict_then_learn(X, y) for model in models]
    assert np.array_equal(*answers)
    assert models[1].n_keys_in_memory_ < models[1].n_keys_
    one_by_one = KeyedClassifier(OnlineLDC())
    for row, label in zip(X[:50], y[:50], strict=True):
        one_by_one.learn_one(row, label)
    chunks = KeyedClassifier(OnlineLDC()).partial_fit(X[:20], y[:20]).partial_fit(X[20:50], y[20:50])
    assert dumps(one_by_one) == dumps(chunks)


MODELS = {
    "all in memory": KeyedClassifier(OnlineLDC(0.3, counts="soft")),
    "spilling": KeyedClassifier(AutoClassifier(curved=False), max_bytes=1 << 16),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", MODELS)
def test_it_obeys_the_laws_of_classifiers(law, name):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 1 + seed, 60)
        law(MODELS[name], np.column_stack([rng.integers(0, 8, 60), rng.normal(size=(60, 1 + seed)) + y[:, None]]), y)


def test_wild_weights_leave_the_model_finite():
    X, y = related_keys(rows=300, keys=5)
    weights = np.random.default_rng(3).choice([1e-300, 1e-9, 0.5, 1.0, 1e3, 1e50], 300)
    model = KeyedClassifier(OnlineLDC()).partial_fit(X, y, sample_weight=weights)
    for _ in range(3):
        assert np.isfinite(model.partial_fit(X, y, sample_weight=weights[::-1]).predict_proba(X)).all()
        assert dumps(loads(dumps(model))) == dumps(model)


@pytest.mark.parametrize(
    "learner", [AutoClassifier(), StreamPipeline([StandardScaler(), PassiveAggressive()])], ids=["auto", "pipeline"]
)
def test_files_and_copies_hold_learners_of_any_kind(learner):
    X, y = related_keys(rows=300)
    model = KeyedClassifier(learner, 1).partial_fit(X[:, [1, 0, 2, 3]], y.astype(str))
    twin, loaded = copy.deepcopy(model), loads(dumps(model))
    for each in (model, twin, loaded):
        each.partial_fit(X[:50, [1, 0, 2, 3]], y[:50].astype(str))
    assert dumps(model) == dumps(twin) == dumps(loaded)


def test_a_key_by_its_name_is_that_feature_wherever_it_is():
    X, y = related_keys(rows=300)
    by_place = KeyedClassifier(OnlineLDC()).partial_fit(X, y)
    frame = pd.DataFrame(X, columns=["user", "a", "b", "c"])
    others = frame[["a", "user", "b", "c"]]
    for names in (frame, others, pl.from_pandas(others), pa.table(dict(others))):
        model = KeyedClassifier(OnlineLDC(), key="user").partial_fit(names, y)
        state = dumps(model)
        for each in (model, loads(state), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(each.predict_proba(names), by_place.predict_proba(X))
            assert each.n_keys_ == by_place.n_keys_
    one_by_one = KeyedClassifier(OnlineLDC(), key="user")
    for row, label in zip(others.to_dict("records"), y.tolist(), strict=True):
        one_by_one.learn_one(row, label)
    assert dumps(one_by_one) == state
    with pytest.raises(InvalidInput, match="sample_weight"):
        model.fit(frame, y, sample_weight=-np.ones(len(y)))
    assert dumps(pickle.loads(pickle.dumps(model))) == state
    np.testing.assert_array_equal(model.fit(frame, y).predict(frame), KeyedClassifier(OnlineLDC()).fit(X, y).predict(X))


def test_a_key_that_cannot_be_found_or_is_text_is_refused():
    X, y = related_keys(rows=50)
    frame = pd.DataFrame(X, columns=["user", "a", "b", "c"])
    for learn, what in (
        (lambda model: model.partial_fit(X, y), "where names are not known"),
        (lambda model: model.learn_one(X[0], 1), "where names are not known"),
        (lambda model: CostSensitive(model, costs="balanced").fit(frame, y), "inside another model"),
        (lambda model: model.fit(frame[["a", "b"]], y), "rows must have the feature 'user'"),
        (lambda model: model.learn_one({"a": 1.0, "b": 2.0}, 1), "rows must have the feature 'user'"),
        (lambda model: model.set_params(key=0).learn_one({"user": 1.0, "b": 2.0}, 1), "dicts need the name of the key"),
        (lambda model: model.fit(frame.assign(user="u1"), y), "column 'user' has the key 'u1': .*key_number"),
        (lambda model: model.learn_one({"a": 1.0, "user": "u1"}, 1), "got 'u1' in column 'user': .*key_number"),
        (lambda model: model.fit(frame, y).predict_one({**dict(frame.iloc[0]), "user": "u1"}), "key_number"),
        (lambda model: model.fit(frame, y).predict(frame.assign(user="u1")), "key_number"),
        (lambda model: model.fit(frame, y).predict(pl.from_pandas(frame[["a", "b", "c"]])), "must be 'user'"),
        (lambda model: model.set_params(key=1).learn_one([1.0, "u1"], 1), "key_number"),
    ):
        with pytest.raises((InvalidInput, InvalidParameter), match=what):
            learn(KeyedClassifier(OnlineLDC(), key="user"))


def test_what_cannot_be_is_refused_and_changes_nothing():
    X, y = related_keys(rows=100)
    model = KeyedClassifier(OnlineLDC()).partial_fit(X, y)
    before = dumps(model)
    bad = X.copy()
    bad[50, 0] = np.nan
    with pytest.raises(InvalidInput):
        model.partial_fit(bad, y)
    assert dumps(model) == before
    with pytest.raises(InvalidParameter, match="one of the 4 features"):
        KeyedClassifier(OnlineLDC(), 4).partial_fit(X, y)
    with pytest.raises(InvalidInput, match="beside the key"):
        KeyedClassifier(OnlineLDC()).partial_fit(X[:, :1], y)
    with pytest.raises(InvalidParameter, match="other way round"):
        KeyedClassifier(CostSensitive(OnlineLDC(), costs="balanced")).partial_fit(X, y)
    with pytest.raises(InvalidParameter, match="folder"):
        KeyedClassifier(OnlineLDC(), max_bytes=1 << 20, folder="/no/such/folder").partial_fit(X, y)
    with pytest.raises(InvalidParameter, match="65536"):
        KeyedClassifier(OnlineLDC(), max_bytes=5).partial_fit(X, y)


@pytest.mark.parametrize("name", ["keys", "key_counts", "key_values"])
def test_a_forged_state_is_refused(name):
    X, y = related_keys(rows=100)
    model = KeyedClassifier(OnlineLDC()).partial_fit(X, y)
    state = {key: values.copy() for key, values in model._core.state().items()}
    for forged in (state[name][:-1].copy(), -1 - state[name] ** 2):
        with pytest.raises(ValueError, match="key"):
            KeyedClassifier(OnlineLDC())._make_core(P + 1).restore(state | {name: forged})
