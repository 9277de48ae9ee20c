"""The laws of regressors on pipelines that end in one; pipelines of the other kinds are in those kinds' lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.regressor_laws import LAWS, the_coefficients_are_the_answer
from thalweg import CCIPCA, OnlineLinearRegression, RandomFeatures, StandardScaler, StreamPipeline

PIPELINES = {
    "scaled": StreamPipeline([StandardScaler(clip=3.0), OnlineLinearRegression(0.02)]),
    "axes": StreamPipeline([("axes", CCIPCA(1)), ("line", OnlineLinearRegression(solver="rls"))]),
    "map": StreamPipeline(
        [StandardScaler(forgetting=0.05), RandomFeatures(9), OnlineLinearRegression(solver="rls", penalty=0.1)]
    ),
}


# Behind transformers the coefficients weigh what these give out, which changes from row to row.
@pytest.mark.filterwarnings("ignore::thalweg.errors.Diverging")
@pytest.mark.parametrize("law", [law for law in LAWS if law is not the_coefficients_are_the_answer])
@pytest.mark.parametrize("name", PIPELINES)
@examples(6)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(24, 70),
    features=st.sampled_from([1, 3, 9]),
    outputs=st.sampled_from([None, 1, 2]),
    scale=st.sampled_from([1.0, 1e-3, 1e4]),
)
def test_law(name, law, seed, rows, features, outputs, scale):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(rows, features)) + rng.normal(size=features)) * scale
    y = X @ rng.normal(size=features) / scale + rng.normal(size=rows)
    law(PIPELINES[name], X, y if outputs is None else np.column_stack([y, X.sum(axis=1)])[:, :outputs])
