"""Three memories in a committee, on a stream that changes its pace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import blocks, mistakes

from thalweg import Committee, OnlineLDC
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, BLOCK = 6000, 200
RATES = {
    0.003: (style.GREEN, (0, (4, 1.4, 1, 1.4))),
    0.03: (style.BLUE, (0, (5, 1.6))),
    0.3: (style.VERMILION, (0, (1.4, 1.1))),
}
PACES = (0.0, 3.0, 0.1)


def stream() -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes in four features whose means stand still, then turn fast, then slowly."""
    rng = np.random.default_rng(0)
    angle = np.deg2rad(np.cumsum(np.repeat(PACES, ROWS // 3)))
    y = rng.integers(0, 2, ROWS)
    centre = 1.5 * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(ROWS), np.zeros(ROWS)])
    return rng.normal(size=(ROWS, 4)) + np.where(y[:, np.newaxis] == 1, centre, -centre), y


def draw() -> Figure:
    """Error of each member and of the committee, and the shares of the members."""
    X, y = stream()
    members = [OnlineLDC(rate, counts="soft", ridge=1e-3) for rate in RATES]
    found = Committee(members).predict_then_learn(X, y, with_weights=True)
    figure = style.new_figure(7.2, 4.4)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[1.3, 1])
    for (rate, (colour, dashes)), member in zip(RATES.items(), members, strict=True):
        above.plot(*blocks(mistakes(member, X, y), BLOCK), color=colour, linestyle=dashes, label=f"O-LDC, λ = {rate:g}")
    above.plot(*blocks((found.labels != y).astype(float), BLOCK), color=style.INK, label="committee of the three")
    for i, (colour, dashes) in enumerate(RATES.values()):
        below.plot(*blocks(found.weights[:, i], BLOCK // 4), color=colour, linestyle=dashes)
    for axes in (above, below):
        style.mark_changes(axes, [ROWS / 3, 2 * ROWS / 3])
    for start, text in zip((0, ROWS / 3, 2 * ROWS / 3), ("still", "3° a row", "0.1° a row"), strict=True):
        above.text(start + ROWS / 6, 0.62, text, ha="center", color=style.INK)
    above.set(ylabel=f"error, mean of {BLOCK} rows", ylim=(0, 0.7), title="The pace changes twice")
    below.set(ylabel="weight", ylim=(0, 1), xlabel="rows seen", xlim=(0, ROWS))
    below.xaxis.set_major_formatter("{x:,.0f}")
    handles, names = above.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, handlelength=2.6)
    return figure
