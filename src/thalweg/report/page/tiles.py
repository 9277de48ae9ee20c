"""The scores at the top of a page, as the table of metrics declares them: the model's large, the baselines' small."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from thalweg.evaluate.metrics import LABELS, NUMBERS, Metric
from thalweg.report.page import number_verdict
from thalweg.report.page.content import Known, as_metrics
from thalweg.report.page.formats import count, percent, plain, short, written
from thalweg.report.page.number_content import as_number_metrics, is_regression, loss_of
from thalweg.report.page.rare_verdict import cost_baselines, no_change_area, question
from thalweg.report.page.standing import Tile, recent_rows

_LABEL_BASELINES = {"no_change": "no-change", "majority": "majority"}


def tiles(metrics: Mapping[str, Any]) -> list[Tile]:
    """Those that the question of the run asks for, and the error."""
    numbers = is_regression(metrics)
    asked = None if numbers else question(as_metrics(metrics))
    group = "error" if asked is None else "classes" if asked == "classes" else "positive"
    model, loss = metrics["scores"]["model"], loss_of(metrics)
    found = []
    for metric in NUMBERS if numbers else LABELS:
        if metric.shown == group and metric.name in model and not (metric.of_model and model[metric.name] is None):
            found.append(_tile(metrics, metric, metric.about))
            found += _behind(metrics, metric)
    return found if asked is None else [*found, _tile(metrics, loss, f"{loss.about}, all rows")]


def _tile(metrics: Mapping[str, Any], metric: Metric, meaning: str, recent: str = "") -> Tile:
    title = f"recent {metric.title_in_full}" if recent else metric.title_in_full
    value = written(metric.form, metrics["scores"]["model"][f"{recent}{metric.name}"])
    return Tile(
        f"{title[0].upper()}{title[1:]}", value, _beside(metrics, metric, recent), _meaning(metrics, metric, meaning)
    )


def _behind(metrics: Mapping[str, Any], metric: Metric) -> Iterator[Tile]:
    """What a page shows behind a metric, and is none."""
    if metric is loss_of(metrics):
        yield _tile(metrics, metric, f"of the {recent_rows(metrics)}", "recent_")
        if is_regression(metrics):
            numbers = as_number_metrics(metrics)
            best = number_verdict.best_baseline(numbers)
            name = number_verdict.baseline_names(numbers)[best]
            skill = plain(numbers["verdict"][best]["mae"]["skill"])
            yield Tile("Skill", skill, "", f"1 is perfect, 0 as good as {name}")
    if metric.name == "pr_auc" and (alerts := metrics["rare"]["alerts"]) is not None:
        per, found = f"{count(alerts['count'])} per {alerts['per']}", percent(alerts["recall"])
        yield Tile("Alerts that are right", percent(alerts["precision"]), per, f"they hold {found} of the positives")


def _beside(metrics: Mapping[str, Any], metric: Metric, recent: str) -> str:
    if metric.name == "coverage":
        return f"{100 * metrics['intervals']['asked']:g}\N{NO-BREAK SPACE}% asked for"
    if metric.name == "roc_auc":
        return "by chance 0.5"
    if metric.name == "pr_auc":
        return f"no-change {plain(no_change_area(as_metrics(metrics)))} · by chance {plain(metrics['rare']['share'])}"
    if metric.name == "cost":
        return " · ".join(f"{each.name} {short(each.cost)}" for each in cost_baselines(as_metrics(metrics)))
    if metric.of_model:
        return ""
    names = number_verdict.baseline_names(as_number_metrics(metrics)) if is_regression(metrics) else _LABEL_BASELINES
    scores: dict[str, Known] = {key: metrics["scores"][key].get(f"{recent}{metric.name}") for key in names}
    return " · ".join(f"{name.removeprefix('the ')} {written(metric.form, scores[key])}" for key, name in names.items())


def _meaning(metrics: Mapping[str, Any], metric: Metric, meaning: str) -> str:
    if metric.name != "coverage":
        return meaning
    found = metrics["intervals"]
    return (
        f"of intervals {short(found['mean_width'])} wide on average; pinball loss of the ends "
        f"{short(found['pinball_lower'])} and {short(found['pinball_upper'])}"
    )
