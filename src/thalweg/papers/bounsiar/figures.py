"""The figures of the paper: boundaries in the plane, the plane of two class means, and times against rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.papers.figures import Panel, plot, plot_points, square_around
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Points along each side of the grid on which rules are evaluated.
GRID = 301


@dataclass(frozen=True)
class Boundary:
    """Where a function of rows (n, 2) changes its sign."""

    name: str
    score: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    colour: str
    dashes: str | tuple[int, tuple[float, ...]] = "-"


def draw_boundaries(
    X: NDArray[np.float64],
    positive: NDArray[np.bool_],
    names: tuple[str, str],
    boundaries: Sequence[Boundary],
    *,
    title: str,
) -> Figure:
    """The points, named ``names`` where they are negative and positive, and all boundaries."""
    with style.house_style():
        figure = style.new_figure(6.2, 6.0)
        axes = figure.subplots()
        low, high = square_around(X, 0.64).T
        sides = np.linspace(low, high, GRID).T
        points = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
        for boundary in boundaries:
            heights = boundary.score(points).reshape(GRID, GRID)
            axes.contour(*sides, heights, levels=[0.0], colors=boundary.colour, linestyles=[boundary.dashes])
        for chosen, name, colour, marker in (
            (positive, names[1], style.BLUE, "o"),
            (~positive, names[0], style.VERMILION, "x"),
        ):
            plot_points(axes, X[chosen], colour, marker, name, markersize=5)
        axes.set(title=title, aspect="equal", xlabel="$x_1$ (no unit)", ylabel="$x_2$ (no unit)")
        axes.grid(visible=False)
        for each in boundaries:  # contours have no handle of their own
            axes.plot([], [], color=each.colour, linestyle=each.dashes, label=each.name)
        style.legend_below(figure, 2, handlelength=3.0)
    return figure


@dataclass(frozen=True)
class Arrow:
    """A vector from the origin, with a label at its tip and a name for the legend."""

    tip: NDArray[np.float64]
    colour: str
    label: str = ""
    name: str = ""
    #: Of the label, from the tip, in points.
    offset: tuple[float, float] = (-4.0, 11.0)


@dataclass(frozen=True)
class Line:
    """All points z with normal'z + offset = 0."""

    normal: NDArray[np.float64]
    offset: float
    colour: str
    dashes: str | tuple[int, tuple[float, ...]]
    name: str


@dataclass(frozen=True)
class Cloud:
    points: NDArray[np.float64]
    colour: str
    marker: str
    name: str


@dataclass(frozen=True)
class Plane:
    title: str
    axis_names: tuple[str, str]
    clouds: Sequence[Cloud] = ()
    arrows: Sequence[Arrow] = ()
    lines: Sequence[Line] = ()
    #: Tips of a vector that turns, and what is written beside each.
    path: NDArray[np.float64] | None = None
    path_labels: Sequence[str] = ()


def draw_mean_plane(planes: Sequence[Plane]) -> Figure:
    """The planes side by side, each square and on its own scale, with one legend."""
    with style.house_style():
        figure = style.new_figure(5.6 * len(planes) + 0.4, 6.3)
        for axes, plane in zip(figure.subplots(1, len(planes), squeeze=False)[0], planes, strict=True):
            _draw_plane(axes, plane)
        style.legend_below(figure, 2 if len(planes) > 1 else 1, handlelength=3)
        # Titles over square panels find their place at the second layout only.
        figure.draw_without_rendering()
    return figure


def _draw_plane(axes: Axes, plane: Plane) -> None:
    axes.set_title(plane.title, fontsize=10.5)
    limits = _limits(plane)
    axes.set(xlim=limits[0], ylim=limits[1], aspect="equal", xlabel=plane.axis_names[0], ylabel=plane.axis_names[1])
    axes.locator_params(nbins=5)
    for cloud in plane.clouds:
        plot_points(axes, cloud.points, cloud.colour, cloud.marker, cloud.name, markersize=3.5, markeredgewidth=0.8)
    for line in plane.lines:
        foot = -line.offset * line.normal / (line.normal @ line.normal)
        along = np.array([-line.normal[1], line.normal[0]]) / np.hypot(*line.normal)
        reach = 3.0 * float(np.abs(limits).max())
        ends = np.stack([foot - reach * along, foot + reach * along])
        axes.plot(*ends.T, color=line.colour, linestyle=line.dashes, label=line.name, scalex=False, scaley=False)
    if plane.path is not None:
        axes.plot(*plane.path.T, color=style.GREY, linewidth=1.0, marker=".", markersize=5)
        for place, text in zip(plane.path, plane.path_labels, strict=True):
            axes.annotate(text, place, (8, 0), textcoords="offset points", va="center", fontsize=9, color=style.INK)
    for arrow in plane.arrows:
        axes.annotate(
            "",
            xy=tuple(arrow.tip),
            xytext=(0.0, 0.0),
            arrowprops={"arrowstyle": "-|>", "color": arrow.colour, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.6},
        )
        axes.plot([], [], color=arrow.colour, marker=">", markevery=[0], label=arrow.name or "_hidden")
        if arrow.label:
            axes.annotate(
                arrow.label,
                tuple(arrow.tip),
                arrow.offset,
                textcoords="offset points",
                ha="center",
                color=arrow.colour,
                fontsize=11,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
            )


def _limits(plane: Plane) -> NDArray[np.float64]:
    shown = [
        np.zeros((1, 2)),
        *(cloud.points for cloud in plane.clouds),
        *(arrow.tip[np.newaxis] for arrow in plane.arrows),
    ]
    if plane.path is not None:
        shown.append(plane.path)
    return square_around(np.concatenate(shown), 0.62)


def draw_growth(panels: Sequence[Panel], *, title: str) -> Figure:
    """Seconds against rows, the panels side by side on one scale of time, with one legend."""
    with style.house_style():
        figure = style.new_figure(5.4 * len(panels), 4.9)
        row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, panel in zip(row, panels, strict=True):
            _draw_growth(axes, panel)
        row[0].set_ylabel("processor time (seconds)")
        figure.suptitle(title, fontweight="bold", x=0.01, ha="left", fontsize=11)
        style.legend_below(figure, handlelength=2.8)
    return figure


def _draw_growth(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title, fontsize=10.5)
    axes.set(xscale="log", yscale="log", xlabel="training rows")
    for curve in panel.curves:
        plot(axes, curve, markersize=5)
    axes.set_xticks(sorted({rows for curve in panel.curves for rows in curve.x}))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.minorticks_off()
