"""Points in the plane, and straight lines through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CLOUDS = ((style.BLUE, "o"), (style.VERMILION, "x"))
_LINES = ((style.INK, "-"), (style.GREEN, (0, (5, 1.6))), (style.PURPLE, (0, (1.4, 1.1))))


@dataclass(frozen=True)
class Cloud:
    """Points of one kind."""

    name: str
    X: NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """A line through a point."""

    name: str
    point: tuple[float, float]
    direction: tuple[float, float]


def draw(clouds: Sequence[Cloud], lines: Sequence[Line], *, title: str) -> Figure:
    """All in one panel, on the same scale along both axes."""
    points = np.concatenate([cloud.X for cloud in clouds])
    low, high = points.min(axis=0), points.max(axis=0)
    air = 0.04 * (high - low).max()
    across, up = high - low + 2.0 * air
    with style.house_style():
        figure = style.new_figure(6.4, 5.8 * up / across + 1.5)  # the rest is for title, axis and legend
        axes = figure.subplots()
        axes.set(xlim=(low[0] - air, high[0] + air), ylim=(low[1] - air, high[1] + air), aspect="equal")
        axes.set(title=title, xlabel="$x_1$ (no unit)", ylabel="$x_2$ (no unit)")
        for cloud, (colour, marker) in zip(clouds, _CLOUDS, strict=False):
            axes.plot(
                *cloud.X.T,
                linestyle="none",
                marker=marker,
                markersize=3.5,
                alpha=0.65,
                markerfacecolor="none",
                markeredgecolor=colour,
                label=cloud.name,
            )
        for line, (colour, dashes) in zip(lines, _LINES, strict=False):
            axes.axline(
                line.point,
                (line.point[0] + line.direction[0], line.point[1] + line.direction[1]),
                color=colour,
                linestyle=dashes,
                linewidth=2.0,
                label=line.name,
            )
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
