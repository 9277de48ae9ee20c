"""Examples in docstrings stand under their own heading; without it the reference would show them as quotations."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADING = re.compile(r"^Examples\n-{8}$", re.MULTILINE)


def public_docstrings() -> Iterator[tuple[str, str]]:
    """The docstrings of modules, classes and functions in files with examples, with where they stand."""
    for path in sorted((ROOT / "src" / "thalweg").rglob("*.py")):
        if ">>>" not in (source := path.read_text(encoding="utf-8")):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                name = getattr(node, "name", "the module")
                if not name.startswith("_") and (told := ast.get_docstring(node)):
                    yield f"{path.relative_to(ROOT)}: {name}", told


def test_every_example_has_its_heading():
    without = []
    for where, told in public_docstrings():
        before, example, _ = told.partition(">>>")
        if example and not HEADING.search(before):
            without.append(where)
    assert not without
