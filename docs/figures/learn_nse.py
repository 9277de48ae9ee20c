"""Who votes in Learn++.NSE: old classifiers wake up when their concept comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.naive_bayes import GaussianNB

from thalweg import LearnNSE
from thalweg.report import style
from thalweg.streams import MovingPlane

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLOCKS, ROWS, DEGREES, SMOOTH = 216, 20, 5.0, 24
TURNS = (72, 144)


def draw() -> Figure:
    """Votes of every member at every block of three turns, and the error beside the newest member's."""
    from matplotlib.colors import LinearSegmentedColormap

    X, y = MovingPlane(seed=0, degrees_per_row=DEGREES / ROWS).take(BLOCKS * ROWS)
    model = LearnNSE(GaussianNB(), crossing=5.0)
    votes = np.full((BLOCKS, BLOCKS), np.nan)
    ensemble, newest = np.full(BLOCKS, np.nan), np.full(BLOCKS, np.nan)
    for block in range(BLOCKS):
        rows = slice(block * ROWS, (block + 1) * ROWS)
        if block:
            before = slice((block - 1) * ROWS, block * ROWS)
            ensemble[block] = (model.predict(X[rows]) != y[rows]).mean()
            newest[block] = (GaussianNB().fit(X[before], y[before]).predict(X[rows]) != y[rows]).mean()
        weights = model.partial_fit(X[rows], y[rows]).weights_
        votes[: block + 1, block] = weights / weights.sum()
    figure = style.new_figure(7.2, 3.7)
    left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])
    ground = LinearSegmentedColormap.from_list("votes", [(0.0, 0.45, 0.7, 0.0), (0.0, 0.45, 0.7, 1.0)])
    picture = left.imshow(
        votes, origin="lower", cmap=ground, vmin=0, vmax=0.06, aspect="equal", interpolation="nearest"
    )
    figure.colorbar(picture, ax=left, label="share of the vote", shrink=0.8)
    left.set(title="Who votes", xlabel="block", ylabel="member, by its block")
    left.grid(visible=False)
    for turn in TURNS:
        left.axvline(turn, color=style.VERMILION, linewidth=0.9, linestyle=(0, (1, 2)))
    style.mark_changes(right, TURNS)
    for name, errors, look in (
        ("newest member alone", newest, style.look_of("newest classifier alone")),
        ("Learn++.NSE", ensemble, style.look_of("Learn++.NSE")),
    ):
        smooth = np.convolve(errors[1:], np.ones(SMOOTH) / SMOOTH, mode="valid")
        right.plot(np.arange(SMOOTH, BLOCKS), smooth, color=look.colour, linestyle=look.dashes, label=name)
    right.set(title="Error, mean of 24 blocks", xlabel="block", ylabel="error")
    right.set_xlim(0, BLOCKS)
    right.set_ylim(0, 0.22)
    right.legend(loc="upper right")
    return figure
