"""The figures of the paper: means over runs with bands, and points in the plane with lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thalweg.papers.figures import IN_PLANE, SMALL, Curve, Floats, Mark, Panel, draw, plain, points, thousands
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The band leaves out as many of the runs below it as above it.
LOW, HIGH = 0.1, 0.9
_LOOKS = (
    style.Look(style.BLUE, "-", ""),
    style.Look(style.VERMILION, (0, (5, 1.6)), ""),
    style.Look(style.GREEN, (0, (4, 1.4, 1, 1.4)), ""),
    style.Look(style.PURPLE, (0, (1.4, 1.1)), ""),
)
_CLOUDS = ((style.BLUE, "o"), (style.VERMILION, "x"))
_LINES = ((style.INK, "-"), (style.GREEN, (0, (5, 1.6))))


def bands(runs: Mapping[str, Floats]) -> list[Curve]:
    """Mean and quantiles of values by run and row, each name in a look of its own.

    Examples
    --------
    >>> [curve] = bands({"runs": np.arange(11.0)[:, np.newaxis]})
    >>> curve.y, curve.band
    (array([5.]), (array([1.]), array([9.])))
    """
    curves = []
    for (name, values), look in zip(runs.items(), _LOOKS, strict=False):
        low, high = np.quantile(values, (LOW, HIGH), axis=0)
        rows = np.arange(1, values.shape[1] + 1)
        curves.append(Curve(name, rows, np.asarray(values.mean(axis=0)), band=(low, high), look=look))
    return curves


def band_panel(
    title: str,
    quantity: str,
    curves: Sequence[Curve],
    *,
    levels: Mapping[str, float] | None = None,
    logarithmic: bool = False,
    **settings: Any,
) -> Panel:
    """Bands of a quantity, named with its unit, and values to compare with, by name."""
    level = {"color": style.INK, "linewidth": 1.0, "linestyle": (0, (1, 2))}
    lines = [methodcaller("axhline", value, label=name, **level) for name, value in (levels or {}).items()]
    scales = {"xscale": "log", "yscale": "log"} if logarithmic else {}
    first, last = float(curves[0].x[0]) if logarithmic else 0.0, float(curves[0].x[-1])
    marks: list[Mark] = [thousands, *lines, *(partial(curve.draw, shade=0.16) for curve in curves)]
    if logarithmic:
        marks.append(plain)
    return Panel(
        title, (), "rows learned", quantity, settings={**scales, "xlim": (first, last), **settings}, marks=marks
    )


def draw_bands(panels: Sequence[Panel], *, title: str) -> Figure:
    """The panels side by side, with one legend."""
    held = f"mean and the band from {100 * LOW:.0f} to {100 * HIGH:.0f} %"
    return draw(panels, (5.2 * len(panels) + 0.4, 4.2), title=f"{title}: {held}", font=SMALL, legend={"columns": 4})


class Line(NamedTuple):
    name: str
    point: Sequence[float] | Floats
    direction: Sequence[float] | Floats


def draw_scatter(clouds: Mapping[str, Floats], lines: Sequence[Line], *, title: str) -> Figure:
    """Points by name, and lines, in one panel with the same scale along both axes."""
    shown = np.concatenate(list(clouds.values()))
    low, high = shown.min(axis=0), shown.max(axis=0)
    air = 0.04 * (high - low).max()
    across, up = high - low + 2.0 * air
    limits = [(low[axis] - air, high[axis] + air) for axis in (0, 1)]
    marks = [
        points(X, *look, name, markersize=3.5, alpha=0.65)
        for (name, X), look in zip(clouds.items(), _CLOUDS, strict=False)
    ]
    for (name, (x, y), (dx, dy)), (colour, dashes) in zip(lines, _LINES, strict=False):
        look = {"color": colour, "linestyle": dashes, "linewidth": 2.0, "label": name}
        marks.append(methodcaller("axline", (x, y), (x + dx, y + dy), **look))
    settings = {"xlim": limits[0], "ylim": limits[1], "aspect": "equal"}
    size = 6.4, 5.8 * up / across + 1.5  # the rest is for title, axis and legend
    return draw([Panel(title, (), *IN_PLANE, settings=settings, marks=marks)], size, legend={"columns": 2})
