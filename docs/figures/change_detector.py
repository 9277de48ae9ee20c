"""Where a run marks a change: a model that stopped learning, and one that continues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import blocks, mistakes

from thalweg import OnlineLDC
from thalweg.evaluate.drift import ChangeDetector
from thalweg.report import style
from thalweg.streams import DriftingGaussians, Jumping

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, BLOCK = 20_000, 200
JUMPS = {8000: 60.0, 14_000: -60.0}


def draw() -> Figure:
    """Error over time, with what the detector marked, for a frozen and a learning model."""
    X, y = DriftingGaussians(seed=0, scenario=Jumping(jumps=JUMPS)).take(ROWS)
    frozen = np.asarray(OnlineLDC().fit(X[:1000], y[:1000]).predict(X) != y, dtype=np.float64)
    slow = mistakes(OnlineLDC(0.002, counts="soft"), X, y)
    figure = style.new_figure(7.2, 4.2)
    panels = figure.subplots(2, 1, sharex=True, sharey=True)
    for axes, title, wrong in zip(panels, ("A frozen model", "O-LDC, λ = 0.002"), (frozen, slow), strict=True):
        axes.plot(*blocks(wrong, BLOCK), color=style.BLUE, label=f"error, mean of {BLOCK} rows")
        detector = ChangeDetector()
        detector.add(wrong)
        for number, change in enumerate(detector.changes()):
            axes.axvspan(change["row"], change["found"], color=style.ORANGE, alpha=0.5, linewidth=0)
            axes.axvline(change["row"], color=style.ORANGE, linewidth=1.2, label=None if number else "marked change")
        style.mark_changes(axes, list(JUMPS))
        axes.set(title=title, ylabel="error")
        axes.set_ylim(0, 0.4)
    panels[0].plot([], [], color=style.VERMILION, linestyle=(0, (1, 2)), label="what truly changed")
    panels[1].set(xlabel="rows seen", xlim=(0, ROWS))
    panels[1].xaxis.set_major_formatter("{x:,.0f}")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3)
    return figure
