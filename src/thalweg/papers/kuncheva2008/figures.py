"""The figures of the paper: error against a fixed rate, and the concept at several moments with its boundary."""

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
    """One model's mean error at each rate, with the half-width of its 95 % interval."""

    model: str
    symbol: str
    rates: NDArray[np.float64]
    errors: NDArray[np.float64]
    halfwidths: NDArray[np.float64]
    #: The (rate, error) the paper prints as its best, drawn as a star.
    paper_best: tuple[float, float] | None = None


@dataclass(frozen=True)
class Panel:
    """One data set."""

    title: str
    curves: Sequence[Curve]


def draw_error_versus_rate(panels: Sequence[Panel]) -> Figure:
    """The panels side by side on one error scale, with one legend."""
    with style.house_style():
        figure = style.new_figure(5.0 * len(panels) + 0.4, 4.4)
        axes_row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, panel in zip(axes_row, panels, strict=True):
            _draw_panel(axes, panel)
        axes_row[0].set_ylabel("mean error (share of test rows)")
        curves = [curve for panel in panels for curve in panel.curves]
        style.share_from_zero(axes_row[0], max(_highest(curve) for curve in curves))
        handles, labels = axes_row[0].get_legend_handles_labels()
        if any(curve.paper_best for curve in curves):
            handles.append(_star(axes_row[0]))
            labels.append("best rate printed in the paper")
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), handlelength=2.6)
    return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title)
    axes.set_xlabel("learning rate, fixed (no unit)")
    axes.set_xlim(0.0, 1.0)
    for curve in panel.curves:
        look = style.look_of(curve.model)
        axes.fill_between(
            curve.rates,
            curve.errors - curve.halfwidths,
            curve.errors + curve.halfwidths,
            color=look.colour,
            alpha=0.15,
            linewidth=0,
        )
        axes.plot(
            curve.rates,
            curve.errors,
            color=look.colour,
            linestyle=look.dashes,
            marker=look.marker,
            markersize=4,
            label=f"{curve.model} ({curve.symbol})",
        )
        if curve.paper_best is not None:
            axes.plot(
                *curve.paper_best,
                marker="*",
                markersize=14,
                markerfacecolor=look.colour,
                markeredgecolor=style.INK,
                markeredgewidth=0.9,
                clip_on=False,
                zorder=5,
            )


def _star(axes: Axes) -> Artist:
    (star,) = axes.plot([], [], linestyle="none", marker="*", markersize=12, color="white", markeredgecolor=style.INK)
    return star


def _highest(curve: Curve) -> float:
    return float(np.max(curve.errors + curve.halfwidths))


@dataclass(frozen=True)
class Snapshot:
    """Points of one moment; the boundary is the line through the origin at right angles to ``normal``."""

    title: str
    X: NDArray[np.float64]
    positive: NDArray[np.bool_]
    normal: tuple[float, float]


def draw_snapshots(snapshots: Sequence[Snapshot], *, axis_names: tuple[str, str] = ("$x_1$", "$x_2$")) -> Figure:
    """The moments side by side, square and on one scale."""
    with style.house_style():
        figure = style.new_figure(2.75 * len(snapshots) + 0.3, 3.75)
        axes_row = figure.subplots(1, len(snapshots), sharey=True, squeeze=False)[0]
        for axes, snapshot in zip(axes_row, snapshots, strict=True):
            _draw_snapshot(axes, snapshot)
            axes.set_xlabel(f"{axis_names[0]} (no unit)")
        axes_row[0].set_ylabel(f"{axis_names[1]} (no unit)")
        handles, labels = axes_row[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
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
        points = snapshot.X[chosen]
        axes.plot(
            points[:, 0],
            points[:, 1],
            linestyle="none",
            marker=marker,
            markersize=4,
            markerfacecolor="none",
            markeredgecolor=colour,
            label=name,
        )
    across, up = snapshot.normal
    length = 2 * reach / np.hypot(across, up)
    axes.plot([-up * length, up * length], [across * length, -across * length], color=style.INK, label="boundary")
