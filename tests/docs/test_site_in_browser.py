"""The site in a real browser: a quiet console, nothing asked from elsewhere, no sideways scroll, a working search."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

PAGES = (
    "index.html",
    "tutorials/from-a-csv-file-to-a-report.html",
    "algorithms/online-ldc.html",
    "watch.html",
)
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 800}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def opened(new_context: Callable[..., Any], address: str) -> Iterator[Any]:
    """Opens a page and, at the end, checks that it was quiet."""
    contexts, noise = [], []

    def opens(name: str, viewport: dict[str, int] = WIDE, scheme: str = "light") -> Any:
        contexts.append(new_context(viewport=viewport, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("response", lambda answer: noise.append(answer.url) if answer.status >= 400 else None)
        page.on("request", lambda asked: noise.append(asked.url) if not _is_own(asked.url, address) else None)
        page.goto(address + name)
        page.wait_for_load_state("networkidle")
        return page

    yield opens
    for context in contexts:
        context.close()
    assert not noise


def _is_own(url: str, address: str) -> bool:
    return url.startswith((address, "data:", "blob:"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_quiet_and_shows_the_figures_of_its_ground(opened, name, scheme):
    page = opened(name, scheme=scheme)
    other = "light" if scheme == "dark" else "dark"
    assert not page.locator(f'img[src$="#only-{other}"]').evaluate_all("all => all.some((one) => one.offsetParent)")
    mine = page.locator(f'img[src$="#only-{scheme}"]')
    assert mine.evaluate_all("all => all.every((one) => one.offsetParent)")


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_needs_no_sideways_scroll(opened, name):
    page = opened(name, PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_search_answers(opened):
    page = opened("index.html")
    page.locator(".md-search__input").click()
    page.keyboard.type("forgetting")
    page.locator(".md-search-result__list", has_text="forgetting").wait_for()


def test_a_phone_is_shown_the_narrow_figure(opened):
    shown = "one => one.currentSrc.includes('landing_phone')"
    assert opened("index.html", PHONE).locator('img[src*="landing.svg"]').evaluate(shown)
    assert not opened("index.html").locator('img[src*="landing.svg"]').evaluate(shown)


@pytest.mark.parametrize(
    ("name", "block", "begins"),
    [
        ("tutorials/ten-minutes.html", ".language-console", "thalweg generate"),
        ("api/errors.html", ".language-pycon", "from thalweg"),
    ],
)
def test_the_copy_button_takes_what_was_typed(opened, name, block, begins):
    page = opened(name)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('')")
    block = page.locator(block).first
    block.hover()
    block.locator(".md-code__button").click()
    copied = page.wait_for_function("() => navigator.clipboard.readText()").json_value().splitlines()
    shown = block.locator("code").inner_text().splitlines()
    assert copied[0].startswith(begins)
    assert copied == [
        line[4:] if line[0] in ">." else line[2:] for line in shown if line.startswith(("$ ", ">>>", "..."))
    ]


def test_the_first_column_of_a_wide_table_stays(opened):
    page = opened("comparison.html", PHONE)
    first = page.locator(".beside td").first
    before = first.bounding_box()["x"]
    page.locator(".beside .md-typeset__scrollwrap").first.evaluate("one => one.scrollBy(200, 0)")
    assert page.locator(".beside td").nth(1).bounding_box()["x"] < before
    assert first.bounding_box()["x"] >= 0
