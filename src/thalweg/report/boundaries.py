"""Two classes of points in the plane and the boundaries that rules draw between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
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


def draw(
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
