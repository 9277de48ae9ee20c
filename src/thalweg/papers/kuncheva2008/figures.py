"""The figures of the paper: error against a fixed rate, and the concept at several times with its boundary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.papers.figures import Panel, plot, plot_points
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_error_versus_rate(panels: Sequence[Panel]) -> Figure:
    """The panels side by side on one error scale, with one legend; the paper's best rates as stars."""
    with style.house_style():
        figure = style.new_figure(5.0 * len(panels) + 0.4, 4.4)
        axes_row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, panel in zip(axes_row, panels, strict=True):
            _draw_panel(axes, panel)
        axes_row[0].set_ylabel("mean error (share of test rows)")
        style.share_from_zero(axes_row[0], max(panel.top for panel in panels))
        if any(curve.paper_best for panel in panels for curve in panel.curves):
            axes_row[0].plot(
                [],
                [],
                linestyle="none",
                marker="*",
                markersize=12,
                color="white",
                markeredgecolor=style.INK,
                label="best rate printed in the paper",
            )
        style.legend_below(figure, handlelength=2.6)
    return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title)
    axes.set_xlabel("learning rate, fixed (no unit)")
    axes.set_xlim(0.0, 1.0)
    for curve in panel.curves:
        colour = style.look_of(curve.model).colour
        if curve.halfwidths is not None:
            low, high = curve.y - curve.halfwidths, curve.y + curve.halfwidths
            axes.fill_between(curve.x, low, high, color=colour, alpha=0.15, linewidth=0)
        plot(axes, curve, markersize=4)
        if curve.paper_best is not None:
            axes.plot(
                *curve.paper_best,
                marker="*",
                markersize=14,
                markerfacecolor=colour,
                markeredgecolor=style.INK,
                markeredgewidth=0.9,
                clip_on=False,
                zorder=5,
            )


@dataclass(frozen=True)
class Snapshot:
    """Points of one time; the boundary is the line through the origin at right angles to ``normal``."""

    title: str
    X: NDArray[np.float64]
    positive: NDArray[np.bool_]
    normal: tuple[float, float]


def draw_snapshots(snapshots: Sequence[Snapshot]) -> Figure:
    """The snapshots side by side, square and on one scale."""
    with style.house_style():
        figure = style.new_figure(2.75 * len(snapshots) + 0.3, 3.75)
        axes_row = figure.subplots(1, len(snapshots), sharey=True, squeeze=False)[0]
        for axes, snapshot in zip(axes_row, snapshots, strict=True):
            _draw_snapshot(axes, snapshot)
            axes.set_xlabel("$x_1$ (no unit)")
        axes_row[0].set_ylabel("$x_2$ (no unit)")
        style.legend_below(figure)
    return figure


def _draw_snapshot(axes: Axes, snapshot: Snapshot) -> None:
    reach = 1.05 * max(1.0, float(np.abs(snapshot.X).max()))
    axes.set(title=snapshot.title, xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    axes.grid(visible=False)
    for chosen, name, colour, marker in (
        (snapshot.positive, "class 1", style.BLUE, "o"),
        (~snapshot.positive, "class 0", style.VERMILION, "x"),
    ):
        plot_points(axes, snapshot.X[chosen], colour, marker, name, markersize=4)
    across, up = snapshot.normal
    length = 2 * reach / np.hypot(across, up)
    axes.plot([-up * length, up * length], [across * length, -across * length], color=style.INK, label="boundary")
