"""What was taken for what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(classes: Sequence[str], counts: ArrayLike, *, title: str) -> Figure:
    """A line of cells for each truth, shaded and written by the share of its rows that got each answer.

    Parameters
    ----------
    classes : sequence of str
        The labels.
    counts : array, shape (classes, classes)
        Rows by truth and answer.
    title : str
        What was run.
    """
    table = np.asarray(counts, dtype=np.float64)
    totals = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, totals, out=np.zeros_like(table), where=totals > 0)
    with style.house_style():
        side = 2.4 + 0.62 * len(classes)
        figure = style.new_figure(side + 1.2, side)
        axes = figure.subplots()
        axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.8)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        names = [style.label(name, 18) for name in classes]
        axes.set_xticks(range(len(names)), names, rotation=90 if len(names) > 3 else 0)
        axes.set_yticks(range(len(names)), names)
        axes.set(xlabel="answer", ylabel="truth")
        axes.set_title(title)
        for truth, line in enumerate(shares):
            for answer, share in enumerate(line):
                axes.text(answer, truth, f"{100 * share:.0f} %", ha="center", va="center", color=style.INK, fontsize=9)
    return figure
