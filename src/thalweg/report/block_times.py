"""How long a block takes as members gather: measured curves on a logarithmic scale of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(curves: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]], *, title: str, task: str) -> Figure:
    """Milliseconds a block against the members at that time.

    Parameters
    ----------
    curves : mapping of name to members and seconds
        A curve of few points is drawn with its points.
    title : str
        What was run.
    task : str
        What is done in the time, for the axis label.
    """
    with style.house_style():
        figure = style.new_figure(9.0, 4.2)
        axes = figure.subplots()
        for name, (members, seconds) in curves.items():
            look = style.look_of(name)
            axes.plot(
                members,
                1e3 * seconds,
                color=look.colour,
                linestyle=look.dashes,
                linewidth=1.2,
                marker=look.marker if len(members) <= 50 else None,
                markersize=5,
                clip_on=False,
                label=name,
            )
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlim(0, max(int(members[-1]) for members, _ in curves.values()))
        axes.set_title(title)
        axes.set(xlabel="members", ylabel=f"milliseconds a block\n({task})")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=len(curves))
    return figure
