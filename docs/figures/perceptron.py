"""What steadies a perceptron on a still stream, and what it costs on one that moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import legend_below, mistakes

from thalweg import Perceptron
from thalweg.rates import InverseSqrt
from thalweg.report import style
from thalweg.streams import MovingPlane

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, RUNS = 1000, 40
MODELS = {
    "margin 0, constant step": ({"rate": 0.5}, style.VERMILION, (0, (5, 1.6))),
    "margin 1, constant step": ({"rate": 0.5, "margin": 1.0}, style.ORANGE, "-"),
    "margin 1, step 1/√t": ({"rate": InverseSqrt(1.0), "margin": 1.0}, style.BLUE, "-"),
    "margin 0, averaged weights": ({"rate": 0.5, "averaged": True}, style.GREEN, (0, (4, 1.4, 1, 1.4))),
}


def two_classes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Wu & Snell's rows: normal classes about (1, 1) and (-1, -1)."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, ROWS)
    return rng.normal(size=(ROWS, 2)) + np.where(y[:, np.newaxis] == 1, 1.0, -1.0), y


def draw() -> Figure:
    """Cumulative error, means of 40 runs."""
    streams = {
        "Nothing moves": [two_classes(seed) for seed in range(RUNS)],
        "Turns by 0.2° a row": [MovingPlane(seed=seed, degrees_per_row=0.2).take(ROWS) for seed in range(RUNS)],
    }
    figure = style.new_figure(7.2, 3.5)
    panels = figure.subplots(1, 2)
    seen = np.arange(1, ROWS + 1)
    for axes, (title, runs) in zip(panels, streams.items(), strict=True):
        for name, (parameters, colour, dashes) in MODELS.items():
            wrong = np.mean(
                [mistakes(Perceptron(**parameters, start_scale=0.0, intercept=False), X, y) for X, y in runs], axis=0
            )
            axes.plot(seen, np.cumsum(wrong) / seen, color=colour, linestyle=dashes, label=name)
        axes.set(title=title, xlabel="rows seen", xlim=(0, ROWS))
    panels[0].axhline(0.0786, color=style.GREY, linewidth=1, linestyle=(0, (1, 2)), label="least error possible")
    panels[0].set(ylabel="error over all rows so far", ylim=(0.05, 0.2))
    panels[1].set_ylim(0, 0.5)
    legend_below(figure, panels, 3)
    return figure
