"""What is shown first of a run, in the terminal and in a notebook: the verdict, and scores beside the baselines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from thalweg.evaluate.metrics import LABELS, NUMBERS, Metric
from thalweg.report.page import number_verdict, verdict
from thalweg.report.page.content import Known, as_metrics
from thalweg.report.page.number_content import as_number_metrics, is_regression, loss_of
from thalweg.report.page.rare_verdict import cost_baselines, no_change_area, question
from thalweg.report.page.standing import Standing, recent_rows

#: What the kappas mean, for those who read them in a terminal.
KAPPAS = "κ: 1 no mistakes, 0 guessing by class frequency (κ temporal: 0 no change)."


class Verdict(NamedTuple):
    headline: str
    findings: list[str]
    tone: Standing


class ScoreTable(NamedTuple):
    """Several measures of the model, first, and of the baselines; None where one is not known."""

    measures: tuple[str, ...]
    #: Those of their metrics.
    forms: tuple[str, ...]
    lines: dict[str, tuple[Known, ...]]


def verdict_of(metrics: Mapping[str, Any]) -> Verdict:
    """Better or worse than the baselines, in words."""
    if is_regression(metrics):
        numbers = as_number_metrics(metrics)
        return Verdict(number_verdict.headline(numbers), number_verdict.findings(numbers), number_verdict.tone(numbers))
    labels = as_metrics(metrics)
    return Verdict(verdict.headline(labels), verdict.findings(labels), verdict.tone(labels))


def score_columns(metrics: Mapping[str, Any], group: str = "error") -> dict[str, tuple[str, Metric]]:
    """By key of its scores, the titles and the metrics that tables of a run have a column for.

    First those at the top of pages of a ``group`` (`Metric.shown`), then the error, also over the last rows.
    """
    loss = loss_of(metrics)
    found = {
        metric.name: (metric.title, metric)
        for metric in (NUMBERS if is_regression(metrics) else LABELS)
        if metric.column and metric.shown == group and metric.name in metrics["scores"]["model"]
    }
    if group != "error":
        return found | {loss.name: (loss.title, loss)}
    recent = {f"recent_{loss.name}": (recent_rows(metrics), loss)}
    return {loss.name: found.pop(loss.name)} | recent | found


def score_table(metrics: Mapping[str, Any]) -> ScoreTable:
    """The measures that the question of the run asks for."""
    scores, group = metrics["scores"], "error"
    names = {"model": metrics["model"]["name"]}
    if is_regression(metrics):
        baselines = number_verdict.baseline_names(as_number_metrics(metrics))
        names |= {key: name.removeprefix("the ") for key, name in baselines.items()}
    else:
        names |= {"no_change": "no change", "majority": "majority"}
        if asked := question(as_metrics(metrics)):
            group = "classes" if asked == "classes" else "positive"
    columns = score_columns(metrics, group)
    if "pr_auc" in columns:
        scores = scores | {"no_change": {"pr_auc": no_change_area(as_metrics(metrics))} | scores["no_change"]}
    lines = {name: tuple(scores[key].get(measure) for measure in columns) for key, name in names.items()}
    if "cost" in columns:
        constant = cost_baselines(as_metrics(metrics))[2:]
        lines |= {each.name: tuple(each.cost if key == "cost" else None for key in columns) for each in constant}
    titles, shown = zip(*columns.values(), strict=True)
    return ScoreTable(titles, tuple(metric.form for metric in shown), lines)
