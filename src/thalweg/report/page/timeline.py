"""Every chart over time, and the moments of change that are marked in all of them."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.report.page.content import Change, Metrics
from thalweg.report.page.frames import figure, section
from thalweg.report.page.markup import Markup, joined, table, tag
from thalweg.report.page.numbers import count, percent, short
from thalweg.report.page.series import Chart, charts, mean_charts

#: Lines of the table below a chart, and of the list of changes.
_TABLE_LINES = 24
_MOST_CHANGES = 50


def timeline(metrics: Metrics) -> Markup:
    """The error first, then what the model has besides."""
    drawn = charts(metrics)
    if not drawn:
        return section("error", "Error over time", tag("p", "There were too few rows for a curve."))
    error, *others = drawn
    hint = tag(
        "p",
        "Drag across a chart to look closer, double-click to return. All charts move together. "
        "With the keyboard: arrows walk along, + and − zoom, Escape returns.",
        class_="note",
    )
    return joined(
        [
            section(error.key, error.title, _figure(error), hint),
            _changes(metrics["changes"]),
            *(section(chart.key, chart.title, _figure(chart)) for chart in others),
            _class_means(metrics),
        ]
    )


def _changes(changes: Sequence[Change]) -> Markup:
    title = "Moments of change"
    if not changes:
        return section("changes", title, tag("p", "None: the error showed no change beyond chance."))
    said = {1: "once", 2: "twice"}.get(len(changes), f"{count(len(changes))} times")
    lines = [
        (str(at), count(change["row"]), percent(change["before"]), percent(change["after"]))
        for at, change in enumerate(changes[:_MOST_CHANGES], start=1)
    ]
    more = len(changes) - len(lines)
    return section(
        "changes",
        title,
        tag("p", f"The error changed {said}, by the detector ADWIN. Every chart over time marks the moments."),
        table(("", "row", "error before", "error after"), lines, caption=title, numbers=True),
        *([tag("p", f"And {count(more)} more.", class_="note")] if more else []),
    )


def _class_means(metrics: Metrics) -> Markup:
    small = mean_charts(metrics)
    if not small:
        return Markup("")
    means = metrics["curve"].get("means")
    ahead = means.get("ahead") if means else None
    text = "The mean of each class, feature by feature, as the model holds it."
    if ahead:
        text += f" Dashed: the forecast for {count(ahead)} rows after the end."
    grid = tag("div", *(_figure(chart) for chart in small), class_="grid")
    return section("means", "Where the class means went", tag("p", text, class_="note"), grid)


def _figure(chart: Chart) -> Markup:
    views = [view.name for view in chart.views]
    return figure(chart.key, chart.title, chart.caption, _numbers(chart), heading=chart.small, views=views)


def _numbers(chart: Chart) -> Markup:
    """Some points of all curves, the last among them."""
    written = percent if chart.unit == "share" else short
    views = chart.views[-1:] if chart.stacked else chart.views
    headers = [
        "row",
        *(f"{line.name}, {view.name}" if len(views) > 1 else line.name for view in views for line in view.lines),
    ]
    step = -(-len(chart.rows) // _TABLE_LINES)
    lines = [
        [count(chart.rows[at]), *(written(line.values[at]) for view in views for line in view.lines)]
        for at in range(len(chart.rows) - 1, -1, -step)
    ]
    return table(headers, lines[::-1], caption=chart.title, numbers=True)
