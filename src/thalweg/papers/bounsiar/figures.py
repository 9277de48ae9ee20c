"""The figures of the paper: boundaries in the plane, the plane of two class means, and times against rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.papers.figures import (
    IN_PLANE,
    SMALL,
    Floats,
    Mark,
    Panel,
    arrow,
    draw,
    square_around,
    thousands,
    two_classes,
)
from thalweg.report.style import Dashes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Points along each side of the grid on which rules are evaluated.
GRID = 301


class Boundary(NamedTuple):
    """Where a function of rows (n, 2) changes its sign."""

    name: str
    score: Callable[[Floats], Floats]
    colour: str
    dashes: Dashes = "-"

    def draw(self, axes: Axes, sides: Floats) -> None:
        rows = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
        heights = self.score(rows).reshape(GRID, GRID)
        axes.contour(*sides, heights, levels=[0.0], colors=self.colour, linestyles=[self.dashes])


def draw_boundaries(
    X: Floats, positive: NDArray[np.bool_], names: tuple[str, str], boundaries: Sequence[Boundary], *, title: str
) -> Figure:
    """The points, named ``names`` where they are negative and positive, and all boundaries."""
    low, high = square_around(X, 0.64).T
    sides = np.linspace(low, high, GRID).T
    marks: list[Mark] = [partial(boundary.draw, sides=sides) for boundary in boundaries]
    marks += two_classes(X, positive, names, markersize=5)
    for contour in boundaries:  # contours have no handle of their own
        marks.append(methodcaller("plot", [], [], color=contour.colour, linestyle=contour.dashes, label=contour.name))
    panel = Panel(title, (), *IN_PLANE, settings={"aspect": "equal"}, marks=marks)
    return draw([panel], (6.2, 6.0), grid=False, legend={"columns": 2, "handlelength": 3.0})


def vector(
    tip: Floats, colour: str, label: str = "", name: str = "", offset: tuple[float, float] = (-4, 11)
) -> list[Mark]:
    """An arrow from the origin, with a label at so many points from its tip and a name for the legend."""
    proxy = {"color": colour, "marker": ">", "markevery": [0], "label": name or "_hidden"}
    look = {"fontsize": 11, "bbox": {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5}}
    beside = {"textcoords": "offset points", "ha": "center", "color": colour, **look}
    return [
        arrow((0.0, 0.0), tip, colour, "-|>", shrinkA=0, shrinkB=0, linewidth=1.6),
        methodcaller("plot", [], [], **proxy),
        *([methodcaller("annotate", label, tuple(tip), offset, **beside)] if label else []),
    ]


def line(normal: Floats, offset: float, colour: str, dashes: Dashes, name: str) -> Mark:
    """All points z with normal'z + offset = 0."""
    foot = -offset * normal / (normal @ normal)
    along = np.array([-normal[1], normal[0]]) / np.hypot(*normal)

    def mark(axes: Axes) -> None:
        reach = 3.0 * float(np.abs([axes.get_xlim(), axes.get_ylim()]).max())
        ends = np.stack([foot - reach * along, foot + reach * along])
        axes.plot(*ends.T, color=colour, linestyle=dashes, label=name, scalex=False, scaley=False)

    return mark


def plane(title: str, shown: Sequence[Floats], marks: Sequence[Mark]) -> Panel:
    """The plane of two class means, around the origin and what is shown."""
    limits = square_around(np.concatenate([np.zeros((1, 2)), *shown]), 0.62)
    settings = {"xlim": limits[0], "ylim": limits[1], "aspect": "equal"}
    names = "along $C_+ - C_-$ (no unit)", "at right angles to it (no unit)"
    return Panel(title, (), *names, settings=settings, marks=[methodcaller("locator_params", nbins=5), *marks])


def draw_mean_plane(planes: Sequence[Panel]) -> Figure:
    """The planes side by side, each square and on its own scale, with one legend."""
    legend = {"columns": 2 if len(planes) > 1 else 1, "handlelength": 3}
    return draw(planes, (5.6 * len(planes) + 0.4, 6.3), font=SMALL, settle=True, legend=legend)


def draw_growth(panels: Sequence[Panel], *, title: str) -> Figure:
    """Seconds against rows, the panels side by side on one scale of time, with one legend."""
    scales = {"xscale": "log", "yscale": "log"}
    return draw(
        [replace(panel, settings=scales, marks=[partial(_sizes, panel)]) for panel in panels],
        (5.4 * len(panels), 4.9),
        share="y",
        labels=("training rows", "processor time (seconds)"),
        title=title,
        title_font={"fontsize": 11},
        font=SMALL,
        curve=lambda _: {"markersize": 5},
        legend={"handlelength": 2.8},
    )


def _sizes(panel: Panel, axes: Axes) -> None:
    axes.set_xticks(sorted({rows for curve in panel.curves for rows in curve.x}))
    thousands(axes)
    axes.minorticks_off()
