"""The site as it was built: every link inside it holds, nothing is asked from outside, every figure is shown."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import thalweg
from thalweg import evaluate, streams

# One group: another worker would wait for the site to be built.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]

ROOT = Path(__file__).parents[2]
#: Addresses that a browser fetches by itself; a link is followed by the reader only.
FETCHED = {
    ("link", "href"),
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "srcset"),
    ("use", "href"),
}
IN_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?([^"')\s]+)""")


class Addresses(HTMLParser):
    """What a page points to, by tag and attribute, and the anchors it has."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []
        self.anchors: set[str] = set()
        self.without_alt: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self.found += [(tag, name, given[name]) for name in ("href", "src", "srcset") if name in given]
        if tag == "img" and not given.get("alt"):
            self.without_alt.append(given.get("src", ""))


@cache
def read(path: Path) -> Addresses:
    page = Addresses()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def pages_of(site: Path) -> list[Path]:
    return [page for page in sorted(site.rglob("*.html")) if page.name != "404.html"]  # its links are absolute


def has_moved(page: Path) -> bool:
    return 'http-equiv="refresh"' in page.read_text(encoding="utf-8")


def test_one_worker_has_the_site_to_itself(request):
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("only where several processes share the tests")
    assert request.node.nodeid.endswith("@site")


def test_every_link_inside_holds(site):
    broken = []
    for page in pages_of(site):
        for _, _, address in read(page).found:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchors = read(target).anchors if target.suffix == ".html" and target.exists() else {parts.fragment}
            if not target.exists() or (parts.fragment and unquote(parts.fragment) not in anchors):
                broken.append(f"{page.relative_to(site)} → {address}")
    assert not broken


def test_nothing_is_fetched_from_outside(site):
    asked = [
        f"{page.relative_to(site)}: {address}"
        for page in pages_of(site)
        for tag, name, address in read(page).found
        if (tag, name) in FETCHED and not address.startswith("data:") and urlsplit(address).netloc
    ]
    asked += [
        f"{sheet.relative_to(site)}: {address}"
        for sheet in site.rglob("*.css")
        for address in IN_STYLE.findall(sheet.read_text(encoding="utf-8"))
        if urlsplit(address).netloc
    ]
    assert not asked


def test_every_image_says_what_it_shows(site):
    assert not {
        str(page.relative_to(site)): read(page).without_alt for page in pages_of(site) if read(page).without_alt
    }


def test_every_figure_is_drawn_and_shown_for_both_grounds(site):
    scripts = {script.stem for script in (ROOT / "docs" / "figures").glob("[!_]*.py")}
    shown = {
        Path(urlsplit(address).path).stem
        for page in pages_of(site)
        for tag, _, address in read(page).found
        if tag in {"img", "source"}
    }
    assert scripts <= shown
    assert {f"{script}-dark" for script in scripts} <= shown


def test_every_equation_is_mathematics(site):
    """None was left as it is written."""
    for page in pages_of(site):
        assert 'class="arithmatex"' not in page.read_text(encoding="utf-8"), page.name
    assert "<math" in (site / "algorithms" / "online-ldc.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("module", "name"), [("thalweg", thalweg), ("thalweg.evaluate", evaluate), ("thalweg.streams", streams)]
)
def test_every_public_name_has_its_place_in_the_reference(site, module, name):
    anchors = {anchor for page in pages_of(site / "api") for anchor in read(page).anchors}
    missing = {public for public in name.__all__ if f"{module}.{public}" not in anchors}
    # A function may live in a module of its name; then its place is that of the function.
    assert not {public for public in missing if f"{module}.{public}.{public}" not in anchors}


def test_the_search_finds_every_page(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {urlsplit(entry["location"]).path for entry in index["docs"]}
    pages = [page for page in pages_of(site) if page.parent.name != "reports" and not has_moved(page)]
    written = {str(page.relative_to(site)) for page in pages}
    assert written - {"index.html"} <= found
