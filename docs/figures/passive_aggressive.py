"""C, the pace of the boundary, and wrong labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import legend_below

from thalweg import OnlineLDC, PassiveAggressive
from thalweg.report import style
from thalweg.streams import MovingPlane

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from matplotlib.figure import Figure

NOISE = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
ROWS, SEEDS = 4000, range(3)
MODELS = {
    "C = 1": (lambda: PassiveAggressive(1.0), style.VERMILION, "-", "s"),
    "C = 0.1": (lambda: PassiveAggressive(0.1), style.ORANGE, (0, (5, 1.6)), "v"),
    "C = 0.01": (lambda: PassiveAggressive(0.01), style.PURPLE, (0, (1.4, 1.1)), "D"),
    "O-LDC, soft counts, λ = 0.05": (lambda: OnlineLDC(0.05, counts="soft"), style.BLUE, "-", "o"),
}


def draw() -> Figure:
    """Error against the true labels, by the share of wrong labels that are learned."""
    figure = style.new_figure(7.2, 3.5)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, pace in zip(panels, (0.2, 0.01), strict=True):
        for name, (make, colour, dashes, marker) in MODELS.items():
            found = [np.mean([error_at(make, pace, share, seed) for seed in SEEDS]) for share in NOISE]
            axes.plot(NOISE, found, color=colour, linestyle=dashes, marker=marker, markersize=5, label=name)
        axes.set(title=f"Turns by {pace:g}° a row", xlabel="share of wrong labels", xlim=(0, 0.31))
    panels[0].set(ylabel="error against the true labels", ylim=(0, 0.5))
    legend_below(figure, panels, 4)
    return figure


def error_at(make: Callable[[], Any], pace: float, share: float, seed: int) -> float:
    """A stream whose labels are turned by chance before they are learned."""
    X, y = MovingPlane(seed=seed, degrees_per_row=pace).take(ROWS)
    told = np.where(np.random.default_rng(seed).random(ROWS) < share, 1 - y, y)
    return float((make().predict_then_learn(X, told) != y).mean())
