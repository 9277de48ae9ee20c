"""What is shown first of a run, in the terminal and in a notebook: the verdict, and scores beside the baselines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from thalweg.report.page import number_verdict, verdict
from thalweg.report.page.content import Known, as_metrics
from thalweg.report.page.number_content import as_number_metrics, is_regression
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
    lines: dict[str, tuple[Known, ...]]


def verdict_of(metrics: Mapping[str, Any]) -> Verdict:
    """Better or worse than the baselines, in words."""
    if is_regression(metrics):
        numbers = as_number_metrics(metrics)
        return Verdict(number_verdict.headline(numbers), number_verdict.findings(numbers), number_verdict.tone(numbers))
    labels = as_metrics(metrics)
    return Verdict(verdict.headline(labels), verdict.findings(labels), verdict.tone(labels))


def score_table(metrics: Mapping[str, Any]) -> ScoreTable:
    """The measures that the question of the run asks for."""
    return _of_numbers(metrics) if is_regression(metrics) else _of_labels(metrics)


def _of_labels(metrics: Mapping[str, Any]) -> ScoreTable:
    scores = metrics["scores"]
    names = {metrics["model"]["name"]: "model", "no change": "no_change", "majority": "majority"}
    recent = recent_rows(metrics)
    measures = {"error": "error", recent: "recent_error", "κ": "kappa", "κ temporal": "kappa_temporal"}
    if asked := question(as_metrics(metrics)):
        measures = {"balanced accuracy": "balanced_accuracy", "macro F1": "macro_f1", "G-mean": "g_mean"}
        if asked != "classes":
            scores = scores | {"no_change": {"pr_auc": no_change_area(as_metrics(metrics))} | scores["no_change"]}
            measures = {"PR AUC": "pr_auc", "ROC AUC": "roc_auc", "recall": "recall", "precision": "precision"}
        measures |= {"cost": "cost", "error": "error"} if "cost" in scores["model"] else {"error": "error"}
    lines = {name: tuple(scores[key].get(measure) for measure in measures.values()) for name, key in names.items()}
    if asked and "cost" in measures:
        constant = cost_baselines(as_metrics(metrics))[2:]
        lines |= {each.name: tuple(each.cost if key == "cost" else None for key in measures) for each in constant}
    return ScoreTable(tuple(measures), lines)


def _of_numbers(metrics: Mapping[str, Any]) -> ScoreTable:
    found = as_number_metrics(metrics)
    measures = {
        "MAE": "mae",
        "RMSE": "rmse",
        "R²": "r2",
        f"MAE,\n{recent_rows(metrics)}": "recent_mae",
    }
    names = {"model": metrics["model"]["name"]} | number_verdict.baseline_names(found)
    lines = {
        name.removeprefix("the "): tuple(metrics["scores"][key][measure] for measure in measures.values())
        for key, name in names.items()
    }
    return ScoreTable(tuple(measures), lines)
