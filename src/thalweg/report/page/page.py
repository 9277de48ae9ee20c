"""One self-contained HTML page about a run: verdict, charts, confusion, calibration, and how the run was made."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Any

from thalweg.report.page.content import Metrics, as_metrics
from thalweg.report.page.formats import UNKNOWN, count, counted, in_words, percent, rounded
from thalweg.report.page.markup import Markup, figure, folded, joined, section, table, tag
from thalweg.report.page.timeline import charts, mean_charts, timeline
from thalweg.report.page.verdict import scores, verdict

#: Columns that are shown without being asked for.
_MOST_COLUMNS = 40


def rows(metrics: Metrics) -> Markup:
    """What became of the rows, late and missing labels and unreadable rows included."""
    seen = metrics["rows"]
    lines = [
        (count(seen["read"]), "read", "all rows of the source"),
        (count(seen["skipped"]), "skipped", "could not be used"),
        (count(seen["answered"]), "answered", "each before its label was learned"),
        (count(seen["unlabelled"]), "without label", "answered; neither right nor wrong"),
        (count(seen["pending"]), "pending", "their label had not come when the source ended"),
        (count(seen["scored"]), "scored", f"what every score counts; {_lateness(metrics['run']['options'])}"),
        (count(seen["learned"]), "learned", "by the model"),
    ]
    listed = table(("rows", "", ""), lines, caption="What became of the rows")
    bad = seen["bad"]
    if not bad:
        return section("rows", "Rows", listed)
    summary = "The skipped rows" + (f": the first {count(len(bad))}" if len(bad) < seen["skipped"] else "")
    complaints = tag("ul", *(tag("li", each) for each in bad), class_="bad")
    return section("rows", "Rows", listed, folded(summary, complaints))


def _lateness(options: dict[str, Any]) -> str:
    if options.get("label_time"):
        return f"labels came at the time in column {options['label_time']}"
    if options.get("delay"):
        return f"labels came {counted(int(options['delay']), 'row')} late"
    return "labels came at once"


def columns(metrics: Metrics) -> Markup:
    """What was done to each column."""
    told = table(("column", "kind", "what was done"), metrics["columns"], caption="Columns")
    many = len(metrics["columns"]) > _MOST_COLUMNS
    return section(
        "columns", "Columns", folded(f"All {count(len(metrics['columns']))} columns", told) if many else told
    )


def model(metrics: Metrics) -> Markup:
    """What learned, with which parameters."""
    learned = metrics["model"]
    used = sum(kind != "–" for _, kind, _ in metrics["columns"])
    features = (
        f"{counted(used, 'column')} {'gives' if used == 1 else 'give'} {counted(learned['features'], 'feature')}, the "
        "last of which tells that a value is missing where there were no gaps at first."
    )
    about = tag("p", tag("b", learned["title"]), f": {learned['about'].rstrip('.')}. {features}")
    parts = [about]
    if learned["parameters"]:
        parts.append(_options("parameter", learned["parameters"], "Parameters of the model"))
    if learned["explain"]:
        parts.append(folded("In the model’s own words, at the end", tag("pre", learned["explain"])))
    return section("model", "Model", *parts)


def run(metrics: Metrics) -> Markup:
    """The command that made the page, and all options."""
    made = metrics["run"]
    command = tag("pre", tag("code", made["command"]), class_="command", tabindex="0")
    options = folded("All options", _options("option", made["options"], "Options of the run"))
    return section("run", "How this was made", command, options)


def _options(kind: str, given: dict[str, Any], caption: str) -> Markup:
    return table((kind, "value"), [(name, in_words(value)) for name, value in given.items()], caption=caption)


#: Classes of the confusion matrix that leave room for a chart beside it, and that have a line of their own.
_BESIDE = 4
_MOST_CLASSES = 16
#: How much of its colour, in percent, a cell shows that holds all rows of its class.
_DEEPEST = 42


def answers(metrics: Metrics) -> Markup:
    """Confusion and calibration."""
    beside = len(metrics["confusion"]["classes"]) <= _BESIDE
    parts = tag("div", _confusion(metrics), _calibration(metrics), class_="grid" if beside else "grid wide")
    return section("answers", "Answers", parts)


def _confusion(metrics: Metrics) -> Markup:
    classes, counts = merged_confusion(metrics)
    lines = []
    for at, (truth, line) in enumerate(zip(classes, counts, strict=True)):
        total = sum(line)
        cells = [
            tag(
                "td",
                tag("b", _whole_percent(number, total)),
                tag("small", count(number)),
                class_="right" if at == place else "wrong",
                style=f"--shade:{_DEEPEST * number / max(total, 1):.1f}%",
                title=f"{count(number)} of {counted(total, 'row')} of {truth} answered {classes[place]}",
            )
            for place, number in enumerate(line)
        ]
        lines.append(tag("tr", _label(truth, "row"), *cells))
    note = "Of the rows of each class, the share that was given each answer, and their number."
    if unanswered := metrics["confusion"]["unanswered"]:
        came = f"{counted(unanswered, 'row')} came before any label, and had no answer"
        note += f" {came}: counted as wrong, but not here."
    head = tag("tr", tag("td", "truth ↓ answer →", class_="corner"), *(_label(name, "col") for name in classes))
    matrix = tag("table", tag("caption", "Confusion matrix", class_="unseen"), tag("thead", head), tag("tbody", *lines))
    return tag(
        "div",
        tag("h3", "Confusion"),
        tag("p", note, class_="note"),
        tag("div", matrix, class_="scroll confusion", tabindex="0", role="region", aria_label="Confusion matrix"),
    )


def _label(name: str, scope: str) -> Markup:
    return tag("th", tag("span", name), scope=scope, title=name)


def _whole_percent(number: int, total: int) -> str:
    """A share in two digits, none and all of it said only where true."""
    if not total:
        return UNKNOWN
    share = 100.0 * number / total
    written = "< 1" if 0.0 < share < 1.0 else "> 99" if 99.0 < share < 100.0 else f"{share:.0f}"
    return f"{written}\N{NO-BREAK SPACE}%"


def merged_confusion(metrics: Metrics) -> tuple[list[str], list[list[int]]]:
    """The confusion matrix, with all but the most frequent classes in one."""
    classes, counts = metrics["confusion"]["classes"], metrics["confusion"]["counts"]
    names = [name or "(no answer)" for name in classes]
    if len(classes) <= _MOST_CLASSES:
        return names, counts
    kept = sorted(sorted(range(len(classes)), key=lambda at: -sum(counts[at]))[: _MOST_CLASSES - 1])
    place = dict.fromkeys(range(len(classes)), len(kept)) | {at: place for place, at in enumerate(kept)}
    merged = [[0] * (len(kept) + 1) for _ in range(len(kept) + 1)]
    for truth, line in enumerate(counts):
        for answer, number in enumerate(line):
            merged[place[truth]][place[answer]] += number
    return [*(names[at] for at in kept), f"{len(classes) - len(kept)} others"], merged


def _calibration(metrics: Metrics) -> Markup:
    calibration = metrics["calibration"]
    if calibration is None:
        return Markup("")
    edges = calibration["edges"]
    lines = [
        (f"{edges[at]:.0%} – {edges[at + 1]:.0%}", percent(confidence), percent(accuracy), count(rows))
        for at, (rows, confidence, accuracy) in enumerate(
            zip(calibration["rows"], calibration["confidence"], calibration["accuracy"], strict=True)
        )
        if rows
    ]
    numbers = table(("probability", "mean", "right", "rows"), lines, caption="Calibration", numbers=True)
    text = "How often answers of a given probability were right; on the dotted line, as often as they say. Bars: rows."
    return figure("calibration", "Calibration", text, numbers, zooms=False)


def build(metrics: Mapping[str, Any]) -> str:
    """The page, from what ``metrics.json`` holds (see `thalweg.report.page.content`).

    The same metrics give the same page.
    """
    content = as_metrics(metrics)
    scripts = _asset("uplot/uPlot.iife.min.js"), _asset("pictures.js"), _asset("charts.js")
    filled = {
        "title": joined([f"{content['run']['target']} in {content['run']['source']} – thalweg"]),
        "policy": _policy(scripts),
        "style": f"{_asset('uplot/uPlot.min.css')}\n{_asset('page.css')}",
        "verdict": verdict(content),
        "scores": scores(content),
        "body": joined(part(content) for part in _PARTS),
        "version": joined([content["run"]["version"]]),
        "licence": _licence(),
        "data": _for_script(_chart_data(content)),
        "library": scripts[0],
        "pictures": scripts[1],
        "script": scripts[2],
    }
    return Template(_asset("page.html")).substitute(filled)


_PARTS = (timeline, answers, rows, columns, model, run)


def _chart_data(metrics: Metrics) -> dict[str, Any]:
    calibration = metrics["calibration"]
    bins = []
    if calibration is not None:
        bins = [
            [rounded(confidence), rounded(accuracy), rows]
            for confidence, accuracy, rows in zip(
                calibration["confidence"], calibration["accuracy"], calibration["rows"], strict=True
            )
            if rows
        ]
    return {
        "changes": [
            {
                "row": change["row"],
                "text": f"error {' → '.join(percent(change[when]) for when in ('before', 'seen', 'after'))}",
            }
            for change in metrics["changes"]
        ],
        "charts": [chart.data() for chart in (*charts(metrics), *mean_charts(metrics))],
        "calibration": bins,
    }


def _for_script(data: dict[str, Any]) -> str:
    """JSON that cannot end the script element it stands in, whatever labels it holds."""
    written = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return written.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _policy(scripts: tuple[str, ...]) -> str:
    hashes = " ".join(f"'sha256-{b64encode(sha256(each.encode()).digest()).decode()}'" for each in scripts)
    return f"default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src {hashes}"


def _licence() -> Markup:
    return tag("pre", _asset("uplot/LICENSE"))


@cache
def _asset(name: str) -> str:
    return files("thalweg.report.page").joinpath("assets", *name.split("/")).read_text("utf-8").rstrip("\n")
