"""The figures of the paper: error against a fixed rate, and the concept at several times with its boundary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.papers.figures import IN_PLANE, Floats, Mark, Panel, draw, two_classes
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_error_versus_rate(panels: Sequence[Panel]) -> Figure:
    """The panels side by side on one error scale, with one legend; the paper's best rates as stars."""
    star = partial(methodcaller, "plot", marker="*", markeredgecolor=style.INK)
    of_panels: list[list[Mark]] = []
    for panel in panels:
        of_panels.append([])
        for curve in panel.curves:
            if curve.paper_best is not None:
                look = {"markerfacecolor": style.look_of(curve.model).colour, "markeredgewidth": 0.9}
                of_panels[-1].append(star(*curve.paper_best, markersize=14, clip_on=False, zorder=5, **look))
    if any(of_panels):
        named = {"color": "white", "label": "best rate printed in the paper"}
        of_panels[0].append(star([], [], linestyle="none", markersize=12, **named))
    of_panels[0].append(partial(style.share_from_zero, top=max(panel.top for panel in panels)))
    return draw(
        [
            replace(panel, marks=marks, settings={"xlim": (0, 1)})
            for panel, marks in zip(panels, of_panels, strict=True)
        ],
        (5.0 * len(panels) + 0.4, 4.4),
        share="y",
        labels=("learning rate, fixed (no unit)", "mean error (share of test rows)"),
        curve=lambda _: {"markersize": 4},
        legend={"handlelength": 2.6},
    )


def snapshot(title: str, X: Floats, positive: NDArray[np.bool_], normal: tuple[float, float]) -> Panel:
    """Points of one time; the boundary is the line through the origin at right angles to ``normal``."""
    reach = 1.05 * max(1.0, float(np.abs(X).max()))
    across, up = normal
    length = 2 * reach / np.hypot(across, up)
    ends = [-up * length, up * length], [across * length, -across * length]
    ticks, limits = [-1, 0, 1], (-reach, reach)
    settings = {"xlim": limits, "ylim": limits, "aspect": "equal", "xticks": ticks, "yticks": ticks}
    marks = two_classes(X, positive, ("class 0", "class 1"), markersize=4)
    return Panel(
        title, settings=settings, marks=[*marks, methodcaller("plot", *ends, color=style.INK, label="boundary")]
    )


def draw_snapshots(snapshots: Sequence[Panel]) -> Figure:
    """The snapshots side by side, square and on one scale."""
    return draw(snapshots, (2.75 * len(snapshots) + 0.3, 3.75), share="y", labels=IN_PLANE, grid=False)
