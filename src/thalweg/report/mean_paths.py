"""Where the class means went, feature by feature, and where they were expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Paths = Mapping[str, NDArray[np.float64]]


def draw(
    rows: NDArray[np.int64],
    features: Sequence[str],
    means: Paths,
    forecasts: Paths | None,
    *,
    title: str,
    changes: Sequence[float] = (),
) -> Figure:
    """A panel for each feature, a curve for each class; forecasts dashed.

    Parameters
    ----------
    rows : array
        How many rows had been seen at each point.
    features : sequence of str
        Their names.
    means, forecasts : mapping of label to array of shape (features, points)
        NaN where the class was not known yet.
    title : str
        What was run.
    changes : sequence of float
        Moments of change.
    """
    columns = min(2, len(features))
    lines = -(-len(features) // columns)
    with style.house_style():
        figure = style.new_figure(9.0, 0.8 + 2.1 * lines)
        panels = figure.subplots(lines, columns, sharex=True, squeeze=False).ravel()
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=11)
        for feature, (name, axes) in enumerate(zip(features, panels, strict=False)):
            axes.set_title(style.label(name, 40), fontsize=10, fontweight="normal")
            for at, (label, paths) in enumerate(means.items()):
                colour = style.CLASS_COLOURS[at % len(style.CLASS_COLOURS)]
                axes.plot(rows, paths[feature], color=colour, label=style.label(label), linewidth=1.3)
                if forecasts is not None and label in forecasts:
                    axes.plot(rows, forecasts[label][feature], color=colour, linewidth=0.9, linestyle=(0, (4, 2)))
            style.mark_changes(axes, changes)
            axes.xaxis.set_major_formatter("{x:,.0f}")
        for axes in panels[len(features) :]:
            axes.set_visible(False)
        figure.supxlabel("rows seen", fontsize=10)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", handlelength=1.6)
    return figure
