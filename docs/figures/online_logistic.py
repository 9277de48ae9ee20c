"""Whose probabilities mean what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import legend_below

from thalweg import OnlineLDC, OnlineLogistic, PassiveAggressive
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, SETTLED = 40_000, 4_000
BINS = np.linspace(0, 1, 11)
MODELS = {
    "logistic, η = 0.02": (lambda: OnlineLogistic(0.02), style.GREEN, "-", "o"),
    "logistic, η = 0.5": (lambda: OnlineLogistic(0.5), style.ORANGE, (0, (5, 1.6)), "v"),
    "passive-aggressive, C = 1": (PassiveAggressive, style.VERMILION, (0, (1.4, 1.1)), "s"),
    "O-LDC, soft counts, λ = 0.01": (lambda: OnlineLDC(0.01, counts="soft"), style.BLUE, (0, (4, 1.4, 1, 1.4)), "D"),
}


def draw() -> Figure:
    """Of the rows to which a model gives a probability, the share that has the label."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 5))
    true = 1.0 / (1.0 + np.exp(-X @ [1.5, -1.0, 0.5, 0.0, 0.0]))
    y = (rng.random(ROWS) < true).astype(int)
    figure = style.new_figure(7.2, 4.0)
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1])
    left.plot([0, 1], [0, 1], color=style.GREY, linewidth=1, linestyle=(0, (1, 2)), label="as it should be")
    names, losses = [], []
    for name, (make, colour, dashes, marker) in MODELS.items():
        told = make().predict_then_learn(X, y, with_proba=True).proba[SETTLED:, 1]
        labels = y[SETTLED:]
        place = np.clip(np.digitize(told, BINS) - 1, 0, 9)
        count = np.bincount(place, minlength=10)
        share = np.bincount(place, labels, minlength=10) / np.maximum(count, 1)
        middle = np.bincount(place, told, minlength=10) / np.maximum(count, 1)
        shown = count >= 50
        left.plot(middle[shown], share[shown], color=colour, linestyle=dashes, marker=marker, markersize=5, label=name)
        given = np.clip(np.where(labels == 1, told, 1 - told), 1e-12, 1)
        names.append(name.split(",")[0] if "logistic" not in name else name)
        losses.append((float(-np.log(given).mean()), colour))
    left.set(xlabel="probability that the model gives", ylabel="share of rows that have the label")
    left.set(title="Reliability", aspect="equal", xlim=(0, 1), ylim=(0, 1))
    right.barh(
        range(len(names))[::-1], [loss for loss, _ in losses], color=[colour for _, colour in losses], height=0.6
    )
    right.set_yticks(range(len(names))[::-1], names)
    best = float(-(true * np.log(true) + (1 - true) * np.log(1 - true)).mean())
    right.axvline(best, color=style.INK, linewidth=1, linestyle=(0, (1, 2)))
    right.set(title="Log-loss", xlabel="mean log-loss of a row (nats)")
    right.grid(visible=False, axis="y")
    legend_below(figure, [left], 3)
    return figure
