"""Model files: the identity, atomic, checked, and never code."""

from __future__ import annotations

import json
import os
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays
from sklearn.naive_bayes import GaussianNB

import thalweg
from tests.examples import examples
from tests.laws import LEARNERS
from thalweg import Committee, KernelMeanClassifier, LearnNSE, OnlineLDC, Perceptron, RandomFeatures, StreamPipeline
from thalweg.errors import ModelFileError, ThalwegError
from thalweg.rates import ErrorDriven
from thalweg.store import digest, dumps, loads


def some_model():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    return OnlineLDC(ErrorDriven(0.3, 5)).partial_fit(rng.normal(size=(60, 4)) + y[:, None], y)


def header_and_arrays(content):
    length = int.from_bytes(content[:8], "little")
    return json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["thalweg"]), load_arrays(content)


def forged(header, arrays):
    """A file whose checksum is right, whatever it says."""
    header = {key: value for key, value in header.items() if key != "sha256"}
    header["sha256"] = digest(header, arrays)
    return save_arrays(arrays, metadata={"thalweg": json.dumps(header)})


@pytest.mark.parametrize(
    "labels", [[3, -1, 3, 7], ["b", "a", "b", "ä"], [True, False, True, True], [1.0, 2.0, 1.0, 2.0]]
)
def test_labels_of_every_kind_come_back(labels, tmp_path):
    X = np.arange(8.0).reshape(4, 2) ** 2
    model = Perceptron().partial_fit(X, labels)
    thalweg.save(model, tmp_path / "model")
    again = thalweg.load(tmp_path / "model")
    assert again.classes_.dtype == model.classes_.dtype
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.partial_fit(X, labels).predict(X).tolist() == model.partial_fit(X, labels).predict(X).tolist()


def test_a_fresh_model_and_its_parameters_come_back():
    for model in LEARNERS.values():
        again = loads(dumps(model))
        assert type(again) is type(model)
        assert repr(again) == repr(model)
        assert again.get_params().keys() == model.get_params().keys()


def test_feature_names_come_back():
    model = OnlineLDC().learn_one({"x": 1.0, "y": 2.0}, "a").learn_one({"x": 2.0, "y": 1.0}, "b")
    again = loads(dumps(model))
    assert again.predict_one({"y": 2.0, "x": 1.0}) == model.predict_one({"x": 1.0, "y": 2.0})


@examples(300)
@given(data=st.data())
def test_every_damage_is_noticed(data):
    content = bytearray(dumps(some_model()))
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ModelFileError):
        loads(bytes(content))


@examples(100)
@given(cut=st.integers(0, 3000))
def test_every_truncation_is_noticed(cut):
    content = dumps(some_model())
    with pytest.raises(ModelFileError):
        loads(content[: min(cut, len(content) - 1)])


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", pickle.dumps({"a": 1}), save_arrays({"a": np.zeros(3)}), b"\x08" + b"\0" * 7 + b"12345678"],
)
def test_foreign_files_are_refused(content, tmp_path):
    (tmp_path / "foreign").write_bytes(content)
    with pytest.raises(ModelFileError, match="is not a thalweg model"):
        thalweg.load(tmp_path / "foreign")


FORGERIES = {
    "a class of Python's": lambda h, a: h.update({"class": "os.system"}),
    "a newer protocol": lambda h, a: h.update(protocol=99),
    "an unknown parameter": lambda h, a: h["parameters"].update(colour="red"),
    "a parameter out of range": lambda h, a: h["parameters"].update(warmup=-3),
    "an unknown rate": lambda h, a: h["parameters"].update(rate={"rate": "eval", "x": "1"}),
    "a missing array": lambda h, a: a.pop("means"),
    "an array of another shape": lambda h, a: a.update(means=np.zeros((1, 1))),
    "an array of another type": lambda h, a: a.update(rows=np.zeros(1, dtype=np.int32)),
    "an index out of bounds": lambda h, a: a.update(last_class=np.array([99])),
    "a negative variance": lambda h, a: a.update(factor_diagonal=-a["factor_diagonal"]),
    "a full matrix": lambda h, a: a.update(factor_rows=np.ones_like(a["factor_rows"])),
    "too many classes": lambda h, a: a.update(n_classes=np.array([2**40])),
    "more classes than it has room for": lambda h, a: a.update(n_classes=np.array([2**31])),
    "fewer labels": lambda h, a: h["labels"].update(values=[0, 1]),
    "labels of another kind": lambda h, a: h["labels"].update(kind="Z"),
    "names too few": lambda h, a: h["features"].update(names=["only one"]),
    "more features than it has numbers": lambda h, a: h["features"].update(count=2**31),
    "no features": lambda h, a: h["features"].update(count=0),
    "a rate out of range": lambda h, a: a.update(rate=np.array([np.nan])),
    "a ring of another length": lambda h, a: a.update(rate_mistakes=np.zeros(3, dtype=np.int64)),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_file_is_refused(forgery):
    header, arrays = header_and_arrays(dumps(some_model()))
    FORGERIES[forgery](header, arrays)
    with pytest.raises(ThalwegError):
        loads(forged(header, arrays))


@pytest.mark.parametrize("place", ["first", "last"])
def test_forged_components_are_refused_before_they_are_drawn(place):
    features = RandomFeatures(8, random_state=3)
    model = features if place == "last" else StreamPipeline([features, Perceptron()])
    header, arrays = header_and_arrays(dumps(model.partial_fit(np.eye(3), [0, 1, 0])))
    text = json.dumps(header).replace('"n_components": 8', '"n_components": 900000')
    with pytest.raises(ModelFileError, match="900000 components"):
        loads(forged(json.loads(text), arrays))


def test_writing_is_atomic(tmp_path, monkeypatch):
    path = tmp_path / "model"
    thalweg.save(some_model(), path)
    before = path.read_bytes()

    def disk_full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(ModelFileError, match=r"model cannot be written: No space left on device"):
        thalweg.save(OnlineLDC(), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


def test_permissions_are_those_of_an_ordinary_file(tmp_path):
    thalweg.save(some_model(), tmp_path / "model")
    (tmp_path / "ordinary").write_text("")
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "ordinary").stat().st_mode
    (tmp_path / "model").chmod(0o640)
    thalweg.save(some_model(), tmp_path / "model")
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o640


def test_errors_say_which_file(tmp_path):
    with pytest.raises(ModelFileError, match="absent cannot be read: No such file"):
        thalweg.load(tmp_path / "absent")
    with pytest.raises(ModelFileError, match="cannot be written"):
        thalweg.save(some_model(), tmp_path / "no" / "such" / "folder")

    class Mine(OnlineLDC):
        pass

    with pytest.raises(ModelFileError, match="a Mine cannot be saved"):
        thalweg.save(Mine(), tmp_path / "mine")


def test_members_whose_core_is_in_python_are_saved_with_their_committee():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.normal(size=(200, 3)) + y[:, None]
    model = Committee([OnlineLDC(0.1, counts="soft"), LearnNSE(GaussianNB(), block_size=20), KernelMeanClassifier()])
    model.partial_fit(X[:100], y[:100])
    twin = loads(dumps(model))
    assert twin.predict_then_learn(X[100:], y[100:]).tolist() == model.predict_then_learn(X[100:], y[100:]).tolist()
    assert dumps(twin) == dumps(model)
    with pytest.raises(ModelFileError, match="a Committee with a member that learns by scikit-learn's partial_fit"):
        dumps(Committee([GaussianNB()]).partial_fit(X, y))
