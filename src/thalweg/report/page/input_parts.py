"""What the page says of the inputs of a run: which columns changed, why the error rose, and which alerts fired."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from thalweg.evaluate.error_causes import is_near
from thalweg.report.page.change_lines import extra_errors
from thalweg.report.page.formats import capital, count, counted, percent, short
from thalweg.report.page.row_axis import RowAxis
from thalweg.report.page.verdict import few_label_changes
from thalweg.run_metrics import is_regression, target_word

#: Columns that are listed, changes of a column that are, findings, and those of them that need no unfolding.
_MOST_COLUMNS, _MOST_CHANGES, MOST_FINDINGS, _SHOWN = 40, 4, 60, 6
_MOST_ALERTS = 50
#: Names of columns in a sentence; rises without a change of an input that have a sentence of their own, and rows in the
#: sentence of all others.
_MOST_NAMES, _MOST_ALONE, _MOST_ROWS = 4, 3, 8


class Finding(NamedTuple):
    """A sentence about the inputs, and its row; None where it is about several."""

    row: int | None
    sentence: str


class Box(NamedTuple):
    """Quantiles of a window as a picture, in percent of its width: 5 to 95 %, 25 to 75 %, and the median."""

    left: float
    width: float
    box_left: float
    box_width: float
    median: float


class ColumnLine(NamedTuple):
    """One column: then and now, as words, and as boxes where it holds numbers."""

    name: str
    mean: str
    spread: str
    missing: str
    boxes: tuple[Box, Box] | None
    words: str
    changed: str


def input_parts(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """What the template needs."""
    axis = RowAxis(metrics)
    inputs, alerts = metrics["inputs"], metrics.get("alerts_fired", {"fired": [], "left_out": 0})
    lines = [*inputs["columns"], *inputs["predictions"], *inputs["targets"]]
    # Columns that changed come first, the latest change before all others.
    lines.sort(key=lambda line: -max((change["row"] for change in line["changes"]), default=0))
    sentences = findings(metrics)
    return {
        "alert_lines": [_alert(alert, axis) for alert in alerts["fired"][:_MOST_ALERTS]],
        "alert_rest": alerts["left_out"] + max(0, len(alerts["fired"]) - _MOST_ALERTS),
        "input_findings": _by_row(sentences[:_SHOWN]),
        "input_folded": _by_row(sentences[_SHOWN:MOST_FINDINGS], len(sentences) - MOST_FINDINGS),
        "input_lines": [_line(line, axis) for line in lines[:_MOST_COLUMNS]],
        "input_rest": max(0, len(lines) - _MOST_COLUMNS),
    }


def findings(metrics: Mapping[str, Any]) -> list[Finding]:
    """Each rise of the error with its cause, the longest and largest first; then changes of columns without one.

    Of many rises at which no input changed, the largest get a sentence each, and the rest one together.

    Examples
    --------
    >>> change = {"column": "temperature", "row": 20_000, "what": "mean", "before": 12.1, "after": 19.7}
    >>> findings({"changes": [], "inputs": {"columns": [], "changes": [change], "causes": []}})[0].sentence
    'Column temperature moved from 12.1 to 19.7 at row 20,000; no rise of the error was found.'
    """
    inputs = metrics["inputs"]
    axis, extra = RowAxis(metrics), extra_errors(metrics["changes"])
    causes = sorted(inputs["causes"], key=lambda cause: -_size(cause, extra))
    alone = [cause for cause in causes if not cause["changed"]]
    together = alone[_MOST_ALONE:] if len(alone) > _MOST_ALONE + 1 else []
    results = [Finding(cause["at"], _rise(cause, metrics, axis)) for cause in causes if cause not in together]
    if together:
        rows = axis.at(sorted(cause["row"] for cause in together)[:_MOST_ROWS])
        more = ", and later." if len(together) > _MOST_ROWS else "."
        sentence = (
            f"The error rose {count(len(together))} more times, by less or for a shorter time, while "
            f"{_none_of(inputs)} was seen to change: {rows}{more}"
        )
        results.append(Finding(None, sentence))
    measures = {line["name"]: _with_measure(line) for line in inputs["columns"]}
    moved: dict[int, list[Any]] = {}
    for change in inputs["changes"]:
        if not any(is_near(change, cause["at"], cause["found_at"]) for cause in inputs["causes"]):
            name = measures.get(change["column"], change["column"])
            moved.setdefault(change["row"], []).append({**change, "column": name})
    return results + [
        Finding(row, f"{_moved(changes, axis)}; no rise of the error was found.")
        for row, changes in sorted(moved.items())
    ]


def _by_row(results: Sequence[Finding], more: int = 0) -> list[str]:
    """The sentences in the order of rows; then those about several rows, and how many are left out."""
    ordered = sorted(results, key=lambda result: (result.row is None, result.row))
    rest = f"{counted(more, 'more change')} of the error or of an input can be had from metrics.json."
    return [*(result.sentence for result in ordered), *([rest] if more > 0 else [])]


def _rise(cause: Mapping[str, Any], metrics: Mapping[str, Any], axis: RowAxis) -> str:
    written, target = short if is_regression(metrics) else percent, target_word(metrics)
    rises = {change["row"]: change for change in metrics["changes"]}
    size = _size_in_words(cause, rises.get(cause["row"]), written)
    when = f"{axis.at(cause['row'])}{' for a short time' if 'short' in cause else ''}"
    if "confusion" in metrics and not cause["changed"] and few_label_changes(metrics) is not None:
        return f"The error rose {when}{size}: probably the label changed, which it hardly ever does."
    return f"The error rose {when}{size}{_why(cause, target, written, _none_of(metrics['inputs']), axis)}"


def _none_of(inputs: Mapping[str, Any]) -> str:
    return "no watched input" if inputs["not_watched"] else "no input"


def _size(cause: Mapping[str, Any], extra: Mapping[int, float]) -> float:
    if "short" in cause:
        return float((cause["after"] - cause["before"]) * (cause["found_at"] - cause["at"] + 1))
    return extra.get(cause["row"], 0.0)


def _size_in_words(cause: Mapping[str, Any], rise: Mapping[str, Any] | None, written: Any) -> str:
    """The error before a rise, in the rows that gave it away, and in all up to the next change."""
    if "short" in cause:
        rows = counted(cause["found_at"] - cause["at"] + 1, "row")
        return f" from {written(cause['before'])} to {written(cause['after'])} over {rows}"
    if rise is None or rise["seen"] <= rise["before"]:  # before may have begun higher: it is a mean
        return ""
    before, seen, after = (written(rise[level]) for level in ("before", "seen", "after"))
    return f" from {before} to {seen} at first ({after} until the next change)"


def _why(cause: Mapping[str, Any], target: str, written: Any, none: str, axis: RowAxis) -> str:
    """The rest of the sentence about a rise, and one about the columns that changed after it."""
    relation = f"the relation between inputs and {target} changed"
    changed = cause["changed"]
    later = [column for column in changed if column["when"] == "after"]
    after = "" if not later else f" {capital(_named_with_rows(later, axis))} changed after the rise."
    alike = cause.get("alike")
    if cause.get("early"):
        return f" soon after the first predictions, too soon to say why.{after}"
    if not cause["columns"] and cause["cause"] == "unclear":
        return f" before any input was seen to change.{after} Whether {relation} cannot be said."
    if not cause["columns"]:
        before = f" before any input was seen to change: probably {relation}.{after}"
        return before if later else f" while {none} was seen to change: probably {relation}."
    when = _when(changed, axis)
    if alike is None:
        return f" {when}. Too few rows are like those before to say whether {relation}, too.{after}"
    like = f"{count(alike['rows'])} rows like those before"
    ends = f"(error {written(alike['before'])} before, {written(alike['after'])} after)"
    if cause["cause"] == "concept":
        return f" {when}, but {like} were predicted worse, too {ends}: {relation}.{after}"
    return f" {when}. {like} were predicted no worse {ends}: the new inputs account for the rise.{after}"


def _when(changed: Sequence[Mapping[str, Any]], axis: RowAxis) -> str:
    """Which columns changed with a rise, and which before it."""
    together = [column["column"] for column in changed if column["when"] == "with"]
    before = [column for column in changed if column["when"] == "before"]
    parts = [f"when {_named(together)} changed"] if together else []
    return ", ".join([*parts, f"after {_named_with_rows(before, axis)} had changed"] if before else parts)


def _named_with_rows(changed: Sequence[Mapping[str, Any]], axis: RowAxis) -> str:
    row = "" if axis else "row "
    return _named([f"{column['column']} ({row}{axis.when(column['row'], read=True)})" for column in changed])


def _named(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - _MOST_NAMES} more" if len(columns) > _MOST_NAMES else ""
    return f"column{'' if len(columns) == 1 else 's'} {', '.join(columns[:_MOST_NAMES])}{more}"


def _moved(changes: Sequence[Mapping[str, Any]], axis: RowAxis) -> str:
    """What happened to the columns that changed at one row."""
    when = axis.at(changes[0]["row"], read=True)
    if len(changes) > 1:
        return f"{capital(_named([change['column'] for change in changes]))} changed {when}"
    if changes[0]["what"] not in ("mean", "spread"):
        when = f"from {when.partition(' ')[2]} on"
    return f"Column {changes[0]['column']} {change_words(changes[0])} {when}"


def change_words(change: Mapping[str, Any]) -> str:
    """What changed, and from what to what.

    Examples
    --------
    >>> print(change_words({"what": "category Oslo", "before": 0.5, "after": 0.25}))
    had category Oslo in 25.0\N{NO-BREAK SPACE}% of its rows instead of 50.0\N{NO-BREAK SPACE}%
    """
    what, before, after = change["what"], change["before"], change["after"]
    match what:
        case "mean":
            return f"moved from {short(before)} to {short(after)}"
        case "spread":
            return f"changed its standard deviation from {short(before)} to {short(after)}"
        case "missing":
            return f"was missing in {percent(after)} of its rows instead of {percent(before)}"
        case _:
            return f"had {what} in {percent(after)} of its rows instead of {percent(before)}"


def _alert(alert: Mapping[str, Any], axis: RowAxis) -> tuple[str, str, str, str]:
    """A rule that fired, the row, its value or what happened, and the row at which it ceased to hold."""
    words = ", ".join(str(alert[key]) for key in ("column", "what") if key in alert)
    if "value" not in alert:  # something that happened, and has no end
        return alert["rule"], axis.when(alert["row"], read=True), words, ""
    ended = "the end" if alert.get("ended") is None else axis.when(alert["ended"], read=True)
    return alert["rule"], axis.when(alert["row"], read=True), short(alert["value"]), ended


def _line(column: Mapping[str, Any], axis: RowAxis) -> ColumnLine:
    then, now = column["then"], column["now"]
    is_number = column["kind"] == "number"
    changes = [
        f"{axis.when(change['row'], read=True)}: {change['what']}" for change in column["changes"][-_MOST_CHANGES:]
    ]
    if "new" in column:
        first = column["new"]["listed"][0]
        more = f" and {column['new']['count'] - 1} more" if column["new"]["count"] > 1 else ""
        changes.append(f"{axis.when(first['row'], read=True)}: new category {first['name']}{more}")
    return ColumnLine(
        _with_measure(column),
        _pair(then, now, "mean", short) if is_number else "",
        _pair(then, now, "spread", short) if is_number else "",
        _pair(then, now, "missing", percent),
        _boxes(then["quantiles"], now["quantiles"]) if is_number else None,
        "" if is_number else _shares(then["shares"], now["shares"]),
        "; ".join(changes),
    )


def _with_measure(column: Mapping[str, Any]) -> str:
    """The name of a column, with what is measured of it where that is not its values."""
    return f"{column['name']} ({column['measure']})" if "measure" in column else str(column["name"])


def _pair(then: Mapping[str, Any], now: Mapping[str, Any], key: str, written: Any) -> str:
    before, after = written(then[key]), written(now[key])
    return before if before == after else f"{before} → {after}"


def _shares(then: Mapping[str, float], now: Mapping[str, float]) -> str:
    """The categories whose shares are largest now, and what they were."""
    names = sorted({**then, **now}, key=lambda name: -max(then.get(name, 0.0), now.get(name, 0.0)))[:3]
    return ", ".join(f"{name} {percent(then.get(name, 0.0))} → {percent(now.get(name, 0.0))}" for name in names)


def _boxes(then: Sequence[float] | None, now: Sequence[float] | None) -> tuple[Box, Box] | None:
    """Both windows on one scale."""
    if then is None or now is None:
        return None
    low, high = min(then[0], now[0]), max(then[-1], now[-1])
    scale = 100.0 / (high - low) if high > low else 0.0

    def box(quantiles: Sequence[float]) -> Box:
        ends = [round((value - low) * scale, 1) if scale else 50.0 for value in quantiles]
        return Box(ends[0], round(ends[4] - ends[0], 1), ends[1], round(ends[3] - ends[1], 1), ends[2])

    return box(then), box(now)
