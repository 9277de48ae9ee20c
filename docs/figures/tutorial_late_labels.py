"""What late labels cost, and what helps: error against the delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _pages import names_of

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "guides/late-labels.md"
LOOKS = [
    (style.SKY, (0, (5, 1.6)), "s"),
    (style.BLUE, "-", "o"),
    (style.VERMILION, "-", "^"),
    (style.GREY, (0, (2, 2)), ""),
]


def draw() -> Figure:
    """The page's errors at its delays."""
    page = names_of(PAGE, "errors")
    days = [delay / 24 for delay in page["delays"]]
    figure = style.new_figure(7.2, 3.4)
    axes = figure.subplots()
    for (name, errors), (colour, dashes, marker) in zip(page["errors"].items(), LOOKS, strict=True):
        axes.plot(days, errors, color=colour, linestyle=dashes, marker=marker, markersize=5, label=name)
    axes.set(xlabel="days until the label comes", ylabel="error", xlim=(0, days[-1]), ylim=(0, 0.62))
    axes.set_xticks([0, 1, 3, 7, 14, 21])
    figure.legend(loc="outside lower center", ncols=2, handlelength=2.6)
    return figure
