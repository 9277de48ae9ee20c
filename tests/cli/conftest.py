"""What the tests of the commands start from."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.cli.calls import ROWS


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, list[str]]:
    """Rows of two numbers, in the working folder as table.csv."""
    monkeypatch.chdir(tmp_path)
    X, y, lines = rows()
    Path("table.csv").write_text(lines)
    return X, y


@cache
def rows() -> tuple[np.ndarray, list[str], str]:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, ROWS)
    X = np.round(rng.normal(size=(ROWS, 2)) + truth[:, None], 3)
    y = ["dry" if t else "wet" for t in truth]
    times = np.datetime64("2024-01-01T00") + np.arange(ROWS)
    lines = [f"{a},{b},{when},{when + 5},{label}" for (a, b), when, label in zip(X.tolist(), times, y, strict=True)]
    return X, y, "\n".join(["a,b,when,told,state", *lines]) + "\n"
