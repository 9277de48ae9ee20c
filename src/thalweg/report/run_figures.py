"""The figures of a run as files (PNG and SVG): the charts of its page, class means, confusion and calibration."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.report import style
from thalweg.report.comparison_figures import draw_member_weights
from thalweg.report.page.against import with_references
from thalweg.report.page.change_lines import largest_changes
from thalweg.report.page.charts import Chart, charts
from thalweg.report.page.page import merged_confusion
from thalweg.report.page.row_axis import RowAxis
from thalweg.run_metrics import Metrics, Series, as_metrics, is_regression

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_calibration(confidence: ArrayLike, accuracy: ArrayLike, *, title: str) -> Figure:
    """The share of right predictions against the probability they were given with."""
    with style.house_style():
        figure = style.new_figure(4.6, 4.8)
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color=style.GREY, linestyle=(0, (2, 2)), label="as right as it says")
        axes.plot(confidence, accuracy, color=style.MAIN.colour, marker=style.MAIN.marker, label="measured")
        axes.set_title(title)
        axes.set(
            xlabel="probability of the prediction",
            ylabel="share of right predictions",
            xlim=(0, 1),
            ylim=(0, 1),
            aspect=1,
        )
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def draw_chart(chart: Chart, title: str, measured: str, changes: Sequence[float]) -> Figure:
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
        for line in lines:
            drawn = (
                {"linestyle": "", "marker": "."} if line.dots else {"linestyle": (0, (4, 2)) if line.dashed else "-"}
            )
            colour = _COLOURS[line.look] if line.look in _COLOURS else style.PALETTE[int(line.look[1:])]
            axes.plot(
                chart.rows, _array(line.values), color=colour, label=style.label(line.name), linewidth=1.3, **drawn
            )
        style.mark_changes(axes, [row for row in changes if chart.rows[0] <= row <= chart.rows[-1]])
        view = chart.views[0].name
        axes.set(xlabel="rows seen", ylabel=f"{measured}\n({view})" if view else measured)
        axes.set_xlim(chart.rows[0], chart.rows[-1] + 1)
        if chart.from_zero:
            axes.set_ylim(bottom=0.0)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        if chart.unit == "rows":
            axes.yaxis.set_major_formatter("{x:,.0f}")
        style.legend_right(figure, axes)
    return figure


def draw_confusion_matrix(classes: Sequence[str], counts: ArrayLike, *, title: str) -> Figure:
    """A line of cells for each truth, shaded and written by the share of its rows with each prediction."""
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
        axes.set(xlabel="prediction", ylabel="truth")
        axes.set_title(title)
        for truth, line in enumerate(shares):
            for predicted, share in enumerate(line):
                axes.text(
                    predicted, truth, f"{100 * share:.0f} %", ha="center", va="center", color=style.INK, fontsize=9
                )
    return figure


#: What the vertical axis of each chart of the page measures; "{label}" is the label of interest.
_MEASURED = {
    "positive": "score of {label}",
    "error": "error",
    "against": "error",
    "rate": "learning rate\n(no unit)",
    "memory": "effective sample size\n(rows)",
    "last": "target",
    "course": "target",
    "residuals": "target less prediction",
    "coverage": "share of rows",
}
#: Of looks that are no places in the palette.
_COLOURS = {"model": style.MAIN.colour, "ink": style.INK, "no-change": style.GREY, "majority": "#A8A8A8"}
#: Figures whose axis counts no rows.
_WITHOUT_ROWS = ("confusion", "calibration")
_MOST_TICKS = 8

Paths = Mapping[str, NDArray[np.float64]]


def draw_mean_paths(
    rows: NDArray[np.int64],
    features: Sequence[str],
    means: Paths,
    forecasts: Paths | None,
    *,
    title: str,
    changes: Sequence[float] = (),
) -> Figure:
    """A panel for each feature, a curve for each class; forecasts dashed.

    Means and forecasts have shape (features, points), NaN where the class was not known yet.
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
                colour = style.PALETTE[at % len(style.PALETTE)]
                axes.plot(rows, paths[feature], color=colour, label=style.label(label), linewidth=1.3)
                if forecasts is not None and label in forecasts:
                    axes.plot(rows, forecasts[label][feature], color=colour, linewidth=0.9, linestyle=(0, (4, 2)))
            style.mark_changes(axes, changes)
            axes.xaxis.set_major_formatter("{x:,.0f}")
        for axes in panels[len(features) :]:
            axes.set_visible(False)
        figure.supxlabel("rows seen", fontsize=10)
        style.legend_right(figure, panels[0])
    return figure


def drawn(metrics: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    """Each figure that the run has, by its name; one is drawn when it is asked for."""
    axis = RowAxis(metrics)
    for name, figure in _drawn(as_metrics(metrics)):
        if axis and name not in _WITHOUT_ROWS:
            _show_times(figure, axis)
        yield name, figure


def _show_times(figure: Figure, axis: RowAxis) -> None:
    """Write times at the ticks of axes that count rows."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num, num2date

    if figure.get_supxlabel():
        figure.supxlabel(axis.name, fontsize=10)
    for axes in figure.axes:
        if axes.get_xlabel():
            axes.set_xlabel(axis.name)
        if not axis.is_dated:
            axes.xaxis.set_major_formatter(lambda row, _: axis.when(int(row)))
            continue
        first, last = (datetime.fromtimestamp(time, UTC) for time in axis.times_of(axes.get_xlim()))
        locator = AutoDateLocator()
        ticks = [tick for tick in locator.tick_values(first, last) if date2num(first) <= tick <= date2num(last)]
        ticks = ticks[:: -(-len(ticks) // _MOST_TICKS) or 1]
        rows = axis.labels_at([num2date(tick).timestamp() for tick in ticks])
        axes.set_xticks(rows, ConciseDateFormatter(locator).format_ticks(ticks))


def figures(metrics: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw what the run has, into a folder that is made if need be; the paths written.

    Raises `MissingExtra` where matplotlib is not installed; nothing is written then.
    """
    style.require_matplotlib()
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    with warnings.catch_warnings():
        # Labels may be of any script; the font draws a box for what it lacks.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font", category=UserWarning)
        for stem, figure in drawn(metrics):
            written += style.save(figure, folder, stem)
    return written


def _drawn(metrics: Metrics) -> Iterator[tuple[str, Figure]]:
    what = style.label(f"{metrics['model']['title']} on {metrics['run']['source']}", 60)
    changes = [float(change["row"]) for change in largest_changes(metrics["changes"])]
    for chart in with_references(metrics, charts(metrics)):
        title = f"{what}: {chart.title[0].lower()}{chart.title[1:]}"
        if chart.stacked:
            weights = {style.label(line.name): _array(line.values) for line in chart.views[0].lines}
            rows = np.array(chart.rows, dtype=np.int64)
            yield chart.key, draw_member_weights(rows, weights, title=title, changes=changes)
        else:
            label = style.label(metrics["rare"]["positive"] or "") if chart.key == "positive" else ""
            yield chart.key, draw_chart(chart, title, _MEASURED[chart.key].format(label=label), changes)
    means = metrics["course"].get("means")
    if means and metrics["curve"]["rows"]:
        forecast = means.get("forecast")
        yield (
            "means",
            draw_mean_paths(
                np.array(metrics["course"]["rows"], dtype=np.int64),
                means["features"],
                _paths(means["classes"]),
                _paths(forecast) if forecast else None,
                title=f"{what}: where the class means went{', forecasts dashed' if forecast else ''}",
                changes=changes,
            ),
        )
    if metrics["rows"]["scored"] and not is_regression(metrics):
        classes, counts = merged_confusion(metrics)
        yield "confusion", draw_confusion_matrix(classes, counts, title="Confusion, in % of each truth")
    bins = metrics.get("calibration")
    if bins is not None and any(bins["rows"]):
        kept = [at for at, seen in enumerate(bins["rows"]) if seen]
        confidence, accuracy = (_array(bins["confidence"])[kept], _array(bins["accuracy"])[kept])
        yield "calibration", draw_calibration(confidence, accuracy, title="Calibration")


def _array(values: Series) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64)


def _paths(by_class: dict[str, list[Series]]) -> dict[str, NDArray[np.float64]]:
    return {label: np.array(values, dtype=np.float64) for label, values in by_class.items()}
