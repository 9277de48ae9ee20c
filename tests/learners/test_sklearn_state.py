"""Fitted scikit-learn classifiers in model files: the same answers, the same bytes, and nothing a forger could use."""

from __future__ import annotations

import copy
import json
import pickle
import warnings

import numpy as np
import pytest
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from thalweg import LearnNSE
from thalweg.errors import InvalidParameter, ModelFileError, ThalwegError
from thalweg.learners.base.sklearn_state import KINDS, fitted_arrays, with_fitted_arrays
from thalweg.store import digest, dumps, loads

BASES = {
    "GaussianNB": GaussianNB(),
    "LogisticRegression": LogisticRegression(C=0.5),
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
    "LDA-lsqr": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "LDA-eigen": LinearDiscriminantAnalysis(solver="eigen", n_components=1),
    "SVC": SVC(C=10.0),
    "SVC-poly": SVC(kernel="poly", degree=2),
    "SVC-linear": SVC(kernel="linear", gamma=0.5),
    "MLPClassifier": MLPClassifier((4, 3), max_iter=3),
    "MLP-lbfgs": MLPClassifier(4, solver="lbfgs", max_iter=3),
    "MLP-early": MLPClassifier((4,), early_stopping=True, validation_fraction=0.2, max_iter=3),
    "MLP-sgd": MLPClassifier((4,), solver="sgd", activation="tanh", max_iter=3),
    "DecisionTreeClassifier": DecisionTreeClassifier(),
    "Tree-entropy": DecisionTreeClassifier(criterion="entropy", max_features="sqrt", max_depth=3),
}


def learned(base, classes=3, **parameters):
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, 130)
    X = rng.normal(size=(130, 3)) + y[:, None]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(Stochastic Optimizer|lbfgs failed)")  # three turns do not converge
        return LearnNSE(base, block_size=40, **parameters).partial_fit(X, y), X


def opened(model):
    content = dumps(model)
    length = int.from_bytes(content[:8], "little")
    return json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["thalweg"]), load_arrays(content)


def forged(header, arrays):
    """A file whose checksum is right, whatever it says."""
    header = {key: value for key, value in header.items() if key != "sha256"}
    header["sha256"] = digest(header, arrays)
    return save_arrays(arrays, metadata={"thalweg": json.dumps(header)})


@pytest.mark.quick(14)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", BASES)
def test_a_loaded_classifier_answers_as_the_saved_one_did(name, classes):
    model, X = learned(BASES[name], classes)
    content = dumps(model)
    again = loads(content)
    assert dumps(again) == content == dumps(learned(BASES[name], classes)[0])
    assert b"pickle" not in content
    for one, two in zip(model.members_, again.members_, strict=True):
        assert type(one.model) is type(two.model)
        assert one.model.get_params() == {**two.model.get_params(), **_tuples(one.model, two.model)}
        method = "predict_proba" if hasattr(one.model, "predict_proba") else "decision_function"
        assert (getattr(one.model, method)(X) == getattr(two.model, method)(X)).all()
    assert again.decision_function(X).tolist() == model.decision_function(X).tolist()


def _tuples(one, two):
    """JSON has lists only."""
    return {k: tuple(v) for k, v in two.get_params().items() if isinstance(v, list) and k in one.get_params()}


def test_naive_bayes_goes_on_learning():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, 2)) + y[:, None]
    one = GaussianNB().partial_fit(X[:30], y[:30], classes=[0, 1, 2])
    two = with_fitted_arrays(GaussianNB(), fitted_arrays(one), features=2, classes=3)
    one.partial_fit(X[30:], y[30:])
    two.partial_fit(X[30:], y[30:])
    assert (one.predict_proba(X) == two.predict_proba(X)).all()


def test_another_base_is_refused_when_saving_but_can_be_copied_and_pickled():
    model, X = learned(RandomForestClassifier(3))
    with pytest.raises(InvalidParameter, match=r"'base' parameter of LearnNSE must be .* GaussianNB.* to be saved"):
        dumps(model)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin.predict(X).tolist() == model.predict(X).tolist()
        twin.partial_fit(X[:40], np.zeros(40, dtype=int))
        assert twin.blocks_ == model.blocks_ + 1

    class MyBayes(GaussianNB):
        def predict(self, X):
            return super().predict(X)

    model, _ = learned(MyBayes())
    assert len(model._core.members._alone) == len(model.members_)  # a subclass may answer in a way of its own
    with pytest.raises(InvalidParameter, match="to be saved"):
        dumps(model)


def test_an_attribute_that_is_not_known_is_refused_when_saving():
    model = GaussianNB().fit([[0.0], [1.0]], [0, 1])
    model.another_ = 1
    with pytest.raises(ModelFileError, match="another_ is not known"):
        fitted_arrays(model)


@pytest.mark.parametrize("name", ["os.system", "Pipeline", "BaggingClassifier", 3, None])
def test_a_file_cannot_name_another_class(name):
    header, arrays = opened(learned(GaussianNB())[0])
    header["parameters"]["base"]["scikit-learn"] = name
    with pytest.raises(ModelFileError):
        loads(forged(header, arrays))


def test_a_file_cannot_turn_one_class_into_another_or_break_its_parameters():
    header, arrays = opened(learned(SVC())[0])
    for change in ({"kernel": "precomputed"}, {"kernel": 5}, {"gamma": -1.0}, {"degree": "x"}, {"nonsense": 1}):
        broken = copy.deepcopy(header)
        broken["parameters"]["base"]["parameters"].update(change)
        with pytest.raises(ModelFileError):
            loads(forged(broken, arrays))
    tree, numbers = opened(learned(DecisionTreeClassifier(min_samples_leaf=2))[0])
    tree["parameters"]["base"]["parameters"]["min_samples_leaf"] = 2**62  # scikit-learn fails on it only when it learns
    with pytest.raises(ModelFileError, match="out of range"):
        loads(forged(tree, numbers))
    for other in set(KINDS) - {"SVC"}:
        broken = copy.deepcopy(header)
        broken["parameters"]["base"] = {"scikit-learn": other, "parameters": {}}
        with pytest.raises(ModelFileError):
            loads(forged(broken, arrays))


def _spoiled(array):
    """The same array with wrong shape, type or values."""
    yield array[:-1] if array.ndim else np.repeat(array, 2)
    yield array[None]
    yield array.astype(np.float32 if array.dtype.kind == "f" else np.float64)
    if array.dtype.kind == "f":
        for value in (np.nan, np.inf, -1e300):
            yield np.full_like(array, value)
    if array.dtype.kind == "i":
        for value in (-2, 2**30):
            yield np.full_like(array, value)
            single = array.copy()
            single.flat[array.size // 2 : array.size // 2 + 1] = value
            yield single


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", ["GaussianNB", "LogisticRegression", "SVC", "MLPClassifier", "DecisionTreeClassifier"])
def test_no_forged_array_breaks_the_process(name):
    """Each array spoiled in each way: refused, or a model that answers. What reads foreign memory would crash here."""
    header, arrays = opened(learned(BASES[name])[0])
    X = learned(GaussianNB())[1]
    refused = 0
    for key in sorted(arrays):
        if key.startswith("member.") and not key.startswith("member.1."):
            continue
        for spoiled in [*_spoiled(arrays[key]), None]:
            changed = {**arrays, key: spoiled}
            if spoiled is None:
                del changed[key]
            try:
                model = loads(forged(header, changed))
            except ThalwegError:
                refused += 1
                continue
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert model.predict(X).shape == (len(X),)
    assert refused > 30
    with pytest.raises(ModelFileError, match="is no attribute"):
        loads(forged(header, {**arrays, "member.0.more": np.zeros(2)}))
    with pytest.raises(ModelFileError):
        loads(forged(header, {**arrays, "member.9.more": np.zeros(2)}))


def test_a_tree_that_names_a_child_that_is_not_there_is_refused():
    header, arrays = opened(learned(DecisionTreeClassifier())[0])
    for name, value in (("left_child", 10**12), ("right_child", 0), ("feature", 3), ("left_child", -7)):
        key = f"member.0.tree_.{name}"
        changed = {**arrays, key: arrays[key].copy()}
        changed[key][0] = value
        with pytest.raises(ModelFileError, match="is not a valid model: a tree"):
            loads(forged(header, changed))
