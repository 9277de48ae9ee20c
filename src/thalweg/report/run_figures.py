"""The figures of a run as files (PNG and SVG): error, memory, confusion, calibration, class means, member weights.

Where the report is about a label of interest, also how well it is found.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.report import curves, style
from thalweg.report.number_figures import draw_chart, number_figures
from thalweg.report.page.against import against_chart
from thalweg.report.page.change_lines import largest_changes
from thalweg.report.page.charts import members, positive, remembered
from thalweg.report.page.content import Metrics, Series, as_metrics
from thalweg.report.page.number_content import as_number_metrics, is_regression
from thalweg.report.page.page import merged_confusion
from thalweg.report.page.row_axis import RowAxis

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


def draw_positive(
    rows: NDArray[np.int64], scores: Mapping[str, NDArray[np.float64]], *, title: str, changes: Sequence[float] = ()
) -> Figure:
    """How well the label of interest is found: a curve for each score."""
    with style.house_style():
        figure = style.new_figure(9.0, 3.6)
        axes = figure.subplots()
        axes.set_title(title)
        for at, (name, values) in enumerate(scores.items()):
            dashes = (0, (4, 2)) if name == "ROC AUC" else "-"
            colour = style.PALETTE[at % len(style.PALETTE)]
            axes.plot(rows, values, color=colour, label=name, linewidth=1.3, linestyle=dashes)
        style.mark_changes(axes, changes)
        axes.set(xlabel="rows seen", ylabel="score", ylim=(0.0, 1.02))
        axes.set_xlim(0, int(rows[-1]))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        style.legend_right(figure, axes)
    return figure


def draw_class_memory(
    rows: NDArray[np.int64],
    remembered: Mapping[str, NDArray[np.float64]],
    *,
    title: str,
    changes: Sequence[float] = (),
) -> Figure:
    """One curve for each class."""
    with style.house_style():
        figure = style.new_figure(9.0, 3.6)
        axes = figure.subplots()
        axes.set_title(title)
        for at, (name, values) in enumerate(remembered.items()):
            colour = style.PALETTE[at % len(style.PALETTE)]
            axes.plot(rows, values, color=colour, label=style.label(name), linewidth=1.3)
        style.mark_changes(axes, changes)
        axes.set(xlabel="rows seen", ylabel="effective sample size\n(rows)")
        axes.set_xlim(0, int(rows[-1]))
        axes.set_ylim(bottom=0.0)
        axes.xaxis.set_major_formatter("{x:,.0f}")
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
    found = number_figures(as_number_metrics(metrics)) if is_regression(metrics) else _drawn(as_metrics(metrics))
    for name, figure in found:
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
    curve, course = metrics["curve"], metrics["course"]
    what = style.label(f"{metrics['model']['title']} on {metrics['run']['source']}", 60)
    changes = [float(change["row"]) for change in largest_changes(metrics["changes"])]
    rows = np.array(curve["rows"], dtype=np.int64)
    if len(rows):
        errors = {
            metrics["model"]["title"]: _array(curve["error"]["model"]),
            "No change": _array(curve["error"]["no_change"]),
            "Majority class": _array(curve["error"]["majority"]),
        }
        about = positive(metrics)
        if about is not None:
            found = {line.name: _array(line.values) for line in about.views[0].lines}
            points = np.array(about.rows, dtype=np.int64)
            label = style.label(f"{what}: finding {metrics['rare']['positive']}", 80)
            yield "positive", draw_positive(points, found, title=label, changes=changes)
        looks = np.array(course["rows"], dtype=np.int64)
        rate = None if course["rate"] is None else (looks, _array(course["rate"]))
        window = min(curve["window"], metrics["rows"]["scored"])
        yield "error", curves.draw_over_time(rows, errors, rate, title=what, window=window, changes=changes)
        if (beside := against_chart(metrics)) is not None:
            title = f"{what}: {beside.title[0].lower()}{beside.title[1:]}"
            yield "against", draw_chart(beside, title, "error", changes)
        if course["effective_rows"]:
            by_class, remembered_rows = remembered(metrics)
            memory = {name: _array(values) for name, values in remembered_rows.items()}
            title = f"{what}: memory{' of each class' if by_class else ''}"
            yield "memory", draw_class_memory(looks, memory, title=title, changes=changes)
        committee = members(metrics["course"])
        if committee is not None:
            smoothed = {style.label(line.name): _array(line.values) for line in committee.views[0].lines}
            yield (
                "members",
                curves.draw_member_weights(looks, smoothed, title=f"{what}: weight of each member", changes=changes),
            )
        means = course.get("means")
        if means:
            forecast = means.get("forecast")
            yield (
                "means",
                draw_mean_paths(
                    looks,
                    means["features"],
                    _paths(means["classes"]),
                    _paths(forecast) if forecast else None,
                    title=f"{what}: where the class means went{', forecasts dashed' if forecast else ''}",
                    changes=changes,
                ),
            )
    if metrics["rows"]["scored"]:
        classes, counts = merged_confusion(metrics)
        yield "confusion", draw_confusion_matrix(classes, counts, title="Confusion, in % of each truth")
    bins = metrics["calibration"]
    if bins is not None and any(bins["rows"]):
        kept = [at for at, seen in enumerate(bins["rows"]) if seen]
        confidence, accuracy = (_array(bins["confidence"])[kept], _array(bins["accuracy"])[kept])
        yield "calibration", draw_calibration(confidence, accuracy, title="Calibration")


def _array(values: Series) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64)


def _paths(by_class: dict[str, list[Series]]) -> dict[str, NDArray[np.float64]]:
    return {label: np.array(values, dtype=np.float64) for label, values in by_class.items()}
