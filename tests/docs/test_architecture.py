"""The page on the architecture is true: its layers are those that are checked, and every path it names exists."""

from __future__ import annotations

import graphlib
import re
import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
#: Where paths on the page begin.
STARTS = (ROOT, ROOT / "src" / "thalweg", ROOT / "src" / "thalweg" / "kernels")


def test_the_layers_are_those_that_are_checked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    checked = [layer.replace("thalweg.", "").replace(" : ", ", ") for layer in layers]
    assert re.search(r"```text\n(cli\n.*?)```", PAGE, re.DOTALL)[1].splitlines() == checked


def test_no_module_imports_itself_by_way_of_others():
    graph = grimp.build_graph("thalweg")  # imports inside functions, and those for type checkers, among them
    imported = {module: graph.find_modules_directly_imported_by(module) - {module} for module in graph.modules}
    by_name = {"thalweg.run.evaluation", "thalweg.run.result"}
    assert by_name <= imported["thalweg.evaluate"]
    imported["thalweg.evaluate"] -= by_name  # names for type checkers, imported when they are asked for
    graphlib.TopologicalSorter(imported).prepare()


def test_every_path_exists_and_every_folder_is_named():
    named = set(re.findall(r"`([\w./]+(?:/|\.py|\.pyi|\.hpp|\.cpp))`", PAGE))
    assert not [path for path in named if not any((start / path).exists() for start in STARTS)]
    package = ROOT / "src" / "thalweg"
    folders = {f"{each.name}/" for each in package.iterdir() if (each / "__init__.py").exists()} - {"kernels/"}
    folders |= {f"kernels/{each.name}/" for each in (package / "kernels").iterdir() if any(each.glob("*.[hc]pp"))}
    assert folders <= named
