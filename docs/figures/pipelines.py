"""What a step before the learner is worth: units of all sizes, and a border that is no line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import blocks, mistakes

from thalweg import PassiveAggressive, Perceptron, RandomFeatures, StandardScaler, StreamPipeline
from thalweg.report import style
from thalweg.streams import MovingPlane, RotatingCheckerboard

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, BLOCK = 8000, 400


def draw() -> Figure:
    """Error of the last 400 rows, without and with the step."""
    units, turning = MovingPlane(seed=0, degrees_per_row=0.2).take(ROWS)
    board, colours = RotatingCheckerboard(seed=0, length=70_000).take(ROWS)
    panels_of = {
        "Features times 1,000 and 0.001": (
            units * [1e3, 1e-3],
            turning,
            {
                "PassiveAggressive": PassiveAggressive(),
                "StandardScaler, PassiveAggressive": StreamPipeline([StandardScaler(clip=10.0), PassiveAggressive()]),
            },
        ),
        "A checkerboard that turns": (
            board,
            colours,
            {
                "Perceptron": Perceptron(0.5),
                "RandomFeatures, Perceptron": StreamPipeline([RandomFeatures(256, sigma=0.1), Perceptron(0.5)]),
            },
        ),
    }
    figure = style.new_figure(7.2, 3.3)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (title, (X, y, models)) in zip(panels, panels_of.items(), strict=True):
        for (name, model), colour, dashes in zip(
            models.items(), (style.GREY, style.BLUE), ((0, (5, 1.6)), "-"), strict=True
        ):
            axes.plot(*blocks(mistakes(model, X, y), BLOCK), color=colour, linestyle=dashes, label=name)
        axes.set(title=title, xlabel="rows seen", xlim=(0, ROWS))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xticks(np.arange(0, ROWS + 1, 2000))
        axes.legend(loc="upper right")
    panels[0].set(ylabel=f"error, mean of {BLOCK} rows", ylim=(0, 0.7))
    return figure
