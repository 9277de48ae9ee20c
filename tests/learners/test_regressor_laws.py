"""Every law on every regressor, over rows that hypothesis chooses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from tests.examples import examples
from tests.regressor_laws import LAWS, REGRESSORS
from thalweg.store import dumps

PAIRS = [(name, law) for name in REGRESSORS for law in LAWS]


@pytest.mark.filterwarnings("ignore::thalweg.errors.Diverging")  # large rows: what is lawful is lawful there too
@pytest.mark.parametrize(("name", "law"), PAIRS, ids=[f"{name}-{law.__name__}" for name, law in PAIRS])
@examples(8, least=2)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(24, 70),
    features=st.sampled_from([1, 2, 3, 7, 8, 9, 19]),
    outputs=st.sampled_from([None, 1, 2]),
    scale=st.sampled_from([1.0, 1e-3, 1e4]),
)
def test_law(name, law, seed, rows, features, outputs, scale):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(rows, features)) + rng.normal(size=features)) * scale
    y = X @ rng.normal(size=features) / scale + rng.normal(size=rows)
    law(REGRESSORS[name], X, y if outputs is None else np.column_stack([y, X.sum(axis=1)])[:, :outputs])


#: A file holds the cells of tilings met so far, 729 to a tiling at the most, and the leaves of trees.
GROWING = {"auto", "auto-robust", "tilings", "tilings-one-step", "forest"}


@pytest.mark.parametrize("name", sorted(REGRESSORS.keys() - GROWING))
def test_size_does_not_grow_with_rows(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    model = clone(REGRESSORS[name]).partial_fit(X, X.sum(axis=1))
    size = len(dumps(model))
    for _ in range(100):
        model.partial_fit(X, X.sum(axis=1))
    assert len(dumps(model)) == pytest.approx(size, abs=16)
