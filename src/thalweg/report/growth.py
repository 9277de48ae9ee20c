"""How the time of an operation grows with the rows: one panel for each operation, both scales logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Curve:
    """One model's seconds at each number of rows."""

    model: str
    rows: Sequence[int]
    seconds: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """Models at one operation."""

    title: str
    curves: Sequence[Curve]


def draw(panels: Sequence[Panel], *, title: str) -> Figure:
    """The operations side by side on one scale of time, with one legend."""
    with style.house_style():
        figure = style.new_figure(5.4 * len(panels), 4.9)
        row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        legend: dict[str, Artist] = {}
        for axes, panel in zip(row, panels, strict=True):
            _draw_panel(axes, panel)
            legend |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        row[0].set_ylabel("processor time (seconds)")
        figure.suptitle(title, fontweight="bold", x=0.01, ha="left", fontsize=11)
        figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=len(legend), handlelength=2.8)
    return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title, fontsize=10.5)
    for curve in panel.curves:
        look = style.look_of(curve.model)
        axes.loglog(
            curve.rows,
            curve.seconds,
            color=look.colour,
            linestyle=look.dashes,
            marker=look.marker,
            markersize=5,
            label=curve.model,
        )
    axes.set_xlabel("training rows")
    axes.set_xticks(sorted({rows for curve in panel.curves for rows in curve.rows}))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.minorticks_off()
