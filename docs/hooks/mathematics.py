"""Equations become MathML while the site is built, so that pages need no script to show them."""

from __future__ import annotations

import html
import logging
import re

from latex2mathml.converter import convert
from mkdocs.structure.pages import Page

log = logging.getLogger("mkdocs.hooks.mathematics")

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)
#: What the converter leaves as it found it: it did not know the command, or the environment's columns.
NOT_UNDERSTOOD = re.compile(r"\\\w+|<mi>&</mi>")


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Each formula of a page; one that cannot be converted is a warning, which a strict build does not forgive."""

    def formula(tex: str, display: str) -> str:
        mathml = convert(_unescaped(tex), display=display)
        if unknown := NOT_UNDERSTOOD.search(mathml):
            log.warning(f"{page.file.src_path}: no MathML for {unknown[0]!r} in {tex!r}")
        return mathml

    html = INLINE.sub(lambda match: formula(match[1], "inline"), html)
    return DISPLAY.sub(lambda match: f'<div class="equation">{formula(match[1], "block")}</div>', html)


def _unescaped(tex: str) -> str:
    return html.unescape(tex).strip()
