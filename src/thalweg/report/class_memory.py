"""How many rows of each class a learner still remembers, over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(
    rows: NDArray[np.int64],
    remembered: Mapping[str, NDArray[np.float64]],
    *,
    title: str,
    changes: Sequence[float] = (),
) -> Figure:
    """One curve for each class.

    Parameters
    ----------
    rows : array
        How many rows had been seen at each point.
    remembered : mapping of label to array
        Effective sample size of each class at the same points; NaN where the class was not known yet.
    title : str
        What was run.
    changes : sequence of float
        Moments of change.
    """
    with style.house_style():
        figure = style.new_figure(9.0, 3.6)
        axes = figure.subplots()
        axes.set_title(title)
        for at, (name, values) in enumerate(remembered.items()):
            colour = style.CLASS_COLOURS[at % len(style.CLASS_COLOURS)]
            axes.plot(rows, values, color=colour, label=style.label(name), linewidth=1.3)
        style.mark_changes(axes, changes)
        axes.set(xlabel="rows seen", ylabel="effective sample size\n(rows)")
        axes.set_xlim(0, int(rows[-1]))
        axes.set_ylim(bottom=0.0)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_formatter("{x:,.0f}")
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", handlelength=1.6)
    return figure
