"""Every cell of two tables of a paper: printed across, measured up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.papers.registry import PAPERS
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLES = {
    "table1": ("Table 1, classes that circle", style.BLUE, "o"),
    "table4": ("Table 4, classes that jump", style.VERMILION, "x"),
}
RUNS = 2


def draw() -> Figure:
    """Cells on the diagonal agree."""
    outcomes = PAPERS["schnackenberg2018"].reproduce(tuple(TABLES), runs=RUNS)
    figure = style.new_figure(4.6, 4.4)
    axes = figure.subplots()
    axes.plot([0, 0.65], [0, 0.65], color=style.GREY, linewidth=1.0)
    for outcome in outcomes:
        name, colour, marker = TABLES[outcome.item]
        cells = [cell for cell in outcome.findings if cell.printed is not None]
        printed, measured = [cell.printed for cell in cells], [cell.measured for cell in cells]
        axes.plot(printed, measured, marker, color=colour, markerfacecolor="none", markersize=6, label=name)
    axes.set(xlabel="error as printed", ylabel=f"error measured here, {RUNS} runs", aspect="equal")
    axes.set(xlim=(0, 0.65), ylim=(0, 0.65), xticks=[0, 0.2, 0.4, 0.6], yticks=[0, 0.2, 0.4, 0.6])
    axes.legend(loc="upper left")
    return figure
