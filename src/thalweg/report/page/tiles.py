"""The scores at the top of a page, as the table of metrics declares them: the model's large, the baselines' small."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from thalweg.evaluate.metrics import LABELS, NUMBERS, Metric
from thalweg.report.page.formats import capital, count, percent, plain, short, written
from thalweg.report.page.rare_verdict import no_change_area, question
from thalweg.report.page.standing import Tile, baselines, best_baseline, cost_baselines, recent_rows
from thalweg.run_metrics import Metrics, as_metrics, is_regression, loss_of


def tiles(given: Mapping[str, Any]) -> list[Tile]:
    """Those that the question of the run asks for, and the error."""
    metrics = as_metrics(given)
    asked = question(metrics)
    group = "error" if asked is None else "classes" if asked == "classes" else "positive"
    model, loss = metrics["scores"]["model"], loss_of(metrics)
    shown: list[Tile] = []
    for metric in NUMBERS if is_regression(metrics) else LABELS:
        if metric.shown == group and metric.name in model and not (metric.of_model and model[metric.name] is None):
            shown.append(_tile(metrics, metric, metric.about))
            shown += _behind(metrics, metric)
    return shown if asked is None else [*shown, _tile(metrics, loss, f"{loss.about}, all rows")]


def _tile(metrics: Metrics, metric: Metric, meaning: str, recent: str = "") -> Tile:
    title = f"recent {metric.title_in_full}" if recent else metric.title_in_full
    value = written(metric.form, metrics["scores"]["model"][f"{recent}{metric.name}"])
    return Tile(capital(title), value, _beside(metrics, metric, recent), _meaning(metrics, metric, meaning))


def _behind(metrics: Metrics, metric: Metric) -> Iterator[Tile]:
    """What a page shows behind a metric, and is none."""
    if metric is loss_of(metrics):
        yield _tile(metrics, metric, f"of the {recent_rows(metrics)}", "recent_")
        if is_regression(metrics):
            best = best_baseline(metrics)
            skill = plain(metrics["verdict"][best.key]["mae"]["skill"])
            yield Tile("Skill", skill, "", f"1 is perfect, 0 as good as {best.phrase}")
    if metric.name == "pr_auc" and (alerts := metrics["rare"]["alerts"]) is not None:
        per, share = f"{count(alerts['count'])} per {alerts['per']}", percent(alerts["recall"])
        yield Tile("Alerts that are right", percent(alerts["precision"]), per, f"they hold {share} of the positives")


def _beside(metrics: Metrics, metric: Metric, recent: str) -> str:
    match metric.name:
        case "coverage":
            return f"{100 * metrics['intervals']['asked']:g}\N{NO-BREAK SPACE}% asked for"
        case "roc_auc":
            return "by chance 0.5"
        case "pr_auc":
            return f"no-change {plain(no_change_area(metrics))} · by chance {plain(metrics['rare']['share'])}"
        case "cost":
            return " · ".join(f"{baseline.name} {short(baseline.score)}" for baseline in cost_baselines(metrics))
    if metric.of_model:
        return ""
    scores = (
        (baseline.name, metrics["scores"][baseline.key].get(f"{recent}{metric.name}"))
        for baseline in baselines(metrics)
    )
    return " · ".join(f"{name} {written(metric.form, score)}" for name, score in scores)


def _meaning(metrics: Metrics, metric: Metric, meaning: str) -> str:
    if metric.name != "coverage":
        return meaning
    ends = metrics["intervals"]
    return (
        f"of intervals {short(ends['mean_width'])} wide on average; pinball loss of the ends "
        f"{short(ends['pinball_lower'])} and {short(ends['pinball_upper'])}"
    )
