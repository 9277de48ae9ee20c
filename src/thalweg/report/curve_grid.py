"""Error over time by two choices: a panel for each value of one, in it a curve for each value of the other.

Errors near zero and errors near one are of interest alike, so the scale of error is that of its square root.
"""

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
_TICKS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True)
class Curve:
    """One model's error over time, and its mean."""

    model: str
    errors: NDArray[np.float64]
    mean: float


@dataclass(frozen=True)
class Panel:
    """Curves over the same times."""

    title: str
    times: NDArray[np.float64]
    curves: Sequence[Curve]


def thinned(values: NDArray[np.generic], steps: int) -> NDArray[np.float64]:
    """Means of so many steps each, the last of what is left.

    Examples
    --------
    >>> thinned(np.array([1.0, 3.0, 5.0]), 2)
    array([2., 5.])
    """
    starts = np.arange(0, len(values), steps)
    counts = np.diff(np.append(starts, len(values)))
    return np.asarray(np.add.reduceat(values.astype(np.float64), starts) / counts)


def draw(panels: Sequence[Panel], *, title: str, changes: Sequence[float] = (), steps_per_point: int = 1) -> Figure:
    """The panels in rows of three on common scales, with one legend; ``changes`` are times of sudden change."""
    with style.house_style():
        rows = -(-len(panels) // COLUMNS)
        figure = style.new_figure(12.0, 3.1 * rows + 1.0)
        grid = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False)
        legend: dict[str, Artist] = {}
        top = max(float(curve.errors.max()) for panel in panels for curve in panel.curves)
        for axes, panel in zip(grid.flat, panels, strict=False):
            _draw_panel(axes, panel, changes)
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                legend.setdefault(label, handle)
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        _root_scale(grid[0, 0], top)
        for axes in grid[:, 0]:
            axes.set_ylabel("error (share of test rows,\nsquare-root scale)")
        for axes in figure.axes[-COLUMNS:]:
            axes.set_xlabel("rows learned")
            axes.tick_params(labelbottom=True)
        figure.suptitle(f"{title}, each point a mean of {steps_per_point} steps", fontweight="bold", x=0.01, ha="left")
        figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=len(legend), handlelength=2.8)
    return figure


def _draw_panel(axes: Axes, panel: Panel, changes: Sequence[float]) -> None:
    axes.set_title(panel.title, fontsize=10.5)
    axes.set_xlim(0.0, 100.0 * np.ceil(panel.times[-1] / 100.0))
    axes.locator_params(axis="x", nbins=4)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    for change in changes:
        axes.axvline(change, color=style.GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    for curve in panel.curves:
        look = style.look_of(curve.model)
        axes.plot(panel.times, curve.errors, color=look.colour, linestyle=look.dashes, linewidth=1.2, label=curve.model)


def _root_scale(axes: Axes, top: float) -> None:
    axes.set_yscale("function", functions=(lambda y: np.sqrt(np.maximum(y, 0.0)), np.square))
    highest = min(1.0, top * 1.06)
    axes.set_ylim(0.0, highest)
    axes.set_yticks([tick for tick in _TICKS if tick <= highest])
    axes.yaxis.set_major_formatter("{x:g}")
