"""Hard and soft counts: a boundary that turns, and one that stands still."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import blocks, legend_below, mistakes

from thalweg import OnlineLDC
from thalweg.report import style
from thalweg.streams import MovingPlane

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, BLOCK = 20_000, 500
MODELS = {
    "hard counts, λ = 0.5 (all rows alike)": (0.5, "hard", style.GREY, (0, (2, 2))),
    "hard counts, λ = 0.96": (0.96, "hard", style.GREEN, (0, (4, 1.4, 1, 1.4))),
    "soft counts, λ = 0.02": (0.02, "soft", style.BLUE, "-"),
    "soft counts, λ = 0.2": (0.2, "soft", style.VERMILION, (0, (5, 1.6))),
}


def draw() -> Figure:
    """Error of the last 500 rows on both streams."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    X = rng.normal(size=(ROWS, 10)) + np.where(y[:, np.newaxis] == 1, 0.4, -0.4)
    streams = {
        "Turns by 0.05° a row": MovingPlane(seed=0, degrees_per_row=0.05).take(ROWS),
        "Nothing moves (10 features)": (X, y),
    }
    figure = style.new_figure(7.2, 3.5)
    panels = figure.subplots(1, 2)
    for axes, (title, (rows, labels)) in zip(panels, streams.items(), strict=True):
        for name, (rate, counts, colour, dashes) in MODELS.items():
            model = OnlineLDC(rate, counts=counts)
            axes.plot(*blocks(mistakes(model, rows, labels), BLOCK), color=colour, linestyle=dashes, label=name)
        axes.set(title=title, xlabel="rows seen", xlim=(0, ROWS))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xticks([0, 10_000, 20_000])
    panels[0].set(ylabel="error, mean of 500 rows", ylim=(0, 1))
    panels[1].set_ylim(0, 0.36)
    legend_below(figure, panels, 2)
    return figure
