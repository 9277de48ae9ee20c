"""The figures of the paper: accuracy over blocks, time per block, and the concept on a board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.papers.figures import IN_PLANE, SMALL, Curve, Panel, draw, plain
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENSEMBLE, SINGLE = "Learn++.NSE", "newest classifier alone"


def draw_accuracy(panels: Sequence[Panel], *, title: str) -> Figure:
    """Accuracy over blocks, a panel for each kind of classifier, on one scale of time and one of accuracy."""
    panels = [replace(panel, settings={"xlim": (0, int(panel.curves[0].x[-1]))}) for panel in panels]
    return draw(
        [*panels[:-1], replace(panels[-1], marks=[_up_to_one])],
        (9.0, 2.3 * len(panels) + 1.0),
        columns=1,
        share="xy",
        labels=("blocks learned", "accuracy\n(share of test rows)"),
        title=title,
        font=SMALL,
        curve=lambda curve: {"linewidth": 0.8 if curve.model == SINGLE else None},
        legend={"columns": 2, "handlelength": 2.5},
    )


def _up_to_one(axes: Axes) -> None:
    axes.set_ylim(top=min(1.0, axes.get_ylim()[1]))


def draw_block_times(curves: Sequence[Curve], *, title: str, task: str) -> Figure:
    """Milliseconds a block against the members at that time, with markers for curves of few points."""
    settings = {"yscale": "log", "xlim": (0, max(int(curve.x[-1]) for curve in curves))}
    panel = Panel(title, curves, "members", f"milliseconds a block\n({task})", settings=settings, marks=[plain])
    look = {"linewidth": 1.2, "clip_on": False}
    return draw([panel], (9.0, 4.2), curve=lambda curve: look | {"markersize": 5 if len(curve.x) <= 50 else None})


COLUMNS = 3
#: Light shades of the colours of the rows, class 0 and class 1.
_SHADES = ("#F6D3BC", "#BFDCEE")
_ROW_LOOKS: tuple[dict[str, Any], ...] = tuple(
    {"linestyle": "none", "marker": marker, "markersize": 4.5, "color": colour, "fillstyle": "none"}
    for colour, marker in ((style.VERMILION, "s"), (style.BLUE, "o"))
)


def board(title: str, cells: NDArray[np.int64], X: NDArray[np.float64], y: NDArray[np.int64]) -> Panel:
    """The classes in square cells that fill the unit square, first axis x1, and rows of the same time."""
    rows = [methodcaller("plot", *X[y == label].T, **look) for label, look in enumerate(_ROW_LOOKS)]
    ticks, limits = [0, 0.5, 1], (-0.05, 1.05)
    frame = methodcaller("set", xticks=ticks, yticks=ticks, xlim=limits, ylim=limits)
    return Panel(title, marks=[partial(_show, cells), frame, *rows])


def draw_boards(boards: Sequence[Panel]) -> Figure:
    """The boards in rows of three, on one scale, with one legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles, names = [], []
    for label, (look, shade) in enumerate(zip(_ROW_LOOKS, _SHADES, strict=True)):
        handles += [Patch(facecolor=shade), Line2D([], [], **look)]
        names += [f"concept, class {label}", f"training row, class {label}"]
    figure = draw(
        boards,
        (9.0, 3.05 * -(-len(boards) // COLUMNS) + 0.6),
        columns=COLUMNS,
        share="xy",
        labels=IN_PLANE,
        grid=False,
        layout={"h_pad": 0.1},  # titles would touch the edge
        legend={},
    )
    with style.house_style():
        figure.legend(handles, names, loc="outside lower center", ncols=4)
    return figure


def _show(cells: NDArray[np.int64], axes: Axes) -> None:
    from matplotlib.colors import ListedColormap

    extent = (0.0, 1.0, 0.0, 1.0)
    axes.imshow(cells.T, origin="lower", extent=extent, cmap=ListedColormap(_SHADES), vmin=0, vmax=1)
