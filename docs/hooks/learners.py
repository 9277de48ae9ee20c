"""The reference of every classifier, in place of the line ``<!-- learners: reference -->`` of a page."""

from __future__ import annotations

from pathlib import Path

from thalweg import learners
from thalweg.learners.base.classifier import StreamClassifier

REFERENCE = "<!-- learners: reference -->"
#: Its table says of each of them when to use it.
PAGE = Path(__file__).parents[1] / "algorithms" / "index.md"


def on_page_markdown(markdown: str, **_: object) -> str:
    """The mark becomes what it names."""
    return markdown.replace(REFERENCE, reference())


def described() -> list[str]:
    """Every classifier, in order."""
    return [name for name in learners.MODULES if issubclass(getattr(learners, name), StreamClassifier)]


def reference() -> str:
    """One line for each class, which mkdocstrings reads."""
    return "\n".join(f"::: thalweg.{name}" for name in described())
