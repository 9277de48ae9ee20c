"""Weights of a linear regression find their values, and follow when these change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _gallery import tile

from thalweg import OnlineLinearRegression
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ROWS = 900


def draw() -> Figure:
    """Three weights, two of which are exchanged halfway."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 3))
    truth = np.where(np.arange(ROWS)[:, np.newaxis] < ROWS // 2, [1.0, 0.2, -0.6], [0.2, 1.0, -0.6])
    y = (X * truth).sum(axis=1) + 0.4 * rng.normal(size=ROWS)
    model = OnlineLinearRegression(solver="rls", forgetting=0.02)
    learned = np.array([model.learn_one(row, number).coef_.copy() for row, number in zip(X, y.tolist(), strict=True)])
    figure, (axes,) = tile()
    for number, colour in enumerate((style.BLUE, style.VERMILION, style.GREEN)):
        axes.plot(learned[:, number], color=colour, linewidth=1.4)
        axes.plot(truth[:, number], color=style.GREY, linewidth=0.9, linestyle=(0, (2, 2)))
    axes.set(xlim=(0, ROWS), ylim=(-1.1, 1.5), xticks=[], yticks=[-1, 0, 1])
    return figure
