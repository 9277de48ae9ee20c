"""The charts over time as data: what is drawn, in which unit and style, with the moments of change marked in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import Any, Literal

from thalweg.learners.auto import family_of
from thalweg.report import style
from thalweg.report.page.formats import count, counted, percent, rounded, short
from thalweg.report.page.rare_verdict import question
from thalweg.report.page.row_axis import RowAxis
from thalweg.report.page.standing import baselines
from thalweg.run_metrics import Errors, History, Known, Means, Metrics, Series, Stretch, is_regression, loss_of

Unit = Literal["share", "rows", "number"]

#: More lines than this cannot be distinguished.
MOST_CLASSES = 8
MOST_MEMBERS = 15
#: The members of `AutoClassifier`, by the first word of their names.
_MEMBERS = {
    "O-LDC": "O-LDC: online linear discriminant, with the weight of a new row.",
    "passive-aggressive": "Passive-aggressive: C is its largest step.",
    "logistic": "Logistic: logistic regression, with its step.",
    "products": "Products: logistic regression over the features and the products of any two.",
    "kernel": "Kernel: class densities, with the share that each row forgets.",
    "tilings": "Tilings: random grids over so many features.",
    "trees": "Trees: grown from the last rows; those that follow are grown anew, those that last have a long memory.",
    "shares": "Shares: how often each label came, over so many rows.",
}
_LOOKS = {
    "no_change": "no-change",
    "majority": "majority",
    "last_value": "no-change",
    "running_mean": "majority",
    "running_median": "c2",
    "season": "c1",
}
#: Points that a committee's shares are averaged over, as a part of all.
_SMOOTHED = 1 / 60
#: How many colours the page has beside those of the model and the baselines.
COLOURS = len(style.PALETTE)
#: Lines of the table below a chart.
_TABLE_LINES = 24


@dataclass(frozen=True)
class Line:
    """One curve. A look is the name of a colour of the page; shades, from 0 to 1, fade it into the background."""

    name: str
    values: Series
    look: str
    shade: float = 0.0
    dashed: bool = False
    #: Points that are not joined.
    dots: bool = False


@dataclass(frozen=True)
class View:
    name: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Chart:
    key: str
    title: str
    caption: str
    unit: Unit
    rows: list[int]
    views: tuple[View, ...]
    stacked: bool = False
    small: bool = False
    from_zero: bool = True
    #: Whether the first two lines, upper and lower, are the ends of a band.
    band: bool = False
    #: Whether it shows other rows than the charts that zoom together.
    own_axis: bool = False

    def data(self) -> dict[str, Any]:
        """What the page's script reads."""
        return {
            "key": self.key,
            "title": self.title,
            "unit": self.unit,
            "rows": self.rows,
            "stacked": self.stacked,
            "small": self.small,
            "fromZero": self.from_zero,
            "band": self.band,
            "ownAxis": self.own_axis,
            "lines": [
                [
                    {key: getattr(line, key) for key in ("name", "look", "shade", "dashed", "dots")}
                    for line in view.lines
                ]
                for view in self.views
            ],
            "views": [
                [[_drawn(value, self.unit) for value in line.values] for line in view.lines] for view in self.views
            ],
        }

    def table(self, axis: RowAxis) -> tuple[list[str], list[list[str]]]:
        """Headers and lines of the table below the chart: some points of all curves, the last among them."""
        written = percent if self.unit == "share" else short
        views = self.views[-1:] if self.stacked else self.views
        headers = [
            *([axis.name] if axis else []),
            "row",
            *(f"{line.name}, {view.name}" if len(views) > 1 else line.name for view in views for line in view.lines),
        ]
        step = -(-len(self.rows) // _TABLE_LINES)
        lines = [
            [
                *([axis.when(self.rows[at])] if axis else []),
                count(self.rows[at]),
                *(written(line.values[at]) for view in views for line in view.lines),
            ]
            for at in range(len(self.rows) - 1, -1, -step)
        ]
        return headers, lines[::-1]


def _drawn(value: Known, unit: Unit) -> Known:
    return round(value, 4) if value is not None and unit == "share" else rounded(value)


def charts(metrics: Metrics) -> list[Chart]:
    """All that the run has, in the order of the page; without points there are none."""
    if not metrics["curve"]["rows"]:
        return []
    course = metrics["course"]
    if is_regression(metrics):
        of_task = [_error(metrics), _last_rows(metrics), _predictions(metrics), _residuals(metrics), _coverage(metrics)]
        shown = [*of_task, members(course, by_kind=lambda member: member.split(",")[0]), learning_rate(course)]
    else:
        shown = [positive(metrics), _error(metrics), learning_rate(course), _memory(metrics), members(course)]
    return [chart for chart in shown if chart is not None]


def positive(metrics: Metrics) -> Chart | None:
    """How well the label of interest is found, where the report is about it."""
    if question(metrics) in (None, "classes") or (curve := metrics["rare"]["curve"]) is None:
        return None
    looks = (("PR AUC", "pr_auc", "model"), ("recall", "recall", "c1"), ("precision", "precision", "c2"),
             ("ROC AUC", "roc_auc", "c3"))  # fmt: skip
    lines = tuple(
        Line(name, curve[key], look, dashed=key == "roc_auc")  # type: ignore[literal-required]
        for name, key, look in looks
        if any(value is not None for value in curve[key])  # type: ignore[literal-required]
    )
    window = curve["window"]
    short = metrics["rows"]["scored"] <= window
    over = "all rows so far" if short else f"the last {count(window)} rows"
    caption = f"How well {metrics['rare']['positive']} is found, over {over}."
    if not short:
        caption += f" Up to row {count(window)}, over all rows so far."
    title = "Recall, precision and areas over time"
    return Chart("positive", title, caption, "number", curve["rows"], (View("", lines),))


def _error(metrics: Metrics) -> Chart:
    curve, window, loss = metrics["curve"], _window(metrics), loss_of(metrics)
    fading = weighted(curve["fade"])
    if is_regression(metrics):
        views = {f"{loss.title_in_full}, {window}": curve["mae"], f"RMSE, {window}": curve["rmse"]}
        fading = f"{loss.title_in_full}, {fading}"
        caption = "How far predictions were from the target, each made before its target was learned."
    else:
        views = {window: curve["error"]}
        caption = "The share of wrong predictions, each made before its label was learned."
    if metrics["rows"]["scored"] > curve["window"]:
        caption += f" Up to row {count(curve['window'])}, of all rows so far."
    views |= {fading: curve["fading"][loss.name]}
    unit: Unit = "share" if loss.form == "share" else "number"
    shown = tuple(View(name, _of_all(metrics, errors)) for name, errors in views.items())
    return Chart("error", "Error over time", caption, unit, curve["rows"], shown)


def _window(metrics: Metrics) -> str:
    window = metrics["curve"]["window"]
    return "all rows so far" if metrics["rows"]["scored"] <= window else f"last {count(window)} rows"


def weighted(fade: float) -> str:
    """The name of a mean in which the weight of a row shrinks by this factor with each later one.

    Examples
    --------
    >>> weighted(0.999)
    'exponentially weighted, factor 0.999'
    """
    return f"exponentially weighted, factor {fade:g}"


def _of_all(metrics: Metrics, errors: Errors) -> tuple[Line, ...]:
    beside = (
        Line(baseline.name, errors[baseline.key], _LOOKS[baseline.key], dashed=True) for baseline in baselines(metrics)
    )
    return (Line(metrics["model"]["title"], errors["model"], "model"), *beside)


def learning_rate(course: History) -> Chart | None:
    """The rate over time, of a model that has one."""
    if course["rate"] is None:
        return None
    lines = (Line("learning rate", course["rate"], "model"),)
    caption = "How eagerly the model learned. It has no unit."
    return Chart("rate", "Learning rate", caption, "number", course["rows"], (View("", lines),))


def _memory(metrics: Metrics) -> Chart | None:
    course = metrics["course"]
    if not course["effective_rows"]:
        return None
    by_class, memory = remembered(metrics)
    lines = tuple(Line(name, values, f"c{at % COLOURS}") for at, (name, values) in enumerate(memory.items()))
    hidden = len(course["effective_rows"]) - len(lines)
    caption = f"Effective sample size: how many rows{' of each class' if by_class else ''} the model still remembers."
    if hidden:
        caption += f" The {len(lines)} most frequent of {len(lines) + hidden} classes are shown."
    if course["weights"] and any(None in values for values in memory.values()):
        caption += " Where there is a gap, no member that counts its rows had a part in the predictions."
    title = "Memory of each class" if by_class else "Memory"
    return Chart("memory", title, caption, "rows", course["rows"], (View("", lines),))


def remembered(metrics: Metrics) -> tuple[bool, dict[str, Series]]:
    """The memory of the most frequent classes; or, of a model that does not give it by class, of all rows."""
    memory = metrics["course"]["effective_rows"] or {}
    shown = frequent_classes(metrics, MOST_CLASSES)
    of_classes = {label: values for label, values in memory.items() if label in shown}
    return bool(of_classes), of_classes or memory


def members(course: History, by_kind: Callable[[str], str | None] = family_of) -> Chart | None:
    """A committee's shares, smoothed and as they were, members of one family in shades of one colour.

    ``by_kind`` gives the kind of a member by its name, None where it has none.
    """
    weights = course["weights"]
    if not weights:
        return None
    by_mean = sorted(weights, key=lambda member: -_total(weights[member]))
    kept = set(by_mean if len(by_mean) <= MOST_MEMBERS else by_mean[: MOST_MEMBERS - 1])
    families = [list(group) for _, group in groupby((m for m in weights if m in kept), key=style.family)]
    colours = _colours({family[0]: sum(_total(weights[member]) for member in family) for family in families})
    lines = [
        Line(member, weights[member], colour, 0.72 * place / max(len(family) - 1, 1))
        for colour, family in zip(colours, families, strict=True)
        for place, member in enumerate(family)
    ]
    others = [values for member, values in weights.items() if member not in kept]
    if others:
        rest = [sum(value or 0.0 for value in point) for point in zip(*others, strict=True)]
        lines.append(Line(f"{len(others)} others", list(rest), "majority"))
    kinds = _by_family(weights, by_kind)
    members = (words for kind, words in _MEMBERS.items() if any(name.startswith(f"{kind} ") for name in weights))
    caption = " ".join(["The weight of each member in the committee’s prediction.", *members])
    rows = course["rows"]
    reach = round(len(rows) * _SMOOTHED)
    views = {"as they were": lines}
    if reach:
        views = {"smoothed": [replace(line, values=_smoothed(line.values, reach)) for line in lines], **views}
        kinds = [replace(line, values=_smoothed(line.values, reach)) for line in kinds]
    if kinds:
        views = {"by kind" if by_kind is not family_of else "by kind of boundary": kinds, **views}
    shown = tuple(View(name, tuple(lines)) for name, lines in views.items())
    return Chart("members", "Weight of each member", caption, "share", rows, shown, stacked=True)


def _by_family(weights: Mapping[str, Series], kind_of: Callable[[str], str | None]) -> list[Line]:
    """The weight of the members of each kind together; nothing where there are no kinds."""
    families = {member: kind_of(member) for member in weights}
    names = dict.fromkeys(families.values())
    if None in names or len(names) < 2:
        return []
    columns = {name: [values for member, values in weights.items() if families[member] == name] for name in names}
    together: list[Series] = [
        [sum(value or 0.0 for value in point) for point in zip(*column, strict=True)] for column in columns.values()
    ]
    colours = _colours({str(name): _total(values) for name, values in zip(columns, together, strict=True)})
    return [Line(str(name), values, colour) for name, values, colour in zip(columns, together, colours, strict=True)]


def _total(values: Series) -> float:
    return sum(value or 0.0 for value in values)


def _colours(totals: Mapping[str, float]) -> list[str]:
    """A family's own colour, for each by the name of a member; of other families the largest get the first left."""
    own = {name: style.FAMILIES.get(style.family(name)) for name in totals}
    free = [place for place in range(COLOURS) if place not in own.values()] or list(range(COLOURS))
    ranked = sorted((name for name in totals if own[name] is None), key=lambda name: -totals[name])
    places = own | {name: free[at % len(free)] for at, name in enumerate(ranked)}
    return [f"c{places[name]}" for name in totals]


def _smoothed(values: Series, reach: int) -> Series:
    """The mean of each point and its neighbours, as many on either side."""
    sums = [0.0, *accumulate(value or 0.0 for value in values)]
    smooth: Series = []
    for at in range(len(values)):
        near = min(reach, at, len(values) - 1 - at)
        smooth.append((sums[at + near + 1] - sums[at - near]) / (2 * near + 1))
    return smooth


def _last_rows(metrics: Metrics) -> Chart:
    stretch = metrics["predictions"]["last"]
    caption = f"{_beside(metrics)}, row by row."
    title = f"The last {counted(len(stretch['rows']), 'row')}"
    return _with_band("last", title, caption, stretch, own_axis=True)


def _predictions(metrics: Metrics) -> Chart | None:
    every, stretch = metrics["predictions"]["every"], metrics["predictions"]["course"]
    if every == 1 and len(stretch["rows"]) <= len(metrics["predictions"]["last"]["rows"]):
        return None  # the last rows are all that there are
    rows = "every row" if every == 1 else f"one row in {count(every)}"
    return _with_band("course", "Predictions over the whole run", f"{_beside(metrics)}, {rows}.", stretch)


def _beside(metrics: Metrics) -> str:
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


def _residuals(metrics: Metrics) -> Chart:
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


def _coverage(metrics: Metrics) -> Chart:
    curve, asked = metrics["curve"], metrics["intervals"]["asked"]
    lines = (
        Line("coverage", curve["coverage"]["model"], "model"),
        Line("asked for", [asked for _ in curve["rows"]], "no-change", dashed=True),
    )
    caption = f"The share of intervals that held the target, {_window(metrics)}."
    rows = curve["rows"]
    return Chart("coverage", "Coverage of the intervals", caption, "share", rows, (View("", lines),), from_zero=False)


def mean_charts(metrics: Metrics) -> list[Chart]:
    """One small chart for each feature whose class means were kept."""
    means = metrics["course"].get("means")
    if not means or not metrics["curve"]["rows"]:
        return []
    shown = [label for label in means["classes"] if label in frequent_classes(metrics, MOST_CLASSES)]
    return [_mean(means, metrics["course"]["rows"], at, shown) for at in range(len(means["features"]))]


def _mean(means: Means, rows: list[int], feature: int, shown: list[str]) -> Chart:
    forecast = means.get("forecast") or {}
    lines: list[Line] = []
    for at, label in enumerate(shown):
        look = f"c{at % COLOURS}"
        lines.append(Line(label, means["classes"][label][feature], look))
        if label in forecast:
            lines.append(Line(f"{label}, forecast", forecast[label][feature], look, dashed=True))
    view = View("", tuple(lines))
    name = means["features"][feature]
    return Chart(f"mean{feature}", name, "", "number", rows, (view,), small=True, from_zero=False)


def frequent_classes(metrics: Metrics, most: int) -> set[str]:
    seen = {
        label: sum(line)
        for label, line in zip(metrics["confusion"]["classes"], metrics["confusion"]["counts"], strict=True)
    }
    return set(sorted(seen, key=lambda label: -seen[label])[:most])
