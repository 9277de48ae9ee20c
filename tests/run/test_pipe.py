"""A pipe is answered while it is still being written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.waiting import wait_until


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.parametrize("form", ["csv", pytest.param("ndjson", marks=pytest.mark.slow)])
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
        rows_of_head_and_chunk = 1000 + 512

        def answered() -> bool:
            assert process.poll() is None
            return lines_of(tmp_path / "out" / "predictions.csv") >= 1 + rows_of_head_and_chunk

        wait_until(answered)
        process.communicate("".join(rows[1600:]).encode())
    assert process.returncode == 0
    assert lines_of(tmp_path / "out" / "predictions.csv") == 2001
