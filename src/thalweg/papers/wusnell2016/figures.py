"""The figures of the paper: means over runs with bands, and points in the plane with lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.papers.figures import plot_points
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The band leaves out as many of the runs below it as above it.
LOW, HIGH = 0.1, 0.9

_LOOKS = (
    (style.BLUE, "-"),
    (style.VERMILION, (0, (5, 1.6))),
    (style.GREEN, (0, (4, 1.4, 1, 1.4))),
    (style.PURPLE, (0, (1.4, 1.1))),
    (style.ORANGE, (0, (2, 1))),
)


@dataclass(frozen=True)
class Band:
    """Mean and quantiles over runs, at each time."""

    name: str
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, name: str, runs: NDArray[np.float64]) -> Band:
        """Of values by run and time.

        Examples
        --------
        >>> Band.of("runs", np.arange(11.0)[:, np.newaxis])
        Band(name='runs', mean=array([5.]), low=array([1.]), high=array([9.]))
        """
        low, high = np.quantile(runs, (LOW, HIGH), axis=0)
        return cls(name, np.asarray(runs.mean(axis=0)), low, high)


@dataclass(frozen=True)
class BandPanel:
    """Bands over the same times, on scales of their own."""

    title: str
    #: What is drawn, with its unit.
    quantity: str
    times: NDArray[np.int64]
    bands: Sequence[Band]
    #: Values to compare with, by name.
    levels: Mapping[str, float] = field(default_factory=dict)
    logarithmic_time: bool = False
    logarithmic: bool = False
    #: Lowest and highest value shown; by default all.
    limits: tuple[float, float] | None = None


def draw_bands(panels: Sequence[BandPanel], *, title: str) -> Figure:
    """The panels side by side, with one legend."""
    with style.house_style():
        figure = style.new_figure(5.2 * len(panels) + 0.4, 4.2)
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            _draw_panel(axes, panel)
        held = f"mean and the band from {100 * LOW:.0f} to {100 * HIGH:.0f} %"
        figure.suptitle(f"{title}: {held}", fontweight="bold", x=0.01, ha="left")
        names = {name for panel in panels for name in (*panel.levels, *(band.name for band in panel.bands))}
        style.legend_below(figure, min(4, len(names)))
    return figure


def _draw_panel(axes: Axes, panel: BandPanel) -> None:
    axes.set_title(panel.title, fontsize=10.5)
    axes.set(xlabel="rows learned", ylabel=panel.quantity)
    if panel.logarithmic_time:
        axes.set_xscale("log")
    if panel.logarithmic:
        axes.set_yscale("log")
    axes.set_xlim(float(panel.times[0]) if panel.logarithmic_time else 0.0, float(panel.times[-1]))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    if panel.limits is not None:
        axes.set_ylim(panel.limits)
    for name, level in panel.levels.items():
        axes.axhline(level, color=style.INK, linewidth=1.0, linestyle=(0, (1, 2)), label=name)
    for band, (colour, dashes) in zip(panel.bands, _LOOKS, strict=False):
        axes.fill_between(panel.times, band.low, band.high, color=colour, alpha=0.16, linewidth=0.0)
        axes.plot(panel.times, band.mean, color=colour, linestyle=dashes, label=band.name)
    if panel.logarithmic:
        axes.yaxis.set_major_formatter("{x:g}")


_CLOUDS = ((style.BLUE, "o"), (style.VERMILION, "x"))
_LINES = ((style.INK, "-"), (style.GREEN, (0, (5, 1.6))), (style.PURPLE, (0, (1.4, 1.1))))


@dataclass(frozen=True)
class Line:
    name: str
    point: tuple[float, float]
    direction: tuple[float, float]


def draw_scatter(clouds: Mapping[str, NDArray[np.float64]], lines: Sequence[Line], *, title: str) -> Figure:
    """Points by name, and lines, in one panel with the same scale along both axes."""
    points = np.concatenate(list(clouds.values()))
    low, high = points.min(axis=0), points.max(axis=0)
    air = 0.04 * (high - low).max()
    across, up = high - low + 2.0 * air
    with style.house_style():
        figure = style.new_figure(6.4, 5.8 * up / across + 1.5)  # the rest is for title, axis and legend
        axes = figure.subplots()
        axes.set(xlim=(low[0] - air, high[0] + air), ylim=(low[1] - air, high[1] + air), aspect="equal")
        axes.set(title=title, xlabel="$x_1$ (no unit)", ylabel="$x_2$ (no unit)")
        for (name, X), (colour, marker) in zip(clouds.items(), _CLOUDS, strict=False):
            plot_points(axes, X, colour, marker, name, markersize=3.5, alpha=0.65)
        for line, (colour, dashes) in zip(lines, _LINES, strict=False):
            axes.axline(
                line.point,
                (line.point[0] + line.direction[0], line.point[1] + line.direction[1]),
                color=colour,
                linestyle=dashes,
                linewidth=2.0,
                label=line.name,
            )
        style.legend_below(figure, 2)
    return figure
