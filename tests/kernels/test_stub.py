"""The types of the compiled module are those that nanobind writes (``make stubs``)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from thalweg import kernels

STUB = Path(kernels.__file__).with_name("_base.pyi")


def test_the_stub_is_the_generated_one(tmp_path: Path) -> None:
    pytest.importorskip("nanobind.stubgen", reason="stubs are generated where the kernels are built")
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
    if ruff is None:
        pytest.skip("ruff formats the stub")
    made = tmp_path / "_base.pyi"
    stubgen = [sys.executable, "-m", "nanobind.stubgen", "-q", "--exclude-values", "-m", "thalweg.kernels._base"]
    subprocess.run([*stubgen, "-o", str(made)], check=True)
    subprocess.run([ruff, "format", "-q", "--config", "line-length = 120", str(made)], check=True)
    assert STUB.read_text() == made.read_text(), "run `make stubs` after a binding has changed"
