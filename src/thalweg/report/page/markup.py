"""HTML in which every text is escaped unless it is markup already; sections and figures of a page."""

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


def section(key: str, title: str, *content: Markup) -> Markup:
    """A part of the page under a heading."""
    return tag("section", tag("h2", title), *content, id=key)


def folded(summary: str, content: Markup) -> Markup:
    """What is shown when asked for."""
    return tag("details", tag("summary", summary), content)


def figure(
    key: str,
    title: str,
    caption: str,
    numbers: Markup,
    *,
    heading: bool = True,
    views: Sequence[str] = (),
    zooms: bool = True,
) -> Markup:
    """A place for the page's script to draw in, with tools above it and the same numbers as a table below.

    Parameters
    ----------
    key : str
        By what the script finds the chart's data.
    title, caption : str
        What it shows; a chart alone in its section has the section's heading and needs none of its own.
    numbers : Markup
        The table.
    heading : bool
        Whether the title is written above.
    views : sequence of str
        Names of the ways to see it, if there are several.
    zooms : bool
        Whether one can look closer.
    """
    words = [tag("h3", title)] if heading else []
    if caption:
        words.append(tag("p", caption))
    reset = [tag("button", "Reset zoom", type="button", data_reset=True, hidden=True)] if zooms else []
    spoken_save = f"Save “{title}” as"
    save = [
        tag("button", "PNG", type="button", data_png=True, aria_label=f"{spoken_save} PNG", title="Save as PNG"),
        tag("button", "SVG", type="button", data_svg=True, aria_label=f"{spoken_save} SVG", title="Save as SVG"),
    ]
    spoken = f"Chart: {title}. Arrow keys walk along."
    return tag(
        "figure",
        tag("figcaption", tag("div", *words), tag("div", *reset, *save, class_="tools")),
        _switch(views) if len(views) > 1 else Markup(""),
        tag("div", class_="plot", tabindex="0", role="group", aria_label=spoken),
        tag("p", class_="unseen", aria_live="polite", data_spoken=True),
        folded("The numbers", numbers),
        class_="chart",
        data_chart=key,
    )


def _switch(views: Sequence[str]) -> Markup:
    buttons = (
        tag("button", view, type="button", data_view=str(at), aria_pressed="true" if at == 0 else "false")
        for at, view in enumerate(views)
    )
    return tag("div", joined(buttons), class_="views", role="group", aria_label="What the curves show")
