"""What was taken for what, and whether the probabilities mean what they say."""

from __future__ import annotations

from thalweg.report.page.content import Metrics
from thalweg.report.page.frames import figure, section
from thalweg.report.page.markup import Markup, table, tag
from thalweg.report.page.numbers import UNKNOWN, count, counted, percent

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
