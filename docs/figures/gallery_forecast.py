"""Class means that move, and where a line through the last of them says they are about to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _gallery import tile, without_frame

from thalweg import OnlineLDC
from thalweg.report import style
from thalweg.streams import Circling, DriftingGaussians

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LOW, HIGH = (-5.4, -2.6), (5.4, 2.6)
LAST = 50


def draw() -> Figure:
    """The learned means over a third of a turn, late by their memory, and the lines through the last fifty."""
    X, y = DriftingGaussians(seed=3, scenario=Circling(degrees_per_row=0.3), covariance=0.6).take(480)
    model = OnlineLDC(rate=0.02, counts="soft")
    paths = []
    for row, label in zip(X, y.tolist(), strict=True):
        model.learn_one(row, label)
        if len(model.classes_) == 2:
            paths.append(model.means_.copy())
    figure, (axes,) = tile()
    for number, colour in enumerate((style.SKY, style.VERMILION)):
        path = np.array(paths)[80:, number]
        axes.plot(*path.T, color=colour, linewidth=1.6)
        times = np.arange(LAST)
        ahead = np.array([np.polyval(np.polyfit(times, path[-LAST:, axis], 1), [LAST, LAST + 150]) for axis in (0, 1)])
        axes.plot(*path[-1], "o", color=colour, markersize=6)
        axes.annotate("", ahead[:, 1], path[-1], arrowprops={"arrowstyle": "->", "color": style.INK, "lw": 1.6})
    without_frame(axes, LOW, HIGH)
    return figure
