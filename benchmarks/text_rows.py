"""Texts with labels, in an order of time: a generated stream, and docstrings of what is installed."""

from __future__ import annotations

import ast
import importlib.util
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.contest import Unavailable
from thalweg.streams import DriftingTopics

PACKAGES = ("numpy", "scipy", "sklearn", "pandas")
#: As in scikit-learn's default token_pattern.
WORD = re.compile(r"\w\w+")
LEAST_WORDS = 5


@dataclass(frozen=True)
class TextRows:
    """Labelled texts; labels are numbers from 0 on."""

    name: str
    texts: list[str]
    y: list[int]

    @property
    def n_classes(self) -> int:
        return max(self.y) + 1

    @cached_property
    def words(self) -> list[str]:
        """Each text as its words in lower case, with a space between: free of what formats reserve."""
        return [" ".join(WORD.findall(text.lower())) for text in self.texts]


def topics(rows: int) -> TextRows:
    """Generated texts of two classes, whose topics drift gradually and change places in the middle."""
    X, y = DriftingTopics(seed=0, rows_per_change=max(1, rows // 2)).take(rows)
    return TextRows("topics", X[:, 0].tolist(), y.tolist())


def docstrings(rows: int | None = None) -> TextRows:
    """Paragraphs of docstrings, each once, labelled by package; all packages are read at the same pace, file by file.

    Examples of code are left out, as are tests and paragraphs of fewer than five words. The number of rows depends on
    the versions that are installed: 47,154 of NumPy 2.4.6, SciPy 1.17.1, scikit-learn 1.9.1 and pandas 2.3.3.
    """
    placed: list[tuple[float, int, str]] = []
    known: set[str] = set()
    for label, package in enumerate(PACKAGES):
        found = [text for text in _paragraphs(package) if not (text in known or known.add(text))]
        placed += [(place / len(found), label, text) for place, text in enumerate(found)]
    placed = sorted(placed)[:rows]
    return TextRows("docstrings", [text for _, _, text in placed], [label for _, label, _ in placed])


def _paragraphs(package: str) -> list[str]:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise Unavailable(f"docstrings of {package}: it is not installed")
    files = sorted(path for path in Path(spec.origin).parent.rglob("*.py") if "tests" not in path.parts)
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    nodes = (node for path in files for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, documented))
    parts = (part for node in nodes for part in re.split(r"\n\s*\n", ast.get_docstring(node) or ""))
    return [part for part in parts if ">>>" not in part and len(WORD.findall(part)) >= LEAST_WORDS]
