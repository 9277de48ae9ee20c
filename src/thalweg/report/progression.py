"""Error as a stream goes on, one curve per model, one panel per data set.

To the right of each panel a strip compares the means over the whole stream: measured (filled) and, where
known, the paper's (hollow).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Curve:
    """One model's error over time, its mean over the stream, and the paper's mean."""

    model: str
    errors: NDArray[np.float64]
    mean: float
    paper_mean: float | None = None


@dataclass(frozen=True)
class Panel:
    """One data set."""

    title: str
    times: NDArray[np.int64]
    time_label: str
    error_label: str
    curves: Sequence[Curve]
    #: Times at which the concept changes at once.
    changes: Sequence[float] = ()


def draw(panels: Sequence[Panel]) -> Figure:
    """The panels one above the other, each on its own scale of time, with one legend."""
    with style.house_style():
        figure = style.new_figure(9.0, 2.75 * len(panels) + 0.7)
        grid = figure.subplots(len(panels), 2, squeeze=False, sharey="row", width_ratios=[8, 1])
        legend: dict[str, Artist] = {}
        for (axes, strip), panel in zip(grid, panels, strict=True):
            _draw_panel(axes, panel)
            _draw_means(strip, panel)
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                legend.setdefault(label, handle)
        columns = len(legend) if len(legend) <= 5 else -(-len(legend) // 2)
        figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=columns, handlelength=2.5)
    return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
    axes.set(title=panel.title, xlabel=panel.time_label, ylabel=panel.error_label)
    axes.set_xlim(float(panel.times[0]), float(panel.times[-1]))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    for change in panel.changes:
        axes.axvline(change, color=style.INK, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
    for curve in panel.curves:
        look = style.look_of(curve.model)
        axes.plot(panel.times, curve.errors, color=look.colour, linestyle=look.dashes, label=curve.model)
    style.share_from_zero(axes, max(float(curve.errors.max()) for curve in panel.curves))


def _draw_means(axes: Axes, panel: Panel) -> None:
    axes.set_title("mean", fontweight="normal", fontsize=9.5, loc="center")
    compared = any(curve.paper_mean is not None for curve in panel.curves)
    axes.set(xlim=(-0.6, 1.6 if compared else 0.6), xticks=[0, 1] if compared else [0])
    axes.set_xticklabels(["here", "paper"] if compared else ["here"])
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="x", labelsize=8.5, length=0)
    axes.tick_params(axis="y", length=0, labelleft=False)
    axes.grid(visible=False, axis="x")
    for curve in panel.curves:
        look = style.look_of(curve.model)
        if curve.paper_mean is not None:
            axes.plot([0, 1], [curve.mean, curve.paper_mean], color=look.colour, linewidth=0.8)
            axes.plot(1, curve.paper_mean, look.marker, color=look.colour, markersize=5, markerfacecolor="white")
        axes.plot(0, curve.mean, look.marker, color=look.colour, markersize=5)
