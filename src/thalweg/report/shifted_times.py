"""Why a running mean is late: of which time it tells, one panel per weighting of the rows."""

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
class Panel:
    """One weighting: observations of a class, and after each its running mean and the time that mean stands for."""

    title: str
    times: NDArray[np.float64]
    observations: NDArray[np.float64]
    means: NDArray[np.float64]
    shifted: NDArray[np.float64]
    #: The expected value at every time.
    trend_times: NDArray[np.float64]
    trend: NDArray[np.float64]


def draw(panels: Sequence[Panel]) -> Figure:
    """The panels side by side on one scale, with one legend."""
    with style.house_style():
        figure = style.new_figure(5.2 * len(panels) + 0.3, 4.6)
        axes_row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, panel in zip(axes_row, panels, strict=True):
            _draw_panel(axes, panel)
        axes_row[0].set_ylabel("feature (no unit)")
        handles, labels = axes_row[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
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
