"""What is shown first of a run, in the terminal and in a notebook: the verdict, and scores beside the baselines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from thalweg.evaluate.metrics import LABELS, NUMBERS, Metric
from thalweg.report.page import verdict
from thalweg.report.page.rare_verdict import no_change_area, question
from thalweg.report.page.standing import Standing, baselines, cost_baselines, recent_rows
from thalweg.run_metrics import Known, as_metrics, is_regression, loss_of

#: What the kappas mean, for those who read them in a terminal.
KAPPAS = "κ: 1 no mistakes, 0 guessing by class frequency (κ temporal: 0 no change)."
#: By the question of a run about labels; of numbers.
_OF_ERROR = ("error", "recent_error", "kappa", "kappa_temporal")
_OF_CLASSES = ("balanced_accuracy", "macro_f1", "g_mean", "error")
_OF_POSITIVE = ("pr_auc", "roc_auc", "recall", "precision", "cost", "error")
_OF_NUMBERS = ("mae", "rmse", "r2", "recent_mae")


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


def verdict_of(given: Mapping[str, Any]) -> Verdict:
    """Better or worse than the baselines, in words."""
    metrics = as_metrics(given)
    return Verdict(verdict.headline(metrics), verdict.findings(metrics), verdict.tone(metrics))


def score_columns(metrics: Mapping[str, Any], group: str = "error") -> dict[str, tuple[str, Metric]]:
    """By key of its scores, the titles and the metrics that tables of a run have a column for.

    First those at the top of pages of a ``group`` (`Metric.shown`), then the error, also over the last rows.
    """
    loss = loss_of(metrics)
    columns = {
        metric.name: (metric.title, metric)
        for metric in (NUMBERS if is_regression(metrics) else LABELS)
        if metric.column and metric.shown == group and metric.name in metrics["scores"]["model"]
    }
    if group != "error":
        return columns | {loss.name: (loss.title, loss)}
    recent = {f"recent_{loss.name}": (recent_rows(metrics), loss)}
    return {loss.name: columns.pop(loss.name)} | recent | columns


def score_table(given: Mapping[str, Any]) -> ScoreTable:
    """The measures that the question of the run asks for."""
    metrics = as_metrics(given)
    asked, scores = question(metrics), dict(metrics["scores"])
    columns = score_columns(metrics, "error" if asked is None else "classes" if asked == "classes" else "positive")
    if "pr_auc" in columns:
        scores["no_change"] = {"pr_auc": no_change_area(metrics)} | scores["no_change"]
    keys = {metrics["model"]["name"]: "model"} | {
        baseline.name.replace("-", " "): baseline.key for baseline in baselines(metrics)
    }
    lines = {name: tuple(scores[key].get(measure) for measure in columns) for name, key in keys.items()}
    if "cost" in columns:
        constant = cost_baselines(metrics)[2:]
        lines |= {
            baseline.name: tuple(baseline.score if key == "cost" else None for key in columns) for baseline in constant
        }
    titles, shown = zip(*columns.values(), strict=True)
    return ScoreTable(titles, tuple(metric.form for metric in shown), lines)
