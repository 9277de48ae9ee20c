"""Fleets on a GPU: the step of a row, compiled for the host, is tested everywhere; the rest where there is a GPU."""

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from thalweg import (
    OnlineLDC,
    OnlineLinearRegression,
    OnlineLogistic,
    PassiveAggressive,
    Perceptron,
    WindowForest,
    load,
    save,
)
from thalweg.errors import InvalidInput, InvalidParameter, MissingExtra
from thalweg.fleet import Fleet
from thalweg.fleet.gpu import arrays
from thalweg.fleet.gpu.layouts import DiscriminantLayout, layout_of
from thalweg.rates import InverseSqrt

try:
    import cupy

    HAS_GPU = cupy.cuda.runtime.getDeviceCount() > 0
except Exception:
    HAS_GPU = False
on_gpu = pytest.mark.skipif(not HAS_GPU, reason="no GPU that CuPy finds")


def rows_of(features, classes, rows, seed=0, keys=1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    X = rng.normal(size=(rows, features)) @ rng.normal(size=(features, features)) + 2.0 * y[:, None] + 1000.0
    return X, y, rng.integers(0, keys, rows) * 7_919 - 3


def ldc(warmup=10):
    return OnlineLDC(0.05, counts="soft", warmup=warmup)


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("model", "features", "classes", "lanes"),
    [
        (ldc(1), 1, 2, 2),
        (ldc(), 3, 3, 2),
        (ldc(30), 6, 2, 4),
        (ldc(5), 6, 1, 8),
        (Perceptron(0.3, margin=0.5, random_state=3), 5, 3, 2),
        (Perceptron(start_scale=0.0, intercept=False), 3, 2, 4),
        (OnlineLogistic(0.1, penalty=0.01), 5, 3, 2),
        (OnlineLogistic(), 3, 2, 4),
    ],
    ids=str,
)
def test_the_step_of_the_gpu_is_that_of_the_host(step_of, model, features, classes, lanes):
    X, y, _ = rows_of(features, classes, 600)
    X -= 0 if isinstance(model, OnlineLDC) else 1000
    model = clone(model)
    layout = replace(layout_of(model, features), classes=classes)
    step = step_of(layout, lanes)
    assert (step.words(), step.scratch()) == (layout.words, layout.scratch(lanes))
    codes, answers = y.astype(np.int32), np.empty(600, dtype=np.int32)
    record, options = np.zeros(layout.words), layout.options()
    for part in (slice(0, 20), slice(20, 600)):  # within the start, and behind it
        own, chosen, given = X[part].copy(), codes[part].copy(), answers[part]
        at = [each.ctypes.data_as(ctypes.c_void_p) for each in (record, own, chosen, options, given)]
        step.run(*at[:3], len(own), *at[3:])
        expected = model.predict_then_learn(own, chosen)
        begin = 1 if part.start == 0 else 0  # the first row of all has no answer
        assert given[begin:].tolist() == expected[begin:].tolist()
        words, lengths = layout.to_host(record[np.newaxis])
        blank = clone(model)
        fleet = Fleet(blank).partial_fit(own[:classes], np.arange(classes), [0] * classes)
        twin = Fleet(blank)._make_core(features)
        twin.restore(fleet._core.state() | {"records": words, "record_lengths": lengths})
        back = layout.from_host(words, lengths)[0]
        np.testing.assert_allclose(back[: classes * features], record[: classes * features])
        alone = fleet.model_of(0)
        alone.__setstate__({**alone.__getstate__(), "_core": twin.state_of(0)})
        np.testing.assert_array_equal(alone.predict(X[300:]), model.predict(X[300:]))
        if hasattr(model, "predict_proba"):
            np.testing.assert_allclose(alone.predict_proba(X[300:]), model.predict_proba(X[300:]), atol=1e-6)


def test_records_go_to_the_gpu_and_back():
    X, y, keys = rows_of(3, 3, 400, keys=30)  # some keys are in their start
    fleet = Fleet(OnlineLDC(0.1, counts="soft")).partial_fit(X, y, keys)
    state = fleet._core.state()
    layout = DiscriminantLayout(3, 3, 0.1, 10)
    words, lengths = layout.to_host(layout.from_host(state["records"], state["record_lengths"]))
    twin = Fleet(fleet.model)._make_core(3)
    twin.restore(state | {"records": words, "record_lengths": lengths})
    more, labels, others = rows_of(3, 3, 400, seed=1, keys=30)
    ours, theirs = np.empty(400, dtype=np.int64), np.empty(400, dtype=np.int64)
    fleet._core.run(more, labels, others, None, ours)
    twin.run(more, labels, others, None, theirs)
    assert (ours == theirs).mean() > 0.995  # but for ties by rounding


def test_lanes_are_as_many_as_leave_room_for_several_warps():
    assert [DiscriminantLayout(features, 2, 0.1, 1).lanes for features in (3, 10, 20, 40, 64)] == [2, 2, 4, 16, 32]
    assert DiscriminantLayout(10, 30, 0.1, 1).lanes > 2
    with pytest.raises(InvalidInput, match="no room for 1000 classes of 10 features"):
        _ = DiscriminantLayout(10, 1000, 0.1, 1).lanes


@pytest.mark.skipif(HAS_GPU, reason="there is a GPU")
def test_without_a_gpu_it_says_so():
    fleet = Fleet(OnlineLDC(0.1, counts="soft"), device="cuda")
    with pytest.raises((MissingExtra, InvalidInput), match="GPU"):
        fleet.partial_fit([[0.0]], [1], [1])


@pytest.mark.parametrize(
    ("fleet", "told"),
    [
        (Fleet(OnlineLDC(0.1), device="cuda"), 'counts="soft"'),
        (Fleet(OnlineLDC(0.1, counts="soft"), device="tpu"), "device"),
        (Fleet(PassiveAggressive(), device="cuda"), "an OnlineLDC, a Perceptron or an OnlineLogistic"),
        (Fleet(WindowForest(), device="cuda"), "an OnlineLDC, a Perceptron or an OnlineLogistic"),
        (Fleet(Perceptron(averaged=True), device="cuda"), "not average"),
        (Fleet(OnlineLogistic(per_feature=True), device="cuda"), "one rate for all features"),
        (Fleet(OnlineLogistic(InverseSqrt(1.0)), device="cuda"), "constant rate"),
        (Fleet(OnlineLogistic(class_weight="balanced"), device="cuda"), "class weights"),
    ],
)
def test_what_cannot_be_on_a_gpu_is_refused(fleet, told):
    with pytest.raises(InvalidParameter, match=told):
        fleet.partial_fit([[0.0]], [1], [1])


@on_gpu
@pytest.mark.parametrize(
    ("model", "features", "classes"),
    [
        (ldc(1), 1, 2),
        (ldc(), 3, 3),
        (ldc(5), 20, 2),
        (ldc(50), 40, 3),
        (Perceptron(0.3, margin=0.1), 10, 3),
        (OnlineLogistic(0.1, penalty=0.001), 10, 3),
    ],
    ids=str,
)
def test_a_fleet_on_the_gpu_is_that_of_the_host(model, features, classes, tmp_path):
    X, y, keys = rows_of(features, classes, 20_000, keys=300)
    X -= 0 if isinstance(model, OnlineLDC) else 1000
    host, gpu = Fleet(model), Fleet(model, device="cuda")
    parts = slice(0, 7), slice(7, 9_000), slice(9_000, 20_000)
    given = [[each.predict_then_learn(X[part], y[part], keys[part]) for part in parts] for each in (host, gpu)]
    assert (np.concatenate(given[0]) == np.concatenate(given[1])).mean() > 0.9995
    assert gpu.keys() == host.keys()
    assert len(gpu) == len(host)
    assert int(keys[0]) in gpu
    assert 5 not in gpu
    assert (gpu.predict(X, keys) == host.predict(X, keys)).mean() > 0.9995
    assert gpu.predict(X[:2], [5, 6]).tolist() == [0, 0]
    one = gpu.model_of(int(keys[0]))
    assert (one.predict(X) == host.model_of(int(keys[0])).predict(X)).mean() > 0.999
    save(gpu, tmp_path / "fleet")
    loaded = load(tmp_path / "fleet")
    assert loaded.device == "cpu"
    assert (loaded.predict(X, keys) == host.predict(X, keys)).mean() > 0.9995
    back = loaded.to("cuda").partial_fit(X, y, keys)
    again = gpu.to("cpu").partial_fit(X, y, keys)
    assert (back.predict(X, keys) == again.predict(X, keys)).mean() > 0.9995
    assert gpu.predict_one(X[0], int(keys[0])) in range(classes)


@on_gpu
def test_arrays_in_the_memory_of_the_gpu_are_taken_as_they_are():
    X, y, keys = rows_of(4, 2, 5_000, keys=50)
    model = OnlineLDC(0.05, counts="soft")
    expected = Fleet(model).predict_then_learn(X, y, keys)
    given = [cupy.asarray(each) for each in (X, y, keys)]
    fleet = Fleet(model, device="cuda")
    found = fleet.predict_then_learn(*given)
    assert isinstance(found, cupy.ndarray)
    assert (found.get() == expected).mean() > 0.9995
    assert (fleet.predict(given[0], given[2]) == cupy.asarray(fleet.predict(X, keys))).all()
    torch = pytest.importorskip("torch")
    other = Fleet(model, device="cuda").predict_then_learn(
        *(torch.as_tensor(each, device="cuda") for each in (X, y, keys))
    )
    assert (other == found).all()
    wrong = given[0].copy()
    wrong[7, 1] = cupy.nan
    with pytest.raises(InvalidInput, match="row 7"):
        fleet.predict_then_learn(wrong, *given[1:])
    later = fleet.predict_then_learn(given[0][:3], cupy.asarray([0, 9, 1]), given[2][:3])  # a new label
    assert fleet.classes_.tolist() == [0, 1, 9]
    assert len(later) == 3


@on_gpu
def test_classes_to_come_are_announced_with_arrays_of_the_gpu():
    X, y, keys = rows_of(4, 2, 500, keys=5)
    given = [cupy.asarray(each) for each in (X, y, keys)]
    for classes in ([0, 1, 7], cupy.asarray([0, 1, 7])):
        fleet = Fleet(ldc(), device="cuda").partial_fit(*given, classes=classes)
        assert fleet.classes_.tolist() == [0, 1, 7]
        assert fleet.partial_fit(*given, classes=[9]).classes_.tolist() == [0, 1, 7, 9]


class Lying(np.ndarray):
    """An array that claims to lie in the memory of a GPU."""

    def get(self):
        return np.asarray(self)


@pytest.mark.parametrize("model", [ldc(), OnlineLinearRegression()], ids=str)
def test_what_lies_in_the_gpu_announces_its_classes(model, monkeypatch):
    """Without a GPU: what is handed to the core, which is the host's here."""
    X, y, keys = rows_of(4, 2, 50, keys=5)

    def labelled(rows, labels, width, known):
        places = np.searchsorted(known, labels) if set(labels.tolist()) <= set(known.tolist()) else None
        return rows, labels.view(Lying), places

    monkeypatch.setattr(arrays, "as_labelled_rows", labelled)
    monkeypatch.setattr(arrays, "as_integers", lambda values, rows, name: values)
    fleet = Fleet(model)
    monkeypatch.setattr(type(fleet), "_is_on_gpu", lambda self, X: True)
    monkeypatch.setattr(type(fleet), "_take_on_gpu", lambda self, rows, owners, codes: codes)
    if isinstance(model, OnlineLinearRegression):
        with pytest.raises(InvalidParameter, match="be left out: its models are regressors"):
            fleet.partial_fit(X, y, keys, classes=[0, 1])
        return
    assert fleet.partial_fit(X, y, keys, classes=[0, 7]).classes_.tolist() == [0, 1, 7]
    assert fleet.partial_fit(X, y, keys, classes=[9]).classes_.tolist() == [0, 1, 7, 9]


@on_gpu
def test_rows_of_numpy_are_checked_by_the_gpu_before_any_is_learned():
    X, y, keys = rows_of(5, 2, 300_000, keys=2_000)
    keys[:100_000] = 11  # one key with many rows
    model = OnlineLDC(0.05, counts="soft")
    host, gpu = Fleet(model).partial_fit(X, y, keys), Fleet(model, device="cuda").partial_fit(X, y, keys)
    wrong = X.copy()
    wrong[299_999, 3] = np.inf
    for bad, error in ((wrong, "infinity.* row 299999, column 3"), (X[:, :4], "features")):
        with pytest.raises(InvalidInput, match=error):
            gpu.partial_fit(bad, y, keys)
    with pytest.raises(InvalidInput, match="one for each"):
        gpu.partial_fit(X, y, keys[1:])
    with pytest.raises(InvalidInput, match=r"2\*\*63"):
        gpu.partial_fit(X, y, np.full(len(X), 2**63, dtype=np.uint64))
    found = gpu.predict_then_learn(X, y, keys)
    assert isinstance(found, np.ndarray)
    assert (found == host.predict_then_learn(X, y, keys)).mean() > 0.9995  # what was refused changed nothing
    narrow = X.astype(np.float32)
    assert (gpu.predict(narrow, keys) == gpu.predict(narrow.astype(np.float64), keys)).all()
    with pytest.raises(InvalidInput, match="0 sample"):
        gpu.predict_then_learn(X[:0], y[:0], keys[:0])
    gpu.partial_fit(X[:5], np.array([0, 1, 2, 1, 0]), keys[:5])  # a new label
    assert gpu.classes_.tolist() == [0, 1, 2]


@on_gpu
def test_a_forgotten_key_starts_anew_and_others_keep_their_models():
    X, y, keys = rows_of(3, 2, 5_000, keys=300)
    host, gpu = (Fleet(ldc(), device=device).partial_fit(X, y, keys) for device in ("cpu", "cuda"))
    gone = np.unique(keys)[::3]
    for key in gone.tolist():
        assert gpu.forget(key)
        assert host.forget(key)
    assert not gpu.forget(int(gone[0]))
    assert gpu.keys() == host.keys()
    assert len(gpu) == 200
    assert (gpu.predict(X, keys) == host.predict(X, keys)).all()
    again = [fleet.predict_then_learn(X, y, keys) for fleet in (gpu, host)]
    assert (again[0] == again[1]).mean() > 0.9995


@on_gpu
@pytest.mark.parametrize("capacity", [1, 40, 250])
def test_a_capacity_changes_no_prediction(capacity, tmp_path):
    """Batches with fewer keys than the capacity, and with more; all of them by turns in the host's memory."""
    rng = np.random.default_rng(0)
    whole, bound = Fleet(ldc(), device="cuda"), Fleet(ldc(), device="cuda", capacity=capacity)
    for size in (5, 200, 2_000, 30, 1_000, 2_000):
        X, y, _ = rows_of(3, 2 if size < 1_500 else 3, size, seed=size)  # a label comes while some are away
        keys = rng.integers(0, 300, size) * 7_919 - 3
        assert (bound.predict_then_learn(X, y, keys) == whole.predict_then_learn(X, y, keys)).all()
        others = rng.integers(0, 400, size) * 7_919 - 3  # some were never learned
        assert (bound.predict(X, others) == whole.predict(X, others)).all()
    assert bound._core._count <= capacity
    assert bound.keys() == whole.keys()
    X, y, _ = rows_of(3, 3, 2_000, seed=1)
    keys = rng.integers(0, 300, 2_000) * 7_919 - 3
    for key in whole.keys()[::9]:
        assert key in bound
        assert (bound.model_of(key).predict(X) == whole.model_of(key).predict(X)).all()
        assert bound.forget(key)
        assert whole.forget(key)
        assert key not in bound
    assert len(bound) == len(whole)
    save(bound, tmp_path / "fleet")
    again = load(tmp_path / "fleet").to("cuda")
    assert again.capacity == capacity
    expected = whole.predict_then_learn(X, y, keys)
    for each in (bound, again):
        assert (each.predict_then_learn(X, y, keys) == expected).mean() > 0.9995


@on_gpu
def test_arrays_of_jax_are_taken_as_they_are(monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else it takes most of the GPU's memory
    jax = pytest.importorskip("jax")
    X, y, keys = rows_of(4, 2, 5_000, keys=50)
    X, y, keys = (
        X.astype(np.float32),
        y.astype(np.int32),
        keys.astype(np.int32),
    )  # as JAX has them unless told otherwise
    given = [jax.device_put(each, jax.devices("gpu")[0]) for each in (X, y, keys)]
    found = Fleet(ldc(), device="cuda").predict_then_learn(*given)
    assert isinstance(found, cupy.ndarray)
    assert (found == Fleet(ldc(), device="cuda").predict_then_learn(*map(cupy.asarray, (X, y, keys)))).all()


@on_gpu
def test_new_keys_without_memory_are_no_keys(monkeypatch):
    X, y, keys = rows_of(3, 2, 5_000, keys=300)
    fleet = Fleet(ldc(), device="cuda").partial_fit(X, y, keys)
    before = fleet.predict(X, keys)

    def refuse(keys):
        raise cupy.cuda.memory.OutOfMemoryError(1, 2)

    monkeypatch.setattr(fleet._core, "_grow", refuse)
    with pytest.raises(MemoryError, match="300 more models"):
        fleet.partial_fit(X, y, keys + 1)
    monkeypatch.undo()
    assert len(fleet) == 300
    assert (fleet.predict(X, keys) == before).all()
    assert len(fleet.partial_fit(X, y, keys + 1)) == 600
    monkeypatch.setattr(fleet._core, "_free_bytes", lambda: 0)
    with pytest.raises(MemoryError, match="3 classes"):
        fleet.partial_fit(X[:3], np.array([0, 1, 7]), keys[:3])
    assert fleet.classes_.tolist() == [0, 1]
    assert fleet._core.n_classes == 2
