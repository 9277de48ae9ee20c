"""A feature whose unit changes, scaled; and how well random features stand for a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thalweg import RandomFeatures, StandardScaler
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, CHANGE = 3000, 1500
COMPONENTS = (16, 32, 64, 128, 256, 512, 1024)


def draw() -> Figure:
    """Spread of a scaled feature over time, and the error of the kernel by the number of features."""
    figure = style.new_figure(7.2, 3.4)
    left, right = figure.subplots(1, 2)
    rng = np.random.default_rng(0)
    values = rng.normal(size=ROWS) * np.where(np.arange(ROWS) < CHANGE, 1.0, 5.0) + 3.0
    for forgetting, colour, dashes in ((0.0, style.GREY, (0, (5, 1.6))), (0.01, style.BLUE, "-")):
        scaled = StandardScaler(forgetting=forgetting).transform_then_learn(values[:, np.newaxis])[:, 0]
        spread = np.sqrt(np.convolve(scaled**2, np.ones(100) / 100, mode="valid"))
        left.plot(
            np.arange(100, ROWS + 1), spread, color=colour, linestyle=dashes, label=f"forgetting = {forgetting:g}"
        )
    left.axhline(1, color=style.INK, linewidth=1, linestyle=(0, (1, 2)))
    style.mark_changes(left, [CHANGE])
    left.set(title="The unit changes at row 1,500", xlabel="rows seen", ylabel="size of the scaled feature")
    left.set_xlim(0, ROWS)
    left.set_ylim(0, 5.5)
    left.xaxis.set_major_formatter("{x:,.0f}")
    left.legend(loc="upper left")
    X = rng.normal(size=(300, 8)) / 2.0
    squares = ((X[:, np.newaxis] - X) ** 2).sum(axis=-1)
    for orthogonal, colour, dashes, marker in ((False, style.ORANGE, (0, (5, 1.6)), "v"), (True, style.BLUE, "-", "o")):
        found = []
        for components in COMPONENTS:
            errors = []
            for seed in range(10):
                Z = RandomFeatures(components, sigma=2.0, orthogonal=orthogonal, random_state=seed).fit_transform(X)
                errors.append(((Z @ Z.T - np.exp(-squares / 8.0)) ** 2).mean())
            found.append(np.sqrt(np.mean(errors)))
        name = "orthogonal (default)" if orthogonal else "independent"
        right.plot(COMPONENTS, found, color=colour, linestyle=dashes, marker=marker, markersize=5, label=name)
    right.set_xscale("log", base=2)
    right.set_yscale("log")
    right.set_xticks(COMPONENTS, [f"{c:,}" for c in COMPONENTS])
    right.minorticks_off()
    right.set(title="A kernel from random features", xlabel="n_components", ylabel="error of the kernel")
    right.legend(loc="upper right")
    return figure
