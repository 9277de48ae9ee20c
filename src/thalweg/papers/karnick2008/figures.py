"""The figures of the paper: accuracy over blocks, time per block, and the concept on a board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.papers.figures import Curve, Panel, plot
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENSEMBLE, SINGLE = "Learn++.NSE", "newest classifier alone"


def draw_accuracy(panels: Sequence[Panel], *, title: str) -> Figure:
    """Accuracy over blocks, a panel for each kind of classifier, on one scale of time and one of accuracy."""
    with style.house_style():
        figure = style.new_figure(9.0, 2.3 * len(panels) + 1.0)
        column = figure.subplots(len(panels), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, panel in zip(column, panels, strict=True):
            _draw_panel(axes, panel)
            axes.set_ylabel("accuracy\n(share of test rows)")
        column[0].set_ylim(top=min(1.0, column[0].get_ylim()[1]))
        column[-1].set_xlabel("blocks learned")
        figure.suptitle(title, fontweight="bold", x=0.01, ha="left")
        style.legend_below(figure, 2, handlelength=2.5)
    return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
    style.mark_changes(axes, panel.changes, style.INK)
    for curve in panel.curves:
        plot(axes, curve, linewidth=0.8 if curve.model == SINGLE else None)
    axes.set_title(panel.title, fontsize=10.5)
    axes.set_xlim(0, int(panel.curves[0].x[-1]))


def draw_block_times(curves: Sequence[Curve], *, title: str, task: str) -> Figure:
    """Milliseconds a block against the members at that time, with markers for curves of few points."""
    with style.house_style():
        figure = style.new_figure(9.0, 4.2)
        axes = figure.subplots()
        for curve in curves:
            plot(axes, curve, markersize=5 if len(curve.x) <= 50 else None, linewidth=1.2, clip_on=False)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlim(0, max(int(curve.x[-1]) for curve in curves))
        axes.set_title(title)
        axes.set(xlabel="members", ylabel=f"milliseconds a block\n({task})")
        style.legend_below(figure)
    return figure


COLUMNS = 3
#: Light shades of the colours of the rows, class 0 and class 1.
_SHADES = ("#F6D3BC", "#BFDCEE")
_ROW_LOOKS = ((style.VERMILION, "s"), (style.BLUE, "o"))


@dataclass(frozen=True)
class Board:
    """The classes in square cells that fill the unit square, first axis x1, and rows of the same time."""

    title: str
    #: Shape (cells, cells), 0 and 1.
    cells: NDArray[np.int64]
    X: NDArray[np.float64]
    y: NDArray[np.int64]


def draw_boards(boards: Sequence[Board]) -> Figure:
    """The boards in rows of three, on one scale, with one legend."""
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
