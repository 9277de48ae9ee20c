"""Recursive least squares on a GPU: the step, compiled for the host, everywhere; the rest where there is a GPU."""

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from tests.fleet.test_gpu import on_gpu
from thalweg import AutoRegressor, OnlineLinearRegression, PredictionIntervals, load, save
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.fleet import Fleet
from thalweg.fleet.gpu.layouts import layout_of


def rls(**options):
    return OnlineLinearRegression(solver="rls", **options)


def rows_of(features, rows, seed=0, keys=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features)) @ rng.normal(size=(features, features)) + 1000.0
    y = X @ rng.normal(size=features) + rng.normal(size=rows) + 500.0
    return X, y, rng.integers(0, keys, rows) * 7_919 - 3


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("model", "features", "lanes"),
    [
        (rls(), 1, 2),
        (rls(forgetting=0.05), 5, 2),
        (rls(penalty=0.5, forgetting=0.3), 6, 4),
        (rls(intercept=False, penalty=0.1, forgetting=0.1), 3, 8),
    ],
    ids=str,
)
def test_the_step_of_the_gpu_is_that_of_the_host(step_of, model, features, lanes):
    X, y, keys = rows_of(features, 600)
    X[300] *= 100  # wild
    X[:40, 0] = X[:, 1:2] = 7.0  # they say nothing, the first one at first
    model = clone(model)
    layout = replace(layout_of(model, features), classes=1)
    step = step_of(layout, lanes)
    assert (step.words(), step.scratch()) == (layout.words, layout.scratch(lanes))
    answers, record, options = np.empty(600), np.zeros(layout.words), layout.options()
    at = [each.ctypes.data_as(ctypes.c_void_p) for each in (record, X, y, options, answers)]
    step.run(*at[:3], 600, *at[3:])
    expected = model.predict_then_learn(X, y)
    np.testing.assert_allclose(answers, expected, rtol=1e-8, atol=1e-8 * np.abs(y).max())
    state = Fleet(model).partial_fit(X, y, keys)._core.state()
    np.testing.assert_allclose(record, layout.from_host(state["records"], state["record_lengths"])[0], rtol=1e-8)


def test_records_go_to_the_gpu_and_back():
    X, y, keys = rows_of(4, 300, keys=30)
    model = rls(penalty=0.1, forgetting=0.1)
    state = Fleet(model).partial_fit(X, y, keys)._core.state()
    layout = layout_of(model, 4)
    words, lengths = layout.to_host(layout.from_host(state["records"], state["record_lengths"]))
    assert words.tobytes() == state["records"].tobytes()
    assert lengths.tolist() == state["record_lengths"].tolist()


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (OnlineLinearRegression(0.1), 'solver="rls"'),
        (PredictionIntervals(rls()), "no prediction intervals, whose state"),
        (AutoRegressor(curved=False), "no prediction intervals, whose state"),
    ],
)
def test_what_cannot_be_on_a_gpu_is_refused(model, told):
    with pytest.raises(InvalidParameter, match=told):
        Fleet(model, device="cuda").partial_fit([[0.0]], [1.0], [1])


def agree(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.nanmax(np.abs(expected)))


@on_gpu
@pytest.mark.parametrize(
    ("model", "features"),
    [
        (rls(), 1),
        (rls(forgetting=0.05), 10),
        (rls(penalty=0.5, forgetting=0.1), 10),
        (rls(penalty=0.5, forgetting=0.1, intercept=False), 33),
    ],
    ids=str,
)
def test_a_fleet_on_the_gpu_is_that_of_the_host(model, features, tmp_path):
    X, y, keys = rows_of(features, 20_000, keys=300)
    host, gpu = Fleet(model), Fleet(model, device="cuda")
    for part in (slice(0, 7), slice(7, 9_000), slice(9_000, 20_000)):
        agree(*(each.predict_then_learn(X[part], y[part], keys[part]) for each in (gpu, host)))
    assert gpu.keys() == host.keys()
    expected = host.predict(X, keys)
    agree(gpu.predict(X, keys), expected)
    assert np.isnan(gpu.predict(X[:2], [5, 6])).all()
    one = int(keys[0])
    agree(gpu.model_of(one).predict(X), host.model_of(one).predict(X))
    agree(gpu.predict_one(X[0], one), host.predict_one(X[0], one))
    assert gpu.predict_one(X[0], 5) is None
    save(gpu, tmp_path / "fleet")
    loaded = load(tmp_path / "fleet")
    agree(loaded.predict(X, keys), expected)
    host.partial_fit(X, y, keys).learn_one(X[0], 3.0, one)
    for again in (loaded.to("cuda"), gpu.to("cpu"), gpu):
        again.partial_fit(X, y, keys).learn_one(X[0], 3.0, one)
        agree(again.predict(X, keys), host.predict(X, keys))
    assert gpu.forget(one)
    assert one not in gpu
    assert gpu.predict_then_learn(X[:1], y[:1], [one]).tolist() == [0.0]


@on_gpu
def test_arrays_in_the_memory_of_the_gpu_are_taken_as_they_are(monkeypatch):
    import cupy

    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else JAX takes most of the GPU's memory
    X, y, keys = rows_of(4, 5_000, keys=50)
    model = rls(forgetting=0.02)
    given = [cupy.asarray(each) for each in (X, y, keys)]
    fleet = Fleet(model, device="cuda")
    found = fleet.predict_then_learn(*given)
    assert isinstance(found, cupy.ndarray)
    agree(found.get(), Fleet(model).predict_then_learn(X, y, keys))
    assert (fleet.predict(given[0], given[2]) == cupy.asarray(fleet.predict(X, keys))).all()
    before = fleet.predict(X, keys)
    wrong = given[1].copy()
    wrong[7] = cupy.nan
    for bad, told in (
        (wrong, "y must hold finite numbers .* NaN at row 7"),
        (wrong.get(), "y must hold finite numbers .* NaN at row 7"),
        (cupy.stack([given[1]] * 2, axis=1), "one-dimensional"),
        (np.stack([y] * 2, axis=1), "one-dimensional"),
        (given[1][1:], "one number for each"),
    ):
        with pytest.raises(InvalidInput, match=told):
            fleet.partial_fit(given[0] if isinstance(bad, cupy.ndarray) else X, bad, given[2])
    assert (fleet.predict(X, keys) == before).all()
    narrow = [X.astype(np.float32), y.astype(np.float32), keys.astype(np.int32)]
    expected = Fleet(model, device="cuda").predict_then_learn(*map(cupy.asarray, narrow))
    torch = pytest.importorskip("torch")
    tensors = [torch.as_tensor(each, device="cuda") for each in narrow]
    assert (Fleet(model, device="cuda").predict_then_learn(*tensors) == expected).all()
    jax = pytest.importorskip("jax")
    arrays = [jax.device_put(each, jax.devices("gpu")[0]) for each in narrow]
    assert (Fleet(model, device="cuda").predict_then_learn(*arrays) == expected).all()


@on_gpu
@pytest.mark.parametrize("capacity", [1, 40])
def test_a_capacity_changes_no_prediction(capacity):
    rng, model = np.random.default_rng(0), rls(penalty=0.1, forgetting=0.05)
    whole, bound = Fleet(model, device="cuda"), Fleet(model, device="cuda", capacity=capacity)
    for size in (5, 200, 2_000, 30):
        X, y, _ = rows_of(3, size, seed=size)
        keys = rng.integers(0, 100, size)
        assert (bound.predict_then_learn(X, y, keys) == whole.predict_then_learn(X, y, keys)).all()
        others = rng.integers(0, 130, size)
        np.testing.assert_array_equal(bound.predict(X, others), whole.predict(X, others))
    assert bound._core._count <= capacity
    assert bound.keys() == whole.keys()
