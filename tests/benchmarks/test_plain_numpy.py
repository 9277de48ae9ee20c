"""What we are compared with does the same: NumPy's loops end where `OnlineLDC` does."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.peers import plain_numpy
from benchmarks.rows import Rows

from thalweg import OnlineLDC


@pytest.mark.parametrize("rate", [0.5, 0.3])
@pytest.mark.parametrize("kind", [plain_numpy.AsPrinted, plain_numpy.InPlace])
def test_the_loop_is_the_model(kind, rate, monkeypatch):
    monkeypatch.setattr(plain_numpy, "RATE", rate)
    rows = Rows(5, numbers=3000)
    model = OnlineLDC(rate).fit(rows.X[:100], rows.y[:100])
    loop = kind(model.means_, model.precision_, model.counts_)
    assert loop.run(rows.X[100:], rows.y[100:]) == model.predict_then_learn(rows.X[100:], rows.y[100:]).tolist()
    np.testing.assert_allclose(loop.precision, model.precision_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(loop.means, model.means_, rtol=1e-11)
    assert loop.counts.tolist() == model.counts_.tolist()
