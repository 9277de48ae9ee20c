"""Least squares and gradient steps, on weights that stand still and on weights that move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import blocks, legend_below

from thalweg import OnlineLinearRegression
from thalweg.report import style
from thalweg.streams import LinearResponse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, BLOCK, NOISE = 6000, 200, 0.1
MODELS = {
    "gradient, step 1/√t": ({"intercept": False}, style.ORANGE, (0, (1.4, 1.1))),
    "gradient, step 0.1": ({"rate": 0.1, "intercept": False}, style.VERMILION, (0, (5, 1.6))),
    "least squares": ({"solver": "rls", "intercept": False}, style.GREY, "-"),
    "least squares, forgetting 0.01": ({"solver": "rls", "forgetting": 0.01, "intercept": False}, style.BLUE, "-"),
}


def draw() -> Figure:
    """How far predictions are from the value without noise, squared, before the row is learned; means of 200."""
    streams = {
        "The weights stand still": LinearResponse(seed=0, weights=(1.0, -1.0, 0.5), noise=NOISE),
        "They move by 0.001 a row": LinearResponse(
            seed=0, weights=(1.0, -1.0, 0.5), drift=(0.001, -0.001, 0.001), noise=NOISE
        ),
    }
    figure = style.new_figure(7.2, 3.5)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (title, stream) in zip(panels, streams.items(), strict=True):
        X, y = stream.take(ROWS)
        clean = (X * stream.weights_at(np.arange(ROWS))).sum(axis=1)
        for name, (parameters, colour, dashes) in MODELS.items():
            predictions = OnlineLinearRegression(**parameters).predict_then_learn(X, y)
            axes.plot(*blocks((predictions - clean) ** 2, BLOCK), color=colour, linestyle=dashes, label=name)
        axes.set_yscale("log")
        axes.set(title=title, xlabel="rows seen", xlim=(0, ROWS))
        axes.xaxis.set_major_formatter("{x:,.0f}")
    panels[0].set_ylabel("excess squared error")
    panels[0].set_ylim(1e-6, 20)
    legend_below(figure, panels, 3)
    return figure
