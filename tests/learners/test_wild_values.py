"""One wild value, such as a price in another currency or a code for "missing", must not blind a model for good."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from thalweg import StandardScaler
from thalweg.catalogue import MODELS, make_model
from thalweg.store import dumps, loads

ROWS = 3000
#: Models that take what is near by plain distances or means, and ones that answer without features.
LEFT_OUT = {"trend", "nse", "no-change", "majority", "calibrated", "cost-sensitive", "threshold", "sets"}


@pytest.fixture(scope="module")
def stream():
    X = np.random.default_rng(0).normal(size=(ROWS, 4))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] > 0, "high", "low")


@pytest.mark.parametrize("name", sorted(set(MODELS["classification"]) - LEFT_OUT))
def test_a_model_errs_as_without_the_wild_value(name, stream):
    X, y = stream

    def error(rows):
        return float((make_model(name).predict_then_learn(rows, y) != y)[1000:].mean())

    clean = error(X)
    for place, value in ((6, 1e6), (500, -1e12)):
        wild = X.copy()
        wild[place, 0] = value
        assert error(wild) < clean + 0.05  # blinded, it errs on a third


@pytest.mark.parametrize("with_mean", [True, False])
def test_only_a_robust_scaler_keeps_its_scale(with_mean, stream):
    X = np.abs(stream[0]) + 1
    wild = X.copy()
    wild[100, 0] = 1e9

    def scale(rows, robust):
        scaler = StandardScaler(with_mean=with_mean, robust=robust)
        found = scaler.partial_fit(rows if with_mean else csr_array(rows)).scale_
        return (found if with_mean else found.toarray()[0])[0]

    assert scale(X, True) == scale(X, False)
    assert scale(wild, True) < 1.2 * scale(X, True)
    assert scale(wild, False) > 1e6 * scale(X, True)


@pytest.mark.parametrize("name", ["auto", "auto-linear", "robust"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_regressor_recovers_from_a_wild_target_within_tens_of_rows(name, sparse, stream):
    X, _ = stream
    X = np.abs(X) if sparse else X
    y = 1 + X @ np.array([0.5, -0.3, 0.2, 0.0]) + 0.1 * np.random.default_rng(1).normal(size=ROWS)
    X = csr_array(np.pad(X, ((0, 0), (0, 300)))) if sparse else X

    def walk(targets):
        given, lower, upper = make_model(name, task="regression").predict_interval_then_learn(X, targets, coverage=0.9)
        return np.abs(given - targets), upper - lower

    usual, _ = walk(y)
    for place in (0, 5, 30, 500):
        wild = y.copy()
        wild[place] = 67781.0
        errors, widths = walk(wild)
        assert np.median(errors[place + 40 : place + 100]) < 1.0  # it was 165 to 500
        assert np.median(errors[place + 500 :]) < 1.1 * np.median(usual[place + 500 :])
        if place >= 30:
            assert np.median(widths[place + 200 :]) < 2.0


@pytest.mark.parametrize("name", ["auto", "robust"])
def test_a_new_level_is_followed_and_a_wild_start_is_forgotten_however_rows_are_cut(name, stream):
    X, _ = stream
    y = 1 + X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=ROWS)
    y[7] = 1e9
    y[300:] += 1000.0
    whole = make_model(name, task="regression")
    given = whole.predict_then_learn(X[:400], y[:400])
    assert np.abs(given - y[:400])[340:].max() < 50.0
    parts = make_model(name, task="regression")
    for begin, end in ((0, 5), (5, 12), (12, 20), (20, 305), (305, 400)):
        parts.partial_fit(X[begin:end], y[begin:end])
        parts = loads(dumps(parts))
    assert dumps(parts) == dumps(whole)
