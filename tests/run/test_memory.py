"""A stream of a million rows more needs no more memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "peak_memory.py"
SHORT, LONG = 600_000, 1_600_000  # the memory of readers and writers is full by then
#: Bytes that a row may leave behind; its three features alone are 24. What is measured differs by 14 MB.
BYTES_A_ROW = 20


@pytest.mark.memory
@pytest.mark.slow
def test_memory_does_not_grow_with_the_stream() -> None:
    # Chunks of one size: by default they grow with the first million rows, and what they take with them.
    options = ("--model", "oldc", "--rate", "0.02", "--delay", "100", "--chunk", "2048", "--checkpoint-seconds", "0.1")
    command = [sys.executable, str(BENCHMARK), "--rows", str(SHORT), str(LONG), "--", *options]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    short, long = map(json.loads, told.splitlines())
    assert min(short["checkpoint_share"], long["checkpoint_share"]) > 0
    assert long["peak_mb"] - short["peak_mb"] < BYTES_A_ROW * (LONG - SHORT) / 1e6
