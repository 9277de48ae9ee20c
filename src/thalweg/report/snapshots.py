"""A two-dimensional concept at several moments: labelled points and the true boundary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Snapshot:
    """Points of one moment; the boundary is the line through the origin at right angles to ``normal``."""

    title: str
    X: NDArray[np.float64]
    positive: NDArray[np.bool_]
    normal: tuple[float, float]


def draw(snapshots: Sequence[Snapshot], *, axis_names: tuple[str, str] = ("$x_1$", "$x_2$")) -> Figure:
    """The moments side by side, square and on one scale."""
    with style.house_style():
        figure = style.new_figure(2.75 * len(snapshots) + 0.3, 3.75)
        axes_row = figure.subplots(1, len(snapshots), sharey=True, squeeze=False)[0]
        for axes, snapshot in zip(axes_row, snapshots, strict=True):
            _draw_snapshot(axes, snapshot)
            axes.set_xlabel(f"{axis_names[0]} (no unit)")
        axes_row[0].set_ylabel(f"{axis_names[1]} (no unit)")
        handles, labels = axes_row[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _draw_snapshot(axes: Axes, snapshot: Snapshot) -> None:
    reach = 1.05 * max(1.0, float(np.abs(snapshot.X).max()))
    axes.set(title=snapshot.title, xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    axes.grid(visible=False)
    for chosen, name, colour, marker in (
        (snapshot.positive, "class 1", style.BLUE, "o"),
        (~snapshot.positive, "class 0", style.VERMILION, "x"),
    ):
        points = snapshot.X[chosen]
        axes.plot(
            points[:, 0],
            points[:, 1],
            linestyle="none",
            marker=marker,
            markersize=4,
            markerfacecolor="none",
            markeredgecolor=colour,
            label=name,
        )
    across, up = snapshot.normal
    length = 2 * reach / np.hypot(across, up)
    axes.plot([-up * length, up * length], [across * length, -across * length], color=style.INK, label="boundary")
