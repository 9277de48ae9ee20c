"""What the figures of several papers share: curves by model, points in the plane, and errors over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Curve:
    """Values of one model over time, learning rate or number of rows."""

    model: str
    x: NDArray[Any]
    y: NDArray[np.float64]
    #: For the legend; the model's name by default.
    label: str = ""
    #: Half-widths of the 95 % intervals of y.
    halfwidths: NDArray[np.float64] | None = None
    #: Mean over the whole stream, by default that of y, and the paper's.
    mean: float | None = None
    paper_mean: float | None = None
    #: The (x, y) the paper prints as its best.
    paper_best: tuple[float, float] | None = None

    @property
    def top(self) -> float:
        """The highest value, with its interval."""
        return float(np.max(self.y if self.halfwidths is None else self.y + self.halfwidths))


@dataclass(frozen=True)
class Panel:
    title: str
    curves: Sequence[Curve]
    x_label: str = ""
    y_label: str = ""
    #: Times of sudden change.
    changes: Sequence[float] = ()

    @property
    def top(self) -> float:
        return max(curve.top for curve in self.curves)


def plot(axes: Axes, curve: Curve, *, markersize: float | None = None, **options: Any) -> None:
    """Draw a curve in the look of its model, with markers if they have a size."""
    look = style.look_of(curve.model)
    if markersize is not None:
        options |= {"marker": look.marker, "markersize": markersize}
    axes.plot(curve.x, curve.y, color=look.colour, linestyle=look.dashes, label=curve.label or curve.model, **options)


def plot_points(axes: Axes, X: NDArray[np.float64], colour: str, marker: str, label: str, **options: Any) -> None:
    """Draw rows (n, 2) as hollow markers."""
    axes.plot(
        *X.T, linestyle="none", marker=marker, markerfacecolor="none", markeredgecolor=colour, label=label, **options
    )


def square_around(X: NDArray[np.float64], half: float) -> NDArray[np.float64]:
    """Lowest and highest value of each axis of a square around rows (n, 2).

    Half its side is ``half`` times the largest extent of the rows.

    Examples
    --------
    >>> square_around(np.array([[0.0, 0.0], [4.0, 2.0]]), 0.5)
    array([[ 0.,  4.],
           [-1.,  3.]])
    """
    low, high = X.min(axis=0), X.max(axis=0)
    middle, reach = (low + high) / 2.0, half * float((high - low).max())
    return np.stack([middle - reach, middle + reach], axis=1)


def draw_progression(panels: Sequence[Panel]) -> Figure:
    """Errors over time, the panels one above the other, each with its own time axis, with one legend."""
    with style.house_style():
        figure = style.new_figure(9.0, 2.75 * len(panels) + 0.7)
        grid = figure.subplots(len(panels), 2, squeeze=False, sharey="row", width_ratios=[8, 1])
        for (axes, strip), panel in zip(grid, panels, strict=True):
            _draw_panel(axes, panel)
            _draw_means(strip, panel)
        models = len({curve.model for panel in panels for curve in panel.curves})
        style.legend_below(figure, models if models <= 5 else -(-models // 2), handlelength=2.5)
    return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    times = panel.curves[0].x
    axes.set_xlim(float(times[0]), float(times[-1]))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    style.mark_changes(axes, panel.changes, style.INK)
    for curve in panel.curves:
        plot(axes, curve)
    style.share_from_zero(axes, panel.top)


def _draw_means(axes: Axes, panel: Panel) -> None:
    axes.set_title("mean", fontweight="normal", fontsize=9.5, loc="center")
    compared = any(curve.paper_mean is not None for curve in panel.curves)
    axes.set(xlim=(-0.6, 1.6 if compared else 0.6), xticks=[0, 1] if compared else [0])
    axes.set_xticklabels(["here", "paper"] if compared else ["here"])
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="x", labelsize=8.5, length=0)
    axes.tick_params(axis="y", length=0, labelleft=False)
    axes.grid(visible=False, axis="x")
    for curve in panel.curves:
        look = style.look_of(curve.model)
        mean = float(curve.y.mean()) if curve.mean is None else curve.mean
        if curve.paper_mean is not None:
            axes.plot([0, 1], [mean, curve.paper_mean], color=look.colour, linewidth=0.8)
            axes.plot(1, curve.paper_mean, look.marker, color=look.colour, markersize=5, markerfacecolor="white")
        axes.plot(0, mean, look.marker, color=look.colour, markersize=5)
