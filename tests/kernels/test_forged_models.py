"""Extreme numbers in model files whose checksum is right: refused in a sentence, or without harm."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.test_store import forged, header_and_arrays
from thalweg import OnlineLDC, TilingClassifier
from thalweg.errors import ModelFileError
from thalweg.store import dumps, loads

rng = np.random.default_rng(0)
X = rng.normal(size=(100, 3))
y = (X[:, 0] > 0).astype(int)


def attacked(count: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.kernels.forged_models", str(count)],
        capture_output=True,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )


def test_no_forged_number_ends_a_process() -> None:
    result = attacked(140)  # about one in every kind of model
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
def test_no_forged_number_ends_a_process_however_many() -> None:
    result = attacked(int(os.environ.get("THALWEG_FORGED", "10000")))
    assert result.returncode == 0, result.stdout + result.stderr


def test_labels_out_of_order_are_refused() -> None:
    """A kernel finds the places of labels by their order, and wrote beyond its table."""
    header, arrays = header_and_arrays(dumps(OnlineLDC().partial_fit(X, [5, 6, 7, 8] * 25)))
    header["labels"]["values"] = [5, 40_000, 6, 7]
    with pytest.raises(ModelFileError, match="its labels are not sorted"):
        loads(forged(header, arrays))


@pytest.mark.parametrize("value", [np.nan, np.inf, -1e308])
@pytest.mark.parametrize("name", ["means", "factor_rows", "total"])
def test_numbers_that_no_rows_lead_to_are_refused(name: str, value: float) -> None:
    header, arrays = header_and_arrays(dumps(OnlineLDC().partial_fit(X, y)))
    arrays[name] = arrays[name].copy()
    arrays[name].flat[-1] = value
    with pytest.raises(ModelFileError, match=f"is not valid at '{name}'"):
        loads(forged(header, arrays))


def test_a_row_that_is_no_number_falls_into_a_cell_nonetheless() -> None:
    """Below every check in Python: places in memory are bounded where they are found."""
    core = TilingClassifier(12, step=0.05).partial_fit(X, y)._core
    scores = np.empty((4, 2))
    core.scores(np.full((4, 3), np.nan), scores)
    assert np.isfinite(scores).all()
