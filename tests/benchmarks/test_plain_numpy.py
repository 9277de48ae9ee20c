"""What we are compared with does the same: NumPy's loops end where `OnlineLDC` does."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from benchmarks.ours import started
from benchmarks.peers.plain_numpy import AsPrinted, InPlace
from benchmarks.rows import Rows


@pytest.mark.parametrize("kind", [AsPrinted, InPlace])
def test_the_loop_is_the_model(kind):
    start = started(Rows(5, numbers=3000))
    model, loop = (
        copy.deepcopy(start.model),
        kind(start.model.means_, start.model.precision_, start.model.counts_),
    )
    assert loop.run(start.X, start.y) == model.predict_then_learn(start.X, start.y).tolist()
    np.testing.assert_allclose(loop.precision, model.precision_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(loop.means, model.means_, rtol=1e-11)
    assert loop.counts.tolist() == model.counts_.tolist()
