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
    by_mouse = (
        "Drag across a chart to look closer, double-click to return. All charts move together. "
        "With the keyboard: arrows walk along, + and − zoom, Escape returns."
    )
    by_touch = "Slide a finger along a chart to read its points."
    hint = tag("p", tag("span", by_mouse, class_="by-mouse"), tag("span", by_touch, class_="by-touch"), class_="note")
    return joined(
        [
            section(error.key, error.title, _figure(error), hint),
            _changes(metrics["changes"], metrics.get("changes_left_out", 0)),
            *(section(chart.key, chart.title, _figure(chart)) for chart in others),
            _class_means(metrics),
        ]
    )


def _changes(changes: Sequence[Change], left_out: int) -> Markup:
    title = "Moments of change"
    if not changes:
        return section("changes", title, tag("p", "None: the error showed no change beyond chance."))
    total = len(changes) + left_out
    said = {1: "once", 2: "twice"}.get(total, f"{count(total)} times")
    marked = "the moments" if not left_out else f"the {count(len(changes))} that are the largest or the latest"
    lines = [
        (
            str(at),
            count(change["row"]),
            count(change["found"]),
            *(percent(change[when]) for when in ("before", "seen", "after")),
        )
        for at, change in enumerate(changes[:_MOST_CHANGES], start=1)
    ]
    more = len(changes) - len(lines)
    return section(
        "changes",
        title,
        tag("p", f"The error changed {said}, by the detector ADWIN. Every chart over time marks {marked}."),
        table(
            ("", "row", "seen at row", "error before", "until seen", "error after"), lines, caption=title, numbers=True
        ),
        tag(
            "p",
            "Before: since the change before, or the beginning. Until seen: from the change to the row at which it was "
            "seen. After: until the next change, or the end.",
            class_="note",
        ),
        *([tag("p", f"And {count(more)} more.", class_="note")] if more else []),
    )


def _class_means(metrics: Metrics) -> Markup:
    small = mean_charts(metrics)
    if not small:
        return Markup("")
    means = metrics["course"].get("means")
    text = "The mean of each class as the model held it, for the features that told the first rows’ classes apart best."
    if means and means.get("forecast"):
        ahead = means.get("ahead") or 1
        text += f" Dashed: where it expected the mean {'in the next row' if ahead == 1 else f'{count(ahead)} rows on'}."
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
