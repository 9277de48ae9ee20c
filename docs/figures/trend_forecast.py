"""Where a class mean was, where it is, and where its trend says it will be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import mistakes

from thalweg import OnlineLDC, TrendForecast
from thalweg.report import style
from thalweg.streams import DriftingGaussians, Jumping

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOMENTS = range(300, 660, 20)
RUNS = 60


def draw() -> Figure:
    """One class's mean on the circle, followed and forecast; and the error on four streams."""
    figure = style.new_figure(7.2, 3.6)
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.15])
    means(left)
    errors(right)
    return figure


def means(axes: Axes) -> None:
    """One turn of the mean of class 0: where it is, where O-LDC's running mean is, and the forecast; means of runs."""
    late, ahead = np.zeros((len(MOMENTS), 2)), np.zeros((len(MOMENTS), 2))
    for seed in range(RUNS):
        X, y = DriftingGaussians(seed=seed, scenario="circular").take(MOMENTS[-1])
        model, base, start = TrendForecast(OnlineLDC(0.9), window=20), OnlineLDC(0.9), 0
        for i, moment in enumerate(MOMENTS):
            rows = slice(start, moment)
            ahead[i] += model.partial_fit(X[rows], y[rows]).forecast_.means[0] / RUNS
            late[i] += base.partial_fit(X[rows], y[rows]).means_[0] / RUNS
            start = moment
    stream = DriftingGaussians(scenario="circular")
    circle, now = stream.means_at(np.arange(361))[:, 0], stream.means_at(np.array(MOMENTS))[:, 0]
    axes.plot(*circle.T, color=style.GREY, linewidth=0.8)
    for true, mean in zip(now, late, strict=True):
        axes.plot(*np.array([true, mean]).T, color=style.VERMILION, linewidth=0.7, alpha=0.6)
    axes.plot(*now.T, "o", color=style.INK, markerfacecolor="none", markersize=7, label="true mean at the next row")
    axes.plot(*ahead.T, "o", color=style.BLUE, markersize=4, label="forecast")
    axes.plot(*late.T, "s", color=style.VERMILION, markersize=4, label="running mean of O-LDC")
    axes.set(title="One turn of a class mean", aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    axes.set_xlim(-2.8, 2.8)
    axes.set_ylim(-2.6, 4.6)
    axes.legend(loc="upper center", handletextpad=0.4, fontsize=8.5)


def errors(axes: Axes) -> None:
    """Error over all rows of four moving situations and a still one."""
    still = Jumping(jumps={})
    situations = {
        "circular": "circular",
        "crossing": "crossing",
        "passing": "passing",
        "sudden": "sudden",
        "still": still,
    }
    models = {
        "O-LDC, λ = 0.9": (lambda: OnlineLDC(0.9), style.VERMILION, "s"),
        "forecast, window 20": (lambda: TrendForecast(OnlineLDC(0.9), window=20), style.GREEN, "^"),
        'forecast, "auto"': (lambda: TrendForecast(OnlineLDC(0.9), window="auto"), style.BLUE, "o"),
    }
    places = np.arange(len(situations))[::-1]
    for name, (make, colour, marker) in models.items():
        found = [
            mistakes(make(), *DriftingGaussians(seed=0, scenario=each).take(4000)).mean()
            for each in situations.values()
        ]
        axes.plot(found, places, marker, color=colour, markersize=6, label=name)
    axes.set_yticks(places, list(situations))
    axes.set(title="Five streams of 4,000 rows", xlabel="error over all rows")
    axes.set_xlim(0, 0.4)
    axes.set_ylim(-0.6, 4.6)
    axes.legend(loc="lower right", handletextpad=0.2)
