"""One wild value, such as a price in another currency or a code for "missing", must not blind a model for good."""

import numpy as np
import pytest

from thalweg import StandardScaler
from thalweg.catalogue import MODELS, make_model

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
    from scipy.sparse import csr_array

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
