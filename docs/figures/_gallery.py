"""What the small pictures of the gallery share: a tile without axes, points of classes, and a model's border."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from thalweg.streams import ConceptStream

Floats = NDArray[np.float64]
GRID = 161
LOOKS = ((style.SKY, "o"), (style.VERMILION, "x"), (style.GREEN, "^"))


def tile(panels: int = 1) -> tuple[Figure, list[Axes]]:
    """A small figure of one wide panel or some square ones, as large as its neighbours."""
    figure = style.new_figure(3.4, 1.6)
    row = figure.subplots(1, panels, squeeze=False)[0]
    return figure, list(row)


def without_frame(axes: Axes, low: Sequence[float], high: Sequence[float]) -> None:
    """A square of the plane, nothing around it."""
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.grid(visible=False)


def points(axes: Axes, X: Floats, y: NDArray[Any], size: float = 3.0) -> None:
    """Rows as points, each class in its colour and mark."""
    for label, (colour, mark) in zip(np.unique(y), LOOKS, strict=False):
        axes.plot(*X[y == label].T, mark, color=colour, markersize=size, markerfacecolor="none", alpha=0.85)


def border(axes: Axes, model: Any, low: Sequence[float], high: Sequence[float], colour: str = style.BLUE) -> None:
    """The line on which a model of two classes is undecided."""
    across, up = np.linspace(low[0], high[0], GRID), np.linspace(low[1], high[1], GRID)
    plane = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    heights = model.decision_function(plane).reshape(GRID, GRID)
    axes.contour(across, up, heights, levels=[0.0], colors=colour, linewidths=2.2)


def moments(stream: ConceptStream, times: Sequence[int], n: int, low: Sequence[float], high: Sequence[float]) -> Figure:
    """A stream of two features at several times, ``n`` rows of each concept."""
    figure, panels = tile(len(times))
    for axes, time in zip(panels, times, strict=True):
        points(axes, *stream.concept(time).draw(n), size=2.5)
        without_frame(axes, low, high)
    return figure
