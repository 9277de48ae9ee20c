"""HTML whose every text is escaped unless it is markup already: nothing a file holds can become part of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_VOID = frozenset({"br", "col"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str | bool | None) -> Markup:
    """One element. ``class_`` and ``data_row`` are written class and data-row; True is a bare attribute.

    Examples
    --------
    >>> tag("p", "a < b", tag("b", "!"), class_="note", hidden=True, title=None)
    '<p class="note" hidden>a &lt; b<b>!</b></p>'
    """
    written = "".join(_attribute(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(children)}</{name}>")


def joined(parts: Iterable[str]) -> Markup:
    """Parts one after the other, escaped where they are plain text."""
    return Markup("".join(part if isinstance(part, Markup) else escape(part, quote=False) for part in parts))


def table(
    headers: Sequence[str],
    lines: Iterable[Sequence[str]],
    *,
    caption: str,
    numbers: bool = False,
) -> Markup:
    """A table that scrolls within itself where it is too wide; the first cell of a line names the line."""
    head = tag("tr", *(tag("th", header, scope="col") for header in headers))
    body = joined(
        tag("tr", *(tag("td", cell) if at else tag("th", cell, scope="row") for at, cell in enumerate(line)))
        for line in lines
    )
    parts = tag("caption", caption, class_="unseen"), tag("thead", head), tag("tbody", body)
    inner = tag("table", *parts, class_="numbers" if numbers else None)
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _attribute(name: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(value)}"'
