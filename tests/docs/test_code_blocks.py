"""Every code block of the README and the documentation runs, and prints what the page says it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import spark_tests
from tests.docs.code_blocks import assert_same, blocks_of, run

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md"), reverse=True), *sorted((ROOT / "docs").rglob("*.md"))]
#: What is not run: set-up, and text that is no code.
INSTALLING = ("cd ", "git ", "make ", "pip ", "python -m venv ", "python -m benchmarks ")
NOT_CODE = {"", "text"}
#: Pages that start servers, or learn for seconds.
LONG = {"alerts.md", "evaluate-a-model.md", "forgetting.md", "merge-models.md", "one-model-per-key.md"}
LONG |= {"features.md", "rare-classes.md", "regression.md"}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_the_examples_are_found():
    with_code = {name(page) for page in PAGES if any(block.language == "python" for block in blocks_of(page))}
    assert with_code >= {"README.md", "docs/architecture.md", "docs/readings.md", "docs/index.md"}


def needs_spark(page: Path) -> bool:
    return any("thalweg.spark" in block.code for block in blocks_of(page))


def marks_of(page: Path) -> list[pytest.MarkDecorator]:
    """Tutorials and pages for users of other libraries take a minute together; most other pages are always run."""
    if needs_spark(page):
        return [pytest.mark.slow, spark_tests]
    return [pytest.mark.slow] if page.parent.name in {"tutorials", "coming-from"} or page.name in LONG else []


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=marks_of(page), id=name(page)) for page in PAGES if blocks_of(page)],
)
def test_page_runs(page, tmp_path, monkeypatch, capsys, request):
    if needs_spark(page):
        request.getfixturevalue("spark")
        capsys.readouterr()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")
    run(page, lambda: capsys.readouterr().out)


@pytest.mark.parametrize("page", [page for page in PAGES if page.is_relative_to(ROOT / "docs")], ids=name)
def test_nothing_that_could_run_is_left_out(page):
    for block in blocks_of(page):
        assert block.language in {"python", "console", "sh"} | NOT_CODE
        if block.language == "sh":
            assert all(line.startswith(INSTALLING) for line in block.code.splitlines() if line.strip())


@pytest.mark.parametrize(
    ("printed", "shown", "same"),
    [
        ("a\nb\n", ["a", "b"], True),
        ("a\nb\nc\n", ["a", "…", "c"], True),
        ("a\nc\n", ["a", "…", "c"], True),
        ("a\nb\n", ["a", "…", "c"], False),
        ("a\n", [], False),
        ("", ["a"], False),
    ],
)
def test_what_is_shown_is_compared(printed, shown, same):
    if same:
        assert_same(printed, shown, "here")
    else:
        with pytest.raises(AssertionError):
            assert_same(printed, shown, "here")
