"""The step of Hiraoka's LDA, and what the unit of the features does to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import legend_below, mistakes

from thalweg import HiraokaLDA, OnlineLDC
from thalweg.report import style
from thalweg.streams import MovingPlane

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATES = np.geomspace(0.01, 0.9, 16)
SCALES = {0.1: (style.ORANGE, (0, (5, 1.6))), 1.0: (style.PURPLE, "-"), 10.0: (style.GREEN, (0, (4, 1.4, 1, 1.4)))}
SEEDS = range(5)


def draw() -> Figure:
    """Error against the step at three units, beside O-LDC, which does not mind the unit."""
    figure = style.new_figure(7.2, 3.6)
    axes = figure.subplots()
    streams = [MovingPlane(seed=seed).take(1800) for seed in SEEDS]
    for scale, (colour, dashes) in SCALES.items():
        found = [np.mean([mistakes(HiraokaLDA(rate), scale * X, y).mean() for X, y in streams]) for rate in RATES]
        axes.plot(RATES, found, color=colour, linestyle=dashes, label=f"Hiraoka's LDA, features times {scale:g}")
    soft = [np.mean([mistakes(OnlineLDC(rate, counts="soft"), X, y).mean() for X, y in streams]) for rate in RATES]
    axes.plot(RATES, soft, color=style.BLUE, label="O-LDC, soft counts, any scale")
    axes.set_xscale("log")
    axes.set(title="Moving plane, 1° a row", xlabel="step ζ, or rate λ of O-LDC", ylabel="error over 1,800 rows")
    axes.set_xlim(0.01, 0.9)
    axes.set_xticks([0.01, 0.03, 0.1, 0.3, 0.9], ["0.01", "0.03", "0.1", "0.3", "0.9"])
    axes.minorticks_off()
    axes.set_ylim(0, 0.5)
    legend_below(figure, [axes], 2)
    return figure
