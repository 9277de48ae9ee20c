"""The charts of a run that predicts numbers: predictions with their band, errors, residuals, coverage, members."""

from __future__ import annotations

from thalweg.report.page.charts import Chart, Line, View, learning_rate, members, weighted
from thalweg.report.page.content import Series
from thalweg.report.page.formats import count, counted
from thalweg.report.page.number_content import NumberMetrics, Stretch
from thalweg.report.page.number_verdict import baseline_names

_LOOKS = {"last_value": "no-change", "running_mean": "majority", "running_median": "c2", "season": "c1"}


def number_charts(metrics: NumberMetrics) -> list[Chart]:
    """All that the run has, in the order of the page; without points there are none."""
    if not metrics["curve"]["rows"]:
        return []
    found = [
        _errors(metrics),
        _last_rows(metrics),
        _course(metrics),
        _residuals(metrics),
        _coverage(metrics),
        members(metrics["course"], by_kind=_kind_of),
        learning_rate(metrics["course"]),
    ]
    return [chart for chart in found if chart is not None]


def _kind_of(member: str) -> str:
    """What comes before the parameters in the name of a member."""
    return member.split(",")[0]


def _window(metrics: NumberMetrics) -> str:
    """What windowed means look back on."""
    window = metrics["curve"]["window"]
    return "all rows so far" if metrics["rows"]["scored"] <= window else f"last {count(window)} rows"


def _errors(metrics: NumberMetrics) -> Chart:
    curve, window = metrics["curve"], _window(metrics)
    fading = weighted(curve["fade"])
    views = {
        f"absolute error, {window}": curve["mae"],
        f"RMSE, {window}": curve["rmse"],
        f"absolute error, {fading}": curve["fading"]["mae"],
    }
    shown = tuple(View(name, _of_all(metrics, errors)) for name, errors in views.items())
    caption = "How far predictions were from the target, each made before its target was learned."
    return Chart("error", "Error over time", caption, "number", curve["rows"], shown)


def _of_all(metrics: NumberMetrics, errors: dict[str, Series]) -> tuple[Line, ...]:
    names = {key: name.removeprefix("the ") for key, name in baseline_names(metrics).items()}
    baselines = (Line(name, errors[key], _LOOKS[key], dashed=True) for key, name in names.items())
    return (Line(metrics["model"]["title"], errors["model"], "model"), *baselines)


def _last_rows(metrics: NumberMetrics) -> Chart:
    stretch = metrics["predictions"]["last"]
    caption = f"{_beside(metrics)}, row by row."
    title = f"The last {counted(len(stretch['rows']), 'row')}"
    return _with_band("last", title, caption, stretch, own_axis=True)


def _course(metrics: NumberMetrics) -> Chart | None:
    every, stretch = metrics["predictions"]["every"], metrics["predictions"]["course"]
    if every == 1 and len(stretch["rows"]) <= len(metrics["predictions"]["last"]["rows"]):
        return None  # the last rows are all that there are
    rows = "every row" if every == 1 else f"one row in {count(every)}"
    return _with_band("course", "Predictions over the whole run", f"{_beside(metrics)}, {rows}.", stretch)


def _beside(metrics: NumberMetrics) -> str:
    asked = 100 * metrics["intervals"]["asked"]
    return f"{metrics['run']['target']} beside its prediction; the band is the {asked:g} % interval"


def _with_band(key: str, title: str, caption: str, stretch: Stretch, *, own_axis: bool = False) -> Chart:
    lines = (
        Line("upper end", stretch["upper"], "model", 0.55),
        Line("lower end", stretch["lower"], "model", 0.55),
        Line("prediction", stretch["prediction"], "model"),
        Line("target", stretch["target"], "ink", 0.1, dots=True),
    )
    view = View("", lines)
    return Chart(key, title, caption, "number", stretch["rows"], (view,), from_zero=False, band=True, own_axis=own_axis)


def _residuals(metrics: NumberMetrics) -> Chart:
    """Of sampled rows, and their mean: above zero, predictions are too low."""
    course, curve = metrics["predictions"]["course"], metrics["curve"]
    residuals: Series = [
        None if target is None or prediction is None else target - prediction
        for target, prediction in zip(course["target"], course["prediction"], strict=True)
    ]
    every = metrics["predictions"]["every"]
    single = "of each row" if every == 1 else f"of one row in {count(every)}"
    bias = dict(zip(curve["rows"], curve["bias"]["model"], strict=True))
    lines = (
        Line(f"residual {single}", residuals, "model", 0.3, dots=True),
        Line(f"mean, {_window(metrics)}", [bias.get(row) for row in course["rows"]], "c1"),
    )
    caption = "Target less prediction: above zero, the prediction was too low."
    rows = course["rows"]
    return Chart("residuals", "Residuals over time", caption, "number", rows, (View("", lines),), from_zero=False)


def _coverage(metrics: NumberMetrics) -> Chart:
    curve, asked = metrics["curve"], metrics["intervals"]["asked"]
    lines = (
        Line("coverage", curve["coverage"]["model"], "model"),
        Line("asked for", [asked for _ in curve["rows"]], "no-change", dashed=True),
    )
    caption = f"The share of intervals that held the target, {_window(metrics)}."
    rows = curve["rows"]
    return Chart("coverage", "Coverage of the intervals", caption, "share", rows, (View("", lines),), from_zero=False)
