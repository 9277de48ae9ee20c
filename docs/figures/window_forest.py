"""What a forest knows of a checkerboard that turns under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thalweg import WindowForest
from thalweg.report import style
from thalweg.streams import RotatingCheckerboard

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TURN, PANELS, SHOWN, MEASURED = 48_000, 3, 250, 1000  # rows
TICKS = [0, 0.5, 1]


def draw() -> Figure:
    """An eighth of a turn in three steps: regions as colours, the last rows as points, the true boundary as a line."""
    figure = style.new_figure(7.2, 2.9)
    stream = RotatingCheckerboard(seed=0, length=TURN + 1)
    step = TURN // 8 // PANELS
    X, y = stream.take(step * PANELS)
    model = WindowForest()
    side = np.linspace(0, 1, 201)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    for panel, axes in enumerate(figure.subplots(1, PANELS, sharey=True), start=1):
        own = slice((panel - 1) * step, panel * step)
        wrong = model.predict_then_learn(X[own], y[own]) != y[own]
        found = model.predict_proba(grid)[:, 1].reshape(len(side), -1)
        axes.contourf(side, side, found, levels=[0, 0.5, 1], colors=[style.BLUE, style.ORANGE], alpha=0.25)
        truth = stream.concept(panel * step).label(grid).reshape(len(side), -1)
        axes.contour(side, side, truth, levels=[0.5], colors="black", linewidths=0.8)
        for label, colour, marker in ((0, style.BLUE, "o"), (1, style.ORANGE, "s")):
            points = X[own][-SHOWN:][y[own][-SHOWN:] == label]
            axes.plot(*points.T, linestyle="", marker=marker, markersize=2, color=colour)
        title = f"Row {panel * step:,}\nerror {wrong[-MEASURED:].mean():.3f}"
        axes.set(title=title, xlabel="feature 1", aspect="equal", xticks=TICKS, yticks=TICKS)
        axes.set(xlim=(0, 1), ylim=(0, 1))
    figure.axes[0].set(ylabel="feature 2")
    return figure
