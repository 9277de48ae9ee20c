"""The figures of the paper: boundaries in the plane, the plane of two class means, and times against rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Points of the grid, along each side, on which rules are asked.
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
        low, high = X.min(axis=0), X.max(axis=0)
        middle, half = (low + high) / 2.0, 0.64 * float((high - low).max())
        sides = np.linspace(middle - half, middle + half, GRID).T
        points = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
        for boundary in boundaries:
            heights = boundary.score(points).reshape(GRID, GRID)
            axes.contour(*sides, heights, levels=[0.0], colors=boundary.colour, linestyles=[boundary.dashes])
        for chosen, name, colour, marker in (
            (positive, names[1], style.BLUE, "o"),
            (~positive, names[0], style.VERMILION, "x"),
        ):
            axes.plot(*X[chosen].T, marker, color=colour, markerfacecolor="none", markersize=5, label=name)
        axes.set(title=title, aspect="equal", xlabel="$x_1$ (no unit)", ylabel="$x_2$ (no unit)")
        axes.grid(visible=False)
        for each in boundaries:  # contours have no handle of their own
            axes.plot([], [], color=each.colour, linestyle=each.dashes, label=each.name)
        figure.legend(loc="outside lower center", ncols=2, handlelength=3.0)
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
    """Rows of one class."""

    points: NDArray[np.float64]
    colour: str
    marker: str
    name: str


@dataclass(frozen=True)
class Panel:
    """One plane."""

    title: str
    axis_names: tuple[str, str]
    clouds: Sequence[Cloud] = ()
    arrows: Sequence[Arrow] = ()
    lines: Sequence[Line] = ()
    #: Tips of a vector that turns, and what is written beside each.
    path: NDArray[np.float64] | None = None
    path_labels: Sequence[str] = ()


def draw_mean_plane(panels: Sequence[Panel]) -> Figure:
    """The planes side by side, each square and on its own scale, with one legend."""
    with style.house_style():
        figure = style.new_figure(5.6 * len(panels) + 0.4, 6.3)
        legend: dict[str, Artist] = {}
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            _draw_panel(axes, panel)
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                legend.setdefault(label, handle)
        figure.legend(
            legend.values(),
            legend.keys(),
            loc="outside lower center",
            ncols=2 if len(panels) > 1 else 1,
            handlelength=3,
        )
        # Titles over square panels find their place at the second layout only.
        figure.draw_without_rendering()
    return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title, fontsize=10.5)
    limits = _limits(panel)
    axes.set(xlim=limits[0], ylim=limits[1], aspect="equal", xlabel=panel.axis_names[0], ylabel=panel.axis_names[1])
    axes.locator_params(nbins=5)
    for cloud in panel.clouds:
        axes.plot(
            *cloud.points.T,
            linestyle="none",
            marker=cloud.marker,
            markersize=3.5,
            markerfacecolor="none",
            markeredgecolor=cloud.colour,
            markeredgewidth=0.8,
            label=cloud.name,
        )
    for line in panel.lines:
        foot = -line.offset * line.normal / (line.normal @ line.normal)
        along = np.array([-line.normal[1], line.normal[0]]) / np.hypot(*line.normal)
        reach = 3.0 * float(np.abs(limits).max())
        ends = np.stack([foot - reach * along, foot + reach * along])
        axes.plot(*ends.T, color=line.colour, linestyle=line.dashes, label=line.name, scalex=False, scaley=False)
    if panel.path is not None:
        axes.plot(*panel.path.T, color=style.GREY, linewidth=1.0, marker=".", markersize=5)
        for place, text in zip(panel.path, panel.path_labels, strict=True):
            axes.annotate(text, place, (8, 0), textcoords="offset points", va="center", fontsize=9, color=style.INK)
    for arrow in panel.arrows:
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


def _limits(panel: Panel) -> NDArray[np.float64]:
    """A square that holds points, tips and the origin, as lowest and highest of each axis."""
    shown = [
        np.zeros((1, 2)),
        *(cloud.points for cloud in panel.clouds),
        *(arrow.tip[np.newaxis] for arrow in panel.arrows),
    ]
    if panel.path is not None:
        shown.append(panel.path)
    points = np.concatenate(shown)
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2.0, 0.62 * float((high - low).max())
    return np.stack([middle - half, middle + half], axis=1)


@dataclass(frozen=True)
class Curve:
    """One model's seconds at each number of rows."""

    model: str
    rows: Sequence[int]
    seconds: Sequence[float]


@dataclass(frozen=True)
class GrowthPanel:
    """Models at one operation."""

    title: str
    curves: Sequence[Curve]


def draw_growth(panels: Sequence[GrowthPanel], *, title: str) -> Figure:
    """The operations side by side on one scale of time, with one legend."""
    with style.house_style():
        figure = style.new_figure(5.4 * len(panels), 4.9)
        row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        legend: dict[str, Artist] = {}
        for axes, panel in zip(row, panels, strict=True):
            _draw_growth(axes, panel)
            legend |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        row[0].set_ylabel("processor time (seconds)")
        figure.suptitle(title, fontweight="bold", x=0.01, ha="left", fontsize=11)
        figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=len(legend), handlelength=2.8)
    return figure


def _draw_growth(axes: Axes, panel: GrowthPanel) -> None:
    axes.set_title(panel.title, fontsize=10.5)
    for curve in panel.curves:
        look = style.look_of(curve.model)
        axes.loglog(
            curve.rows,
            curve.seconds,
            color=look.colour,
            linestyle=look.dashes,
            marker=look.marker,
            markersize=5,
            label=curve.model,
        )
    axes.set_xlabel("training rows")
    axes.set_xticks(sorted({rows for curve in panel.curves for rows in curve.rows}))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.minorticks_off()
