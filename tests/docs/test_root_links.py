"""What the pages at the root of the repository point to exists; the site's own links are checked where it is built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#([^)\s]+))?")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_what_a_page_points_to_exists(page):
    for target, heading in LINK.findall(page.read_text(encoding="utf-8")):
        path = page.parent / target
        assert path.exists(), f"{page.name} points to {target}"
        assert not heading or heading in headings(path), f"{page.name} points to {target}#{heading}"


def headings(path: Path) -> list[str]:
    """The headings of a page as links name them."""
    words = (re.sub(r"[^\w -]", "", each.lower()) for each in HEADING.findall(path.read_text(encoding="utf-8")))
    return [each.replace(" ", "-") for each in words]


def test_the_readme_leads_to_guides():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    guides = {target for target, _ in LINK.findall(text) if target.startswith("docs/guides/")}
    assert len(guides - {"docs/guides/index.md"}) >= 5
