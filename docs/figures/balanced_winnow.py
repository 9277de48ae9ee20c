"""Few features that matter, or all of them: Winnow beside the perceptron."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import legend_below, mistakes

from thalweg import BalancedWinnow, PassiveAggressive, Perceptron
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTHS = (10, 30, 100, 300, 1000)
ROWS = 1500
MODELS = {
    "Winnow, β = 0.5": (lambda: BalancedWinnow(0.5), style.GREEN, "-", "^"),
    "Winnow, β = 0.9": (lambda: BalancedWinnow(0.9), style.GREEN, (0, (4, 1.4, 1, 1.4)), "v"),
    "Perceptron": (Perceptron, style.VERMILION, (0, (5, 1.6)), "s"),
    "Passive-aggressive": (PassiveAggressive, style.BLUE, "-", "o"),
}


def draw() -> Figure:
    """Error over 1,500 rows of signs, by the number of features."""
    figure = style.new_figure(7.2, 3.5)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, sparse in zip(panels, (True, False), strict=True):
        errors: dict[str, list[float]] = {name: [] for name in MODELS}
        for width in WIDTHS:
            rng = np.random.default_rng(width)
            X = rng.choice([-1.0, 1.0], size=(ROWS, width))
            weights = np.where(np.arange(width) < 3, 1.0, 0.0) if sparse else rng.normal(size=width)
            y = (X @ weights > 0).astype(int)
            for name, (make, *_) in MODELS.items():
                errors[name].append(float(mistakes(make(), X, y).mean()))
        for name, (_, colour, dashes, marker) in MODELS.items():
            axes.plot(WIDTHS, errors[name], color=colour, linestyle=dashes, marker=marker, markersize=5, label=name)
        axes.set_xscale("log")
        axes.set_xticks(WIDTHS, [f"{width:,}" for width in WIDTHS])
        axes.minorticks_off()
        axes.set(title="Three features matter" if sparse else "All features matter", xlabel="number of features")
    panels[0].set(ylabel="error over 1,500 rows", ylim=(0, 0.5))
    legend_below(figure, panels, 4)
    return figure
