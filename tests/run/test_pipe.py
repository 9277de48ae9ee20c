"""A pipe is answered while it is still being written."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_rows_are_answered_before_the_pipe_ends(tmp_path: Path, form: str) -> None:
    values = np.random.default_rng(0).normal(size=2000)
    rows = [f"{x:.6f},{'up' if x > 0 else 'down'}\n" for x in values]
    if form == "ndjson":
        rows = [f'{{"x": {x:.6f}, "y": "{"up" if x > 0 else "down"}"}}\n' for x in values]
    command = [sys.executable, "-m", "thalweg", "run", "-", "--target", "y", "--model", "oldc", "--out", "out"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(("".join(["x,y\n"] * (form == "csv") + rows[:1600])).encode())
        process.stdin.flush()
        deadline = time.monotonic() + 120
        while lines_of(tmp_path / "out" / "predictions.csv") < 1 + 1000 + 512:  # the head and a chunk
            assert time.monotonic() < deadline, "the rows that came were not answered"
            assert process.poll() is None
            time.sleep(0.05)
        process.communicate("".join(rows[1600:]).encode())
    assert process.returncode == 0
    assert lines_of(tmp_path / "out" / "predictions.csv") == 2001
