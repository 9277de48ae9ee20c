"""What the build does to equations, drawings and links, on examples small enough to read."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def hook(monkeypatch):
    """A module of docs/hooks by its name."""
    pytest.importorskip("mkdocs", reason="the build needs the docs extra")
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs" / "hooks"), *sys.path])
    return importlib.import_module


PAGE = SimpleNamespace(file=SimpleNamespace(src_path="page.md"))


def test_equations_become_mathml(hook, caplog):
    html = hook("mathematics").on_page_content(r'a <span class="arithmatex">\(x &lt; \frac12\)</span> b', page=PAGE)
    assert html.startswith("a <math")
    assert "<mfrac>" in html
    assert "&#x0003C;" in html
    assert not caplog.records


@pytest.mark.parametrize("tex", [r"\foo", r"\begin{aligned} a &= b \end{aligned}"])
def test_an_equation_that_is_not_understood_is_a_warning(hook, caplog, tex):
    hook("mathematics").on_page_content(rf'<div class="arithmatex">\[{tex}\]</div>', page=PAGE)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_drawing_gets_a_dark_twin_and_a_page_shows_both(hook, tmp_path):
    figures = hook("figures")
    figures.write_twins("<path style='stroke: #222222; fill: #e69f00'/>", tmp_path, "x")
    assert (tmp_path / "x.svg").read_text() == "<path style='stroke: #222222; fill: #e69f00'/>"
    assert (tmp_path / "x-dark.svg").read_text() == "<path style='stroke: #E4E6EB; fill: #e69f00'/>"
    html = figures.on_page_content('<img alt="A" src="../figures/x.svg" />')
    assert 'src="../figures/x.svg#only-light"' in html
    assert 'src="../figures/x-dark.svg#only-dark"' in html
    assert "<picture>" not in html
    other = '<img alt="A" src="../pictures/x.png" />'
    assert figures.on_page_content(other) == other


def test_a_figure_with_a_narrow_form_shows_it_on_narrow_screens(hook):
    html = hook("figures").on_page_content('<img alt="A" src="figures/landing.svg" />')
    assert '<source media="(max-width: 600px)" srcset="figures/landing_phone.svg"/>' in html
    assert 'srcset="figures/landing_phone-dark.svg"' in html


def test_old_addresses_of_pages_lead_to_the_new_ones(hook, tmp_path):
    moved = hook("moved_pages")
    moved.on_post_build(SimpleNamespace(site_dir=str(tmp_path)))
    assert 'href="../guides/spark.html"' in (tmp_path / "tutorials" / "on-spark.html").read_text()
    for old, new in moved.MOVED.items():
        assert not (ROOT / "docs" / f"{old}.md").exists()
        assert (ROOT / "docs" / f"{new}.md").exists()


def test_what_is_made_is_kept_until_its_recipe_changes(hook, tmp_path, monkeypatch):
    kept = hook("kept")
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    monkeypatch.setattr(kept, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(kept, "__file__", str(tmp_path / "recipe"))
    monkeypatch.setattr(kept, "_package_fingerprint", lambda: "package")
    recipe, made = tmp_path / "recipe", []

    def make(folder):
        made.append(folder)
        (folder / "it").write_text("here")

    recipe.write_text("one")
    first = kept.folder_of("kind", [recipe], make)
    assert (first / "it").read_text() == "here"
    assert kept.folder_of("kind", [recipe], make) == first
    assert len(made) == 1
    recipe.write_text("two")
    assert kept.folder_of("kind", [recipe], make) != first
    assert len(made) == 2
