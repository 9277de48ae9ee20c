"""The exact kernel mean machine on arrays of other libraries, against itself on those of NumPy."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import sklearn

from tests.learners.blobs import blobs
from thalweg import KernelMeanClassifier
from thalweg.errors import InvalidInput, NotNumbers
from thalweg.learners.kernel_mean.backend import Device
from thalweg.learners.kernel_mean.densities import leave_one_out_log_means
from thalweg.store import dumps, loads

#: Of each library its name, and of its devices the one to use.
LIBRARIES = {"array_api_strict": "device1", "torch": "cpu", "torch-cuda": "cuda", "cupy": None}


class Library:
    def __init__(self, name: str) -> None:
        self.xp = pytest.importorskip(name.split("-")[0], exc_type=ImportError)
        device = LIBRARIES[name]
        if name == "torch-cuda" and not self.xp.cuda.is_available():
            pytest.skip("no GPU that PyTorch finds")
        if name == "cupy":
            try:
                self.xp.cuda.runtime.getDeviceCount()
            except self.xp.cuda.runtime.CUDARuntimeError:
                pytest.skip("no GPU that CuPy finds")
        self.options = {} if device is None else {"device": device}
        if name == "array_api_strict":
            self.options = {"device": self.xp.Device(device)}

    def there(self, values):
        return self.xp.asarray(values, **self.options)

    def here(self, array):
        assert type(array) is type(self.there(np.zeros(1)))
        assert array.device == self.there(np.zeros(1)).device
        return Device(self.xp, array.device).host(array)


@pytest.fixture(params=LIBRARIES)
def library(request, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # which scikit-learn asks for before it dispatches
    # Many blocks and tiles of few rows.
    monkeypatch.setattr(Device, "block", 7000)
    monkeypatch.setattr(Device, "tile", 40)
    found = Library(request.param)
    with sklearn.config_context(array_api_dispatch=True):
        yield found


def assert_tuned_alike(model, other):
    """The same rows, the same of 39 widths, and weights and biases to rounding."""
    for name, values in model._core.state().items():
        np.testing.assert_allclose(values, other._core.state()[name], rtol=1e-9, err_msg=name)


@pytest.mark.parametrize(("classes", "dtype", "digits"), [(2, "float64", 1e-9), (3, "float32", 1e-4)])
def test_fit_and_predictions_are_those_of_numpy(library, classes, dtype, digits):
    X, y = blobs(160, 3, classes)
    asked = np.concatenate([X[80:], 1e3 * X[:3], 1e9 * X[:3]])  # the last are compared by differences
    host = KernelMeanClassifier(dtype=dtype).fit(X[:80], y[:80])
    there = KernelMeanClassifier(dtype=dtype).fit(library.there(X[:80]), library.there(y[:80]))
    assert_tuned_alike(there, host)
    for model in (there, host, loads(dumps(there))):
        scores = library.here(model.decision_function(library.there(asked)))
        np.testing.assert_allclose(scores, host.decision_function(asked), rtol=digits, atol=digits)
        found = library.here(model.predict(library.there(asked)))
        assert found.dtype == y.dtype
        assert (found == host.predict(asked)).all()
        shares = library.here(model.predict_proba(library.there(asked)))
        np.testing.assert_allclose(shares, host.predict_proba(asked), atol=digits)
    assert there.score(library.there(X), library.there(y)) == pytest.approx(host.score(X, y))
    for model, rows, labels in ((there, library.there(X[80:]), library.there(y[80:])), (host, X[80:], y[80:])):
        model.partial_fit(rows, labels)  # doubles the rows, and so tunes again
    assert_tuned_alike(there, host)
    scores = library.here(there.decision_function(library.there(asked)))
    np.testing.assert_allclose(scores, host.decision_function(asked), rtol=digits, atol=digits)


def test_other_labels_and_numbers(library):
    X, y = blobs(60, 2)
    words = np.array(["no", "yes"])[y]
    model = KernelMeanClassifier().fit(library.there(X), words)
    assert model.predict(library.there(X)).tolist() == KernelMeanClassifier().fit(X, words).predict(X).tolist()
    whole = np.round(4 * X).astype(np.int64)
    model = KernelMeanClassifier(sigma=0.1).fit(library.there(whole), library.there(y == 1))
    assert (library.here(model.predict(library.there(whole))) == model.predict(whole)).all()
    assert len(model.importance_.names) == 2


def test_classes_to_come_are_announced(library):
    X, y = blobs(60, 2)
    for classes in ([0, 1, 7], library.there(np.array([0, 1, 7]))):
        model = KernelMeanClassifier(sigma=1.0).partial_fit(library.there(X), library.there(y), classes=classes)
        assert model.classes_.tolist() == [0, 1, 7]
        assert library.here(model.predict_proba(library.there(X)))[:, 2].max() == 0


def test_what_is_refused_is_refused_alike(library):
    X, y = blobs(60, 2)
    model = KernelMeanClassifier(sigma=1.0).fit(X, y)
    before = dumps(model)
    wrong = X.copy()
    wrong[7, 1] = np.nan
    for act in (model.predict, lambda X: model.partial_fit(X, library.there(y)), lambda X: model.fit(X, y)):
        with pytest.raises(InvalidInput, match="NaN at row 7, column 1"):
            act(library.there(wrong))
    with pytest.raises(InvalidInput, match="expecting 2 features"):
        model.predict(library.there(X[:, :1]))
    with pytest.raises(InvalidInput, match="one label for each of the 60 rows"):
        model.fit(library.there(X), library.there(y[1:]))
    with pytest.raises(NotNumbers, match="complex"):
        model.predict(library.there(X.astype(complex)))
    with pytest.raises(sklearn.exceptions.NotFittedError):
        KernelMeanClassifier().predict(library.there(X))
    assert dumps(model) == before


def test_blocks_bound_the_memory_of_a_device(monkeypatch):
    """array_api_strict's arrays are NumPy's, whose memory Python can count."""
    xp = pytest.importorskip("array_api_strict")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    monkeypatch.setattr(Device, "block", 1 << 16)
    X, y = blobs(1500, 2)
    model, there = KernelMeanClassifier(sigma=1.0, rho=0.5, bias=0.0).fit(X, y), xp.asarray(X)
    with sklearn.config_context(array_api_dispatch=True):
        tracemalloc.start()
        model.predict(there)
        leave_one_out_log_means(X, y, 2, np.array([1.0, 3.0]), on=Device(xp, there.device))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 5 * 8 * Device.block < 8 * 1500**2 / 4  # the last is a quarter of all pairs


def test_without_dispatch_tensors_are_taken_as_numpy_takes_them():
    torch = pytest.importorskip("torch")
    X, y = blobs(60, 2)
    model = KernelMeanClassifier(sigma=1.0).fit(torch.asarray(X), torch.asarray(y))
    assert isinstance(model.predict(torch.asarray(X)), np.ndarray)
