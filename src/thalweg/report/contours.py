"""Gaussian classes in the plane at several moments: ellipses of one and two standard deviations, and where they go."""

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

_COLOURS = (style.BLUE, style.VERMILION, style.GREEN, style.PURPLE)
_MARKERS = ("o", "s", "^", "D")


@dataclass(frozen=True)
class Cloud:
    """A Gaussian: its name, mean and covariance, and where its mean goes next."""

    name: str
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    heading: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Moment:
    """The clouds of one moment."""

    title: str
    clouds: Sequence[Cloud]


def draw(rows: Sequence[tuple[str, Sequence[Moment]]]) -> Figure:
    """A row of moments for each name, square and on one scale within the row."""
    columns = max(len(moments) for _, moments in rows)
    with style.house_style():
        side = 2.45 if columns > 1 else 4.0
        figure = style.new_figure(side * columns + 0.6, (side + 0.15) * len(rows) + 0.5)
        grid = figure.subplots(len(rows), columns, squeeze=False)
        for axes_row, (name, moments) in zip(grid, rows, strict=True):
            limits = _limits([cloud for moment in moments for cloud in moment.clouds])
            for axes in axes_row[len(moments) :]:
                axes.remove()
            for axes, moment in zip(axes_row, moments, strict=False):
                _draw_moment(axes, moment, limits)
            axes_row[0].set_ylabel(f"{name}\n$x_2$ (no unit)".strip())
        for axes in figure.axes:
            axes.set_xlabel("$x_1$ (no unit)")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        # Titles over square panels find their place at the second layout only.
        figure.draw_without_rendering()
    return figure


def _draw_moment(axes: Axes, moment: Moment, limits: NDArray[np.float64]) -> None:
    axes.set(xlim=limits[0], ylim=limits[1], aspect="equal")
    axes.set_title(moment.title, fontsize=9.5, fontweight="normal")
    axes.locator_params(nbins=5)
    for number, cloud in enumerate(moment.clouds):
        colour = _COLOURS[number % len(_COLOURS)]
        for deviations in (1.0, 2.0):
            axes.plot(*_ellipse(cloud, deviations), color=colour, linewidth=1.6 / deviations)
        marker = _MARKERS[number % len(_MARKERS)]
        axes.plot(*cloud.mean, marker=marker, markersize=5, linestyle="none", color=colour, label=cloud.name)
        if cloud.heading is not None:
            axes.annotate(
                "",
                xy=tuple(cloud.heading),
                xytext=tuple(cloud.mean),
                arrowprops={"arrowstyle": "->", "color": style.INK},
            )


def _ellipse(cloud: Cloud, deviations: float) -> NDArray[np.float64]:
    angles = np.linspace(0.0, 2.0 * np.pi, 181)
    circle = deviations * np.stack([np.cos(angles), np.sin(angles)])
    return np.asarray(cloud.mean[:, np.newaxis] + np.linalg.cholesky(cloud.covariance) @ circle)


def _limits(clouds: Sequence[Cloud]) -> NDArray[np.float64]:
    """A square that holds all ellipses, as lowest and highest of each axis."""
    points = np.concatenate([_ellipse(cloud, 2.2) for cloud in clouds], axis=1)
    low, high = points.min(axis=1), points.max(axis=1)
    half = float((high - low).max()) / 2.0
    middle = (low + high) / 2.0
    return np.stack([middle - half, middle + half], axis=1)
