"""The error of three forests around an abrupt change: the default, no lasting trees, nothing grown anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import Floats, blocks, mistakes

from thalweg import WindowForest
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHANGE, ROWS, SHOWN, BLOCK, STREAMS = 4000, 7000, (3000, 7000), 100, 20
FORESTS = {
    "default": {},
    "lasting_trees=0": {"lasting_trees": 0},
    "regrow_every=0, change_level=0": {"regrow_every": 0, "change_level": 0.0},
}
LOOKS = ((style.BLUE, "-"), (style.GREEN, "--"), (style.VERMILION, ":"))


def stream(seed: int) -> tuple[Floats, np.ndarray]:
    """The rows of the page: another column takes over."""
    X = np.random.default_rng(seed).normal(size=(ROWS, 8))
    y = (X[:, 0] > 0.3) ^ (X[:, 1] > -0.2)
    y[CHANGE:] = (X[CHANGE:, 2] > 0.3) ^ (X[CHANGE:, 1] > -0.2)
    return X, y


def draw() -> Figure:
    """The mean over some streams."""
    figure = style.new_figure(7.2, 3.2)
    axes = figure.subplots()
    for (name, options), (colour, line) in zip(FORESTS.items(), LOOKS, strict=True):
        wrong = [mistakes(WindowForest(**options), *stream(seed)) for seed in range(STREAMS)]
        rows, errors = blocks(np.mean(wrong, axis=0), BLOCK)
        axes.plot(rows, errors, color=colour, linestyle=line, linewidth=1.8, label=name)
    axes.axvline(CHANGE, color=style.GREY, linewidth=0.9)
    axes.set(xlabel="rows seen", ylabel=f"error, mean of {BLOCK} rows", xlim=SHOWN)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    style.legend_below(figure, columns=len(FORESTS))
    return figure
