"""Labels that persist: when repeating the last one is hard to beat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import legend_below, mistakes

from thalweg import AutoClassifier, MajorityClass, NoChange, OnlineLDC
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = 4000
STAYS = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99])
MODELS = {
    "O-LDC, soft counts, λ = 0.01": (lambda: OnlineLDC(0.01, counts="soft"), style.BLUE, "-", "o"),
    "AutoClassifier(persistence=True)": (lambda: AutoClassifier(persistence=True), style.PURPLE, (0, (2, 1)), "v"),
    "no change": (NoChange, style.GREY, (0, (2, 2)), "x"),
    "majority class": (MajorityClass, style.ORANGE, (0, (1, 2.2)), "+"),
}


def sticky(stays: float) -> tuple[np.ndarray, np.ndarray]:
    """Labels that stay as they are with this chance from row to row; two features distinguish them, not quite."""
    rng = np.random.default_rng(0)
    turns = rng.random(ROWS) > stays
    y = np.cumsum(turns) % 2
    return rng.normal(size=(ROWS, 2)) + np.where(y[:, np.newaxis] == 1, 0.6, -0.6), y


def draw() -> Figure:
    """Error over 4,000 rows by how persistent the labels are."""
    figure = style.new_figure(7.2, 3.4)
    axes = figure.subplots()
    for name, (make, colour, dashes, marker) in MODELS.items():
        found = [mistakes(make(), *sticky(stays)).mean() for stays in STAYS]
        axes.plot(STAYS, found, color=colour, linestyle=dashes, marker=marker, markersize=6, label=name)
    axes.set(
        title="Two classes that overlap",
        xlabel="chance that the next label is the same",
        ylabel="error over 4,000 rows",
    )
    axes.set_xlim(0.49, 1.0)
    axes.set_ylim(0, 0.55)
    legend_below(figure, [axes], 2)
    return figure
