"""What the parts of a page stand in: sections, and figures with their tools and numbers."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.report.page.markup import Markup, joined, tag


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
