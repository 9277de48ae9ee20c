"""The figures of the paper: error over time by rate and window, drifting classes as ellipses, and how late a running
mean is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.online_ldc import OnlineLDC
from thalweg.papers.figures import Panel, plot, square_around
from thalweg.report import style
from thalweg.streams import DriftingGaussians, Gliding

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
_TICKS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


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


def draw_curves(panels: Sequence[Panel], *, title: str, steps_per_point: int = 1) -> Figure:
    """The panels in rows of three on common scales, with one legend."""
    with style.house_style():
        rows = -(-len(panels) // COLUMNS)
        figure = style.new_figure(12.0, 3.1 * rows + 1.0)
        grid = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False)
        for axes, panel in zip(grid.flat, panels, strict=False):
            _draw_panel(axes, panel)
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        _root_scale(grid[0, 0], max(panel.top for panel in panels))
        for axes in grid[:, 0]:
            axes.set_ylabel("error (share of test rows,\nsquare-root scale)")
        for axes in figure.axes[-COLUMNS:]:
            axes.set_xlabel("rows learned")
            axes.tick_params(labelbottom=True)
        figure.suptitle(f"{title}, each point a mean of {steps_per_point} steps", fontweight="bold", x=0.01, ha="left")
        style.legend_below(figure, handlelength=2.8)
    return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title, fontsize=10.5)
    axes.set_xlim(0.0, 100.0 * np.ceil(panel.curves[0].x[-1] / 100.0))
    axes.locator_params(axis="x", nbins=4)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    style.mark_changes(axes, panel.changes, style.GREY, 0.8)
    for curve in panel.curves:
        plot(axes, curve, linewidth=1.2)


def _root_scale(axes: Axes, top: float) -> None:
    axes.set_yscale("function", functions=(lambda y: np.sqrt(np.maximum(y, 0.0)), np.square))
    highest = min(1.0, top * 1.06)
    axes.set_ylim(0.0, highest)
    axes.set_yticks([tick for tick in _TICKS if tick <= highest])
    axes.yaxis.set_major_formatter("{x:g}")


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
    title: str
    clouds: Sequence[Cloud]


def draw_contours(rows: Sequence[tuple[str, Sequence[Moment]]]) -> Figure:
    """A row of times for each name, square and on one scale within the row."""
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
        style.legend_below(figure)
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
    return square_around(np.concatenate([_ellipse(cloud, 2.2) for cloud in clouds], axis=1).T, 0.5)


@dataclass(frozen=True)
class TimePanel:
    """One rate: observations of a class, and after each its running mean and the time at which that mean is right."""

    title: str
    times: NDArray[np.float64]
    observations: NDArray[np.float64]
    means: NDArray[np.float64]
    shifted: NDArray[np.float64]
    #: The expected value at every time.
    trend_times: NDArray[np.float64]
    trend: NDArray[np.float64]


def draw_shifted_times(panels: Sequence[TimePanel]) -> Figure:
    """The panels side by side on one scale, with one legend."""
    with style.house_style():
        figure = style.new_figure(5.2 * len(panels) + 0.3, 4.6)
        axes_row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, panel in zip(axes_row, panels, strict=True):
            _draw_times(axes, panel)
        axes_row[0].set_ylabel("feature (no unit)")
        style.legend_below(figure)
    return figure


def _draw_times(axes: Axes, panel: TimePanel) -> None:
    axes.set(title=panel.title, xlabel="time $i$ (rows)")
    axes.set_xticks(panel.trend_times)
    axes.plot(
        panel.trend_times, panel.trend, "o-", color="#B5B5B5", linewidth=1.0, markersize=7, label="expected value"
    )
    axes.plot(panel.times, panel.observations, "x", color=style.INK, markersize=6, label="observation of the class")
    for now, then, mean in zip(panel.times, panel.shifted, panel.means, strict=True):
        if now != then:
            axes.annotate(
                "",
                xy=(then, mean),
                xytext=(now, mean),
                arrowprops={"arrowstyle": "->", "color": style.SKY, "shrinkB": 4},
            )
    axes.plot(
        panel.times,
        panel.means,
        "o",
        color=style.BLUE,
        markersize=7,
        markerfacecolor="white",
        label="running mean, at the time it is known",
    )
    axes.plot(
        panel.shifted, panel.means, "D", color=style.VERMILION, markersize=5, label="the same, at its shifted time"
    )


COVARIANCE = np.array([[2.0, 0.8], [0.8, 1.0]])
SHIFT = np.array([2.4, 1.2])

#: Rows at which each situation is shown.
MOMENTS: Mapping[str, tuple[int, ...]] = {
    "Circular": (0, 45, 90, 135, 180),
    "Crossing": (0, 1000, 2000, 3000, 3999),
    "Passing": (0, 1000, 2000, 3000, 3999),
    "Sudden": (999, 1999, 2999, 3999),
}
#: Rows that an arrow looks ahead; so slow a drift shows no arrow otherwise.
AHEAD = {"Circular": 30, "Crossing": 600, "Passing": 600}

#: The paper's times, from 1, at which the class has a row.
OBSERVED = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 7.0, 10.0])
RATES = (0.5, 0.9)


def shift() -> Figure:
    """Figure 1: one class whose mean shifts and whose covariance does not."""
    here = np.zeros(2)
    clouds = [
        Cloud("time $t$", here, COVARIANCE, heading=SHIFT),
        Cloud("time $t + 1$", here + SHIFT, COVARIANCE),
    ]
    return draw_contours([("", [Moment("$\\mu_{t+1} = \\mu_t + \\beta_1$", clouds)])])


def shifted_times(seed: int) -> Figure:
    """Figure 2: a class on a line, its running mean, and the time at which that mean is right."""
    stream = DriftingGaussians(seed, Gliding(starts=[[0.0], [9.0]], velocities=[[1.0], [-1.0]]), covariance=0.6)
    observed = np.array([_row_of_class_0(stream, int(time) - 1) for time in OBSERVED])
    every_time = np.arange(1.0, OBSERVED[-1] + 1.0)
    panels = []
    for rate in RATES:
        means, shifted = _means_and_times(observed, OBSERVED, rate)
        panels.append(
            TimePanel(
                f"λ = {rate}" + (": all rows weigh the same" if rate == 0.5 else ": late rows weigh more"),
                OBSERVED,
                observed,
                means,
                shifted,
                every_time,
                stream.means_at(every_time - 1.0)[:, 0, 0],
            )
        )
    return draw_shifted_times(panels)


def _row_of_class_0(stream: DriftingGaussians, row: int) -> float:
    X, y = stream.concept(row).draw(64)
    return float(X[y == 0][0, 0])


def _means_and_times(
    x: NDArray[np.float64], times: NDArray[np.float64], rate: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """O-LDC's running mean after each row of a class, and of the times of those rows: its shifted time."""
    model = OnlineLDC(rate=rate, warmup=0)
    after = []
    for row in zip(x, times, strict=True):
        model.learn_one(row, 0)
        after.append(model.means_[0])
    means, shifted = np.array(after).T
    return means, shifted


def situations(streams: Mapping[str, DriftingGaussians]) -> Figure:
    """Figure 3: both classes of every situation at several times."""
    rows = []
    for letter, (name, stream) in zip("abcd", streams.items(), strict=True):
        moments = [Moment(f"row {row:,}", _clouds(stream, row, AHEAD.get(name))) for row in MOMENTS[name]]
        arrows = f"\narrows: {AHEAD[name]} rows ahead" if name in AHEAD else ""
        rows.append((f"({letter}) {name}{arrows}", moments))
    return draw_contours(rows)


def _clouds(stream: DriftingGaussians, row: int, ahead: int | None) -> list[Cloud]:
    covariance = np.asarray(stream.covariance)
    headings = [None] * len(stream.classes) if ahead is None else list(stream.means_at(row + ahead))
    return [
        Cloud(f"class {label}", mean, covariance, heading)
        for label, mean, heading in zip(stream.classes, stream.means_at(row), headings, strict=True)
    ]
