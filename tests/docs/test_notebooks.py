"""The notebooks run from the first cell to the last, and are kept without what they print."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_the_notebooks_are_found():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_nothing_that_was_printed_is_kept(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, monkeypatch):
    """Under Jupyter, by what the site is built with; an error or a warning in a cell is raised there."""
    pytest.importorskip("nbclient", reason="running notebooks needs the docs extra")
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs" / "hooks"), *sys.path])
    import notebooks

    cells = notebooks.execute(path).cells
    drawings = [out for cell in cells for out in cell.get("outputs", []) if "image/svg+xml" in out.get("data", {})]
    described = [cell for cell in cells if "alt" in cell.metadata]
    assert len(drawings) == len(described) > 0
