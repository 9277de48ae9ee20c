"""One learner on one stream: its error beside the baselines' above, its learning rate below."""

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
    errors: Mapping[str, NDArray[np.float64]],
    rate: tuple[NDArray[np.int64], NDArray[np.float64]] | None,
    *,
    title: str,
    window: int,
    changes: Sequence[float] = (),
) -> Figure:
    """Error and learning rate over time.

    Parameters
    ----------
    rows : array
        How many rows had been seen at each point of the curves.
    errors : mapping of name to array
        Windowed error of each classifier, the learner of interest first.
    rate : pair of arrays, or None
        Rows at which the learner was looked at, and its rate there; without it the lower panel is left out.
    title : str
        What was run.
    window : int
        Rows over which the error is averaged, for the axis label.
    changes : sequence of float
        Moments of change, marked in both panels.
    """
    with style.house_style():
        figure = style.new_figure(9.0, 5.2 if rate is not None else 3.6)
        panels = 1 if rate is None else 2
        axes_column = figure.subplots(
            panels, 1, sharex=True, squeeze=False, height_ratios=[5, 3] if panels == 2 else [1]
        )[:, 0]
        above = axes_column[0]
        above.set_title(title)
        above.set_ylabel(f"error\n(share of the last {window:,} rows)")
        for name, error in errors.items():
            look = style.look_of(name, style.MAIN)
            above.plot(rows, error, color=look.colour, linestyle=look.dashes, label=name)
        above.set_xlim(0, int(rows[-1]))
        style.share_from_zero(above, max(float(np.max(error)) for error in errors.values()))
        if rate is not None:
            below = axes_column[1]
            below.plot(*rate, color=style.look_of(next(iter(errors)), style.MAIN).colour)
            below.set_ylabel("learning rate\n(no unit)")
            below.set_ylim(0.0, 1.05 * max(1.0, float(np.nanmax(rate[1]))))
        for axes in axes_column:
            style.mark_changes(axes, changes)
        axes_column[-1].set_xlabel("rows seen")
        axes_column[-1].xaxis.set_major_formatter("{x:,.0f}")
        figure.legend(*above.get_legend_handles_labels(), loc="outside lower center", ncols=len(errors))
    return figure
