"""The figures of a run that predicts numbers: errors, predictions with their band, residuals, coverage, weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import curves, style
from thalweg.report.page.against import with_references
from thalweg.report.page.change_lines import largest_changes
from thalweg.report.page.charts import Chart
from thalweg.report.page.content import Series
from thalweg.report.page.number_charts import number_charts
from thalweg.report.page.number_content import NumberMetrics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Charts of the page that are drawn, and what their axis measures.
_DRAWN = {
    "error": "mean absolute error",
    "against": "mean absolute error",
    "last": "target",
    "course": "target",
    "residuals": "target less prediction",
    "coverage": "share of rows",
}


def number_figures(metrics: NumberMetrics) -> Iterator[tuple[str, Figure]]:
    """By name, the charts of the page that the run has."""
    what = style.label(f"{metrics['model']['title']} on {metrics['run']['source']}", 60)
    changes = [float(change["row"]) for change in largest_changes(metrics["changes"])]
    for chart in with_references(metrics, number_charts(metrics)):
        title = f"{what}: {chart.title[0].lower()}{chart.title[1:]}"
        if chart.key in _DRAWN:
            yield chart.key, draw_chart(chart, title, _DRAWN[chart.key], changes)
        elif chart.stacked:
            weights = {style.label(line.name): _array(line.values) for line in chart.views[0].lines}
            rows = np.array(chart.rows, dtype=np.int64)
            yield chart.key, curves.draw_member_weights(rows, weights, title=title, changes=changes)


def draw_chart(chart: Chart, title: str, measured: str, changes: list[float]) -> Figure:
    """The first view of a chart: lines, dots, and the band between the first two lines where it has one."""
    lines = chart.views[0].lines
    with style.house_style():
        figure = style.new_figure(9.0, 3.6)
        axes = figure.subplots()
        axes.set_title(title)
        if chart.band:
            upper, lower = (_array(line.values) for line in lines[:2])
            axes.fill_between(
                chart.rows, lower, upper, color=style.MAIN.colour, alpha=0.25, linewidth=0, label="interval"
            )
            lines = lines[2:]
        for at, line in enumerate(lines):
            colour = style.INK if line.look == "ink" else style.PALETTE[at % len(style.PALETTE)]
            drawn = (
                {"linestyle": "", "marker": "."} if line.dots else {"linestyle": (0, (4, 2)) if line.dashed else "-"}
            )
            axes.plot(chart.rows, _array(line.values), color=colour, label=line.name, linewidth=1.3, **drawn)
        style.mark_changes(axes, [row for row in changes if chart.rows[0] <= row <= chart.rows[-1]])
        axes.set(xlabel="rows seen", ylabel=measured)
        axes.set_xlim(chart.rows[0], chart.rows[-1] + 1)
        if chart.unit == "share" and chart.from_zero:
            axes.set_ylim(bottom=0.0)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        style.legend_right(figure, axes)
    return figure


def _array(values: Series) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64)
