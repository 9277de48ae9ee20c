"""Something over time in many runs: the mean as a line, and the band that holds most of the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
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
    """Runs of one thing, summed up at each point of time."""

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
class Panel:
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


def draw(panels: Sequence[Panel], *, title: str) -> Figure:
    """The panels side by side, with one legend."""
    with style.house_style():
        figure = style.new_figure(5.2 * len(panels) + 0.4, 4.2)
        legend: dict[str, Artist] = {}
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            _draw_panel(axes, panel)
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                legend.setdefault(label, handle)
        held = f"mean and the band from {100 * LOW:.0f} to {100 * HIGH:.0f} %"
        figure.suptitle(f"{title}: {held}", fontweight="bold", x=0.01, ha="left")
        figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=min(4, len(legend)))
    return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
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
