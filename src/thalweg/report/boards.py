"""A two-dimensional concept whose classes fill the plane, at several moments: its colours, and rows drawn from it."""

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

COLUMNS = 3
#: Light shades of the colours of the rows, class 0 and class 1.
_SHADES = ("#F6D3BC", "#BFDCEE")
_ROW_LOOKS = ((style.VERMILION, "s"), (style.BLUE, "o"))


@dataclass(frozen=True)
class Board:
    """The classes in square cells that fill the unit square, first axis x1, and rows of the same moment."""

    title: str
    #: Shape (cells, cells), 0 and 1.
    cells: NDArray[np.int64]
    X: NDArray[np.float64]
    y: NDArray[np.int64]


def draw(boards: Sequence[Board]) -> Figure:
    """The moments in rows of three, on one scale, with one legend."""
    with style.house_style():
        rows = -(-len(boards) // COLUMNS)
        figure = style.new_figure(9.0, 3.05 * rows + 0.6)
        figure.set_layout_engine("constrained", h_pad=0.1)  # titles would touch the edge
        axes_grid = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False)
        for axes, board in zip(axes_grid.flat, boards, strict=False):
            _draw_board(axes, board)
        for axes in axes_grid.flat[len(boards) :]:
            axes.remove()
        for axes in axes_grid[:, 0]:
            axes.set_ylabel("$x_2$ (no unit)")
        for axes in axes_grid[-1]:
            axes.set_xlabel("$x_1$ (no unit)")
        figure.legend(*_legend(), loc="outside lower center", ncols=4)
    return figure


def _draw_board(axes: Axes, board: Board) -> None:
    from matplotlib.colors import ListedColormap

    axes.imshow(
        board.cells.T, origin="lower", extent=(0.0, 1.0, 0.0, 1.0), cmap=ListedColormap(_SHADES), vmin=0, vmax=1
    )
    axes.set_title(board.title)
    axes.set(xticks=[0, 0.5, 1], yticks=[0, 0.5, 1], xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))
    axes.grid(visible=False)
    for label, (colour, marker) in enumerate(_ROW_LOOKS):
        X = board.X[board.y == label]
        axes.plot(X[:, 0], X[:, 1], linestyle="none", marker=marker, markersize=4.5, color=colour, fillstyle="none")


def _legend() -> tuple[list[Artist], list[str]]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Artist] = []
    names: list[str] = []
    for label, ((colour, marker), shade) in enumerate(zip(_ROW_LOOKS, _SHADES, strict=True)):
        handles += [
            Patch(facecolor=shade),
            Line2D([], [], linestyle="none", marker=marker, markersize=4.5, color=colour, fillstyle="none"),
        ]
        names += [f"concept, class {label}", f"training row, class {label}"]
    return handles, names
