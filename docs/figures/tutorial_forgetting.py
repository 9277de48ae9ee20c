"""Error against memory at four speeds of drift, and what the bank of memories reaches without a setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _pages import names_of

from thalweg import OnlineLDC
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "explanations/forgetting.md"
LOOKS = [(style.GREY, "o"), (style.GREEN, "s"), (style.BLUE, "^"), (style.VERMILION, "D")]


def draw() -> Figure:
    """One panel per speed would be four times the same axes: one for all, the best memory of each marked."""
    page = names_of(PAGE, "errors")
    memories, errors = page["memories"], page["errors"]
    figure = style.new_figure(7.2, 3.8)
    axes = figure.subplots()
    for (speed, of_memory), (colour, marker) in zip(errors.items(), LOOKS, strict=True):
        name = "nothing moves" if speed == 0 else f"{speed:g}° a row"
        axes.plot(memories, of_memory, color=colour, marker=marker, markersize=4, label=name)
        best = int(np.argmin(of_memory))
        axes.plot(memories[best], of_memory[best], marker, color=colour, markersize=10, markerfacecolor="none")
        reached = page["error"](OnlineLDC("auto", counts="soft"), speed)
        axes.axhline(reached, color=colour, linestyle=(0, (1, 2)), linewidth=1.2)
    axes.plot([], [], color=style.INK, linestyle=(0, (1, 2)), label='"auto"')
    axes.set(xscale="log", xlabel="rows remembered", ylabel="error", ylim=(0, 0.52), xlim=(2.7, 1100))
    axes.set_xticks([3, 10, 30, 100, 300, 1000], ["3", "10", "30", "100", "300", "1,000"])
    axes.minorticks_off()
    figure.legend(loc="outside lower center", ncols=5, handlelength=2.2, columnspacing=1.4)
    return figure
