"""Accuracy as blocks are learned: an ensemble and its newest classifier alone, a panel for each kind of classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENSEMBLE, SINGLE = "Learn++.NSE", "newest classifier alone"


@dataclass(frozen=True)
class Panel:
    """Accuracy after each block, means over runs."""

    title: str
    ensemble: NDArray[np.float64]
    single: NDArray[np.float64]


def draw(panels: Sequence[Panel], *, title: str, changes: Sequence[int] = ()) -> Figure:
    """The panels one above the other, on one scale of time and one of accuracy.

    Parameters
    ----------
    panels : sequence of Panel
        One for each kind of classifier.
    title : str
        What was run.
    changes : sequence of int
        The first block after each sudden change.
    """
    with style.house_style():
        figure = style.new_figure(9.0, 2.3 * len(panels) + 1.0)
        column = figure.subplots(len(panels), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, panel in zip(column, panels, strict=True):
            _draw_panel(axes, panel, changes)
            axes.set_ylabel("accuracy\n(share of test rows)")
        column[0].set_ylim(top=min(1.0, column[0].get_ylim()[1]))
        column[-1].set_xlabel("blocks learned")
        figure.suptitle(title, fontweight="bold", x=0.01, ha="left")
        figure.legend(*column[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, handlelength=2.5)
    return figure


def _draw_panel(axes: Axes, panel: Panel, changes: Sequence[int]) -> None:
    blocks = np.arange(1, len(panel.ensemble) + 1)
    for change in changes:
        axes.axvline(change + 0.5, color=style.INK, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
    axes.plot(blocks, panel.single, color=style.look_of(SINGLE).colour, linewidth=0.8, label=SINGLE)
    axes.plot(blocks, panel.ensemble, color=style.look_of(ENSEMBLE).colour, label=ENSEMBLE)
    axes.set_title(f"{panel.title}: {panel.ensemble.mean():.3f} beside {panel.single.mean():.3f}", fontsize=10.5)
    axes.set_xlim(0, len(blocks))
