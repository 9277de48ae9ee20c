"""The page of benchmarks is made of whole results, and shows each of them."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from benchmarks.results import read
from benchmarks.suites import NAMES

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "benchmarks"
PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("mkdocs", reason="the build needs the docs extra")
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs" / "hooks"), *sys.path])
    return importlib.import_module("measured")


def test_every_suite_was_measured_to_its_end_and_is_on_the_page() -> None:
    for name in NAMES:
        assert read(RESULTS / f"{name}.json").complete, name
        assert re.search(rf"<!-- (ratios|found) {name}\b", PAGE), name


def test_marks_become_tables_of_what_was_found(hook: ModuleType) -> None:
    made = hook.on_page_markdown(PAGE)
    assert "<!-- " not in made
    results = read(RESULTS / "limit.json")
    for finding in results.findings:
        assert f"| {finding.what} | {finding.value:,.3g} | at least 0.8 |" in made
    first = next(record for record in read(RESULTS / "first_look.json").records if record.side == "ours")
    assert f"| **{first.model}** | {hook.number(first.ratios['× River'], '')} |" in made


def test_pictures_on_the_page_are_drawn(hook: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pictures need the plot extra")
    hook.draw(RESULTS / "growth.json", tmp_path)
    assert (tmp_path / "benchmark_growth.svg").exists()
    assert (tmp_path / "benchmark_growth-dark.svg").exists()
