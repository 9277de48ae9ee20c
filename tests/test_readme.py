"""Every Python example of the README and the documentation runs, and every picture and file they point to exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md"), reverse=True), *sorted((ROOT / "docs").glob("*.md"))]

FENCED = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAID = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")

EXAMPLES = [
    pytest.param(page, match[1], text.count("\n", 0, match.start()) + 1, id=f"{page.name}-{number}")
    for page in PAGES
    for text in [page.read_text(encoding="utf-8")]
    for number, match in enumerate(FENCED.finditer(text), start=1)
]


def test_the_examples_are_found():
    assert {example.values[0].name for example in EXAMPLES} >= {"README.md", "architecture.md", "readings.md"}


@pytest.mark.parametrize(("page", "code", "line"), EXAMPLES)
def test_example_runs(page, code, line, tmp_path, monkeypatch, capsys):
    """In an empty folder, and it prints what the comments behind its prints say."""
    monkeypatch.chdir(tmp_path)
    exec(compile("\n" * line + code, str(page), "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.splitlines() == SAID.findall(code)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_points_to_exists(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} points to {target}"
