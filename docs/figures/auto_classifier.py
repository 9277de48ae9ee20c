"""AutoClassifier beside each of its members alone: the best one changes from stream to stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import legend_below, mistakes
from sklearn.base import clone

from thalweg import (
    AutoClassifier,
    OnlineLDC,
    OnlineLogistic,
    PassiveAggressive,
    Perceptron,
    StandardScaler,
    StreamPipeline,
)
from thalweg.report import style
from thalweg.streams import SEA, DriftingGaussians, MovingPlane, RotatingCheckerboard, Stagger

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from matplotlib.figure import Figure

ROWS = 4000
STREAMS = {
    "STAGGER, 120 rows": (Stagger, {}, 120),
    "moving plane, 1° a row": (MovingPlane, {}, ROWS),
    "moving plane, 0.05° a row": (MovingPlane, {"degrees_per_row": 0.05}, ROWS),
    "SEA, noisy labels": (SEA, {"rows_per_concept": 1000}, ROWS),
    "Gaussians, circular": (DriftingGaussians, {"scenario": "circular"}, ROWS),
    "Gaussians, sudden": (DriftingGaussians, {"scenario": "sudden"}, ROWS),
    "checkerboard": (RotatingCheckerboard, {"length": ROWS}, ROWS),
}
SEEDS = range(3)


def members() -> Iterator[tuple[str, Any]]:
    """Each member alone, behind a scaler as in the committee."""
    for rate in (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3):
        yield "O-LDC", OnlineLDC(rate, counts="soft", ridge=1e-3)
    yield "perceptron", StreamPipeline([StandardScaler(clip=10.0), Perceptron(0.5)])
    for C in (1.0, 0.1, 0.01):
        yield "passive-aggressive", StreamPipeline([StandardScaler(clip=10.0), PassiveAggressive(C)])
    for rate in (0.1, 0.02, 0.003):
        yield "logistic", StreamPipeline([StandardScaler(clip=10.0), OnlineLogistic(rate)])


LOOKS = {
    "O-LDC": (style.BLUE, "|"),
    "perceptron": (style.GREY, "x"),
    "passive-aggressive": (style.VERMILION, "+"),
    "logistic": (style.GREEN, "1"),
}


def draw() -> Figure:
    """Error over all rows, mean of three runs; a mark is a member, the circle the committee."""
    figure = style.new_figure(7.2, 4.2)
    axes = figure.subplots()
    places = np.arange(len(STREAMS))[::-1]
    for place, (make, parameters, rows) in zip(places, STREAMS.values(), strict=True):
        runs = [make(seed=seed, **parameters).take(rows) for seed in SEEDS]
        for family, model in members():
            colour, marker = LOOKS[family]
            found = np.mean([mistakes(clone(model), X, y).mean() for X, y in runs])
            label = family if place == places[0] else None
            axes.plot(found, place, marker, color=colour, markersize=9, markeredgewidth=1.5, label=label)
        found = np.mean([mistakes(AutoClassifier(), X, y).mean() for X, y in runs])
        label = "AutoClassifier" if place == places[0] else None
        axes.plot(
            found, place, "o", color=style.INK, markersize=10, markerfacecolor="none", markeredgewidth=1.8, label=label
        )
    axes.set_yticks(places, list(STREAMS))
    axes.set(title="Fourteen members alone, and together", xlabel="error over all rows")
    axes.set_xlim(0, 0.6)
    axes.grid(visible=False, axis="y")
    legend_below(figure, [axes], 5)
    return figure
