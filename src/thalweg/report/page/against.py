"""The model beside gradient boosting fitted once, and fitted again and again; and beside itself with prompt labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thalweg.report.page.charts import Chart, Line, View
from thalweg.report.page.formats import count, counted, loss_words, per_hundred, percent, short, written
from thalweg.report.page.standing import interval, standing
from thalweg.run_metrics import Reference, References, is_regression, loss_of

#: By reference, the look of its line and its name.
_LINES = {
    "frozen": ("c1", "frozen boosting"),
    "retrained": ("c2", "retrained boosting"),
    "prompt": ("c3", "prompt labels"),
}


def references_of(metrics: Mapping[str, Any]) -> References | None:
    """The models that the run is compared with; None where none was asked for."""
    references: References | None = metrics.get("against")
    return references


def against_findings(metrics: Mapping[str, Any]) -> list[str]:
    """A sentence or two for each reference: its loss and the model's over the same rows, and the difference."""
    references = references_of(metrics)
    if references is None:
        return []
    return [_finding(metrics, name, reference, references) for name, reference in references["references"].items()]


def beaten_by(metrics: Mapping[str, Any]) -> str:
    """For the headline: the best of the models that one would run otherwise and that are significantly better.

    That is not the model itself with prompt labels, which nobody has.
    """
    if (references := references_of(metrics)) is None:
        return ""
    others = {name: reference for name, reference in references["references"].items() if name != "prompt"}
    better = {name: other for name, other in others.items() if standing(other["difference"]) == "worse"}
    if not better:
        return ""
    name = max(better, key=lambda name: better[name]["difference"]["difference"] or 0.0)
    reference, what = better[name], reference_names(references)[name]
    own, rows = written(loss_of(metrics).form, reference["model"]), f"the last {counted(reference['rows'], 'row')}"
    return f" {what} does better: {loss_words(metrics, reference['loss'])} against {own} over {rows}."


def reference_names(references: References) -> dict[str, str]:
    """By key, what was done with each reference."""
    every, window = count(references["every"]), count(references["window"])
    return {
        "frozen": f"Gradient boosting fitted once, to the first {every} labelled rows,",
        "retrained": f"Gradient boosting fitted every {every} labelled rows, to the last {window} at the most,",
        "prompt": "The model with prompt labels",
    }


def _finding(metrics: Mapping[str, Any], name: str, reference: Reference, references: References) -> str:
    what, title = reference_names(references)[name], metrics["model"]["title"]
    if name == "prompt":
        return _cost_of_lateness(reference, title, is_regression(metrics))
    if not reference["rows"]:
        needed = f"{counted(references['every'], 'labelled row')} of a first fit"
        return f"{what} has nothing to show: the labels of the {needed} came too late, or were too few."
    rows = f"last {counted(reference['rows'], 'row')}"
    if is_regression(metrics):
        beside = f"{short(reference['loss'])} over the {rows}, {title} {short(reference['model'])}"
        return f"{what} had a mean absolute error of {beside}. {_saved_of_numbers(reference)}"
    beside = f"got {percent(reference['loss'])} of the {rows} wrong, {title} {percent(reference['model'])}"
    return f"{what} {beside}. {_saved_mistakes(reference)}"


def _cost_of_lateness(reference: Reference, title: str, numbers: bool) -> str:
    if not reference["rows"]:
        return "No label came in time to say what the lateness of labels costs."
    difference, written = reference["difference"], short if numbers else percent
    gap, rows = difference["difference"] or 0.0, f"last {counted(reference['rows'], 'row')}"
    had = f"{'a mean absolute' if numbers else 'an'} error of {written(reference['loss'])} over the {rows}"
    had = f"Had {'target' if numbers else 'label'}s come at once, {title} would have had {had}"
    ends = _ends(reference, interval(difference, short if numbers else per_hundred, "fewer" if not numbers else "less"))
    cost = "cost" if gap >= 0.0 else "saved"
    much = f"{short(abs(gap))} a row" if numbers else f"{per_hundred(gap)} mistakes in 100 rows"
    return f"{had}, not {written(reference['model'])}. Lateness {cost} {much} ({ends}).{_chance(reference)}"


def _saved_mistakes(reference: Reference) -> str:
    difference = reference["difference"]
    gap = difference["difference"] or 0.0
    if gap == 0.0:
        return "Following the stream saved no mistake."
    mistakes = f"{count(round(abs(gap) * reference['rows']))} mistakes, {per_hundred(gap)} in 100 rows"
    worth = f"Following the stream saved {mistakes}" if gap < 0.0 else f"Following the stream cost {mistakes}"
    return f"{worth} ({_ends(reference, interval(difference, per_hundred, 'fewer'))}).{_chance(reference)}"


def _saved_of_numbers(reference: Reference) -> str:
    difference, loss = reference["difference"], reference["loss"] or 0.0
    gap = difference["difference"] or 0.0
    share = f", {percent(abs(gap) / loss)} of it" if loss else ""
    worth = "saved" if gap <= 0.0 else "cost"
    ends = interval(difference, short, "less")
    much = f"{short(abs(gap))} of absolute error a row{share}"
    return f"Following the stream {worth} {much} ({_ends(reference, ends)}).{_chance(reference)}"


def _chance(reference: Reference) -> str:
    return " The difference may be chance." if standing(reference["difference"]) == "even" else ""


def _ends(reference: Reference, ends: str) -> str:
    if standing(reference["difference"]) == "unknown":
        return "too few rows for an interval"
    return f"{100 * reference['difference']['level']:g}\N{NO-BREAK SPACE}% interval: {ends}"


def against_chart(metrics: Mapping[str, Any]) -> Chart | None:
    """The windowed losses of the references beside the model's, at the same points."""
    references, curve = references_of(metrics), metrics["curve"]
    if references is None or not any(value is not None for values in references["curve"].values() for value in values):
        return None
    loss = loss_of(metrics)
    lines = [Line(metrics["model"]["title"], curve[loss.name]["model"], "model")]
    looks = {name: _LINES[name] for name in references["curve"]}
    lines += [Line(looks[name][1], values, looks[name][0], dashed=True) for name, values in references["curve"].items()]
    what = "Mean absolute error" if is_regression(metrics) else "The share of wrong predictions"
    late = "under the same delay of labels"
    title = "Beside frozen and retrained models"
    if "prompt" in looks:
        late = "had labels come at once, and as they came" if len(looks) == 1 else f"{late}, or prompt"
        title = "Beside prompt labels" if len(looks) == 1 else "Beside other models and prompt labels"
    caption = f"{what}, last {count(curve['window'])} rows, {late}."
    return Chart(
        "against",
        title,
        caption,
        "share" if loss.form == "share" else "number",
        curve["rows"],
        (View("", tuple(lines)),),
    )


def with_references(metrics: Mapping[str, Any], charts: list[Chart]) -> list[Chart]:
    """The charts of a page with that of the references behind the one about the error."""
    chart = against_chart(metrics) if charts else None
    if chart is None:
        return charts
    place = [chart.key for chart in charts].index("error") + 1
    return [*charts[:place], chart, *charts[place:]]
