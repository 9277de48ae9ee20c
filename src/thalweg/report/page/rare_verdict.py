"""The top of the page where the error hides what matters: a rare class, costs, or alerts."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from thalweg.report.page.formats import capital, count, counted, listed, percent, plain, short
from thalweg.report.page.standing import (
    Bar,
    Baseline,
    Standing,
    bars,
    cost_baselines,
    how_intervals_are_made,
    interval,
    standing,
)
from thalweg.run_metrics import Known, Metrics, Score, is_regression

Question = Literal["costs", "alerts", "positive", "classes"]

#: A class is rare below this share of the rows, and below this part of what it would have if all were equally frequent.
_RARE, _OF_EQUAL = 0.1, 0.5
#: Of more than two classes, the rare ones together have at least this share: a few odd labels change no report.
_LEAST_TOGETHER = 0.01
#: Windows without which the area under the curve has no interval over time, and rows of either kind without which it
#: has none at all.
_LEAST_WINDOWS, _LEAST_OF_EACH = 3, 10
_MOST_NAMED = 5


def question(metrics: Metrics) -> Question | None:
    """What the report is about, beside the error: what was asked for, or classes that are rare; None for the error."""
    if is_regression(metrics) or not metrics["rows"]["scored"]:
        return None
    rare = metrics["rare"]
    positive = rare["positive"] is not None and rare["share"] is not None
    if positive and rare["costs"] is not None:
        return "costs"
    if positive and rare["alerts"] is not None:
        return "alerts"
    if positive and rare["named"]:
        return "positive"
    rows = rare["classes"]["rows"]
    equal = _OF_EQUAL * sum(rows) / max(len(rows), 1)
    few = [count for count in rows if count < min(_RARE * sum(rows), equal)]
    if not few or len(rows) < 2:
        return None
    if len(rows) == 2:
        return "positive" if positive and rare["classes"]["labels"][rows.index(min(rows))] == rare["positive"] else None
    return "classes" if sum(few) >= _LEAST_TOGETHER * sum(rows) else None


def _model(metrics: Metrics) -> Score:
    return metrics["scores"]["model"]


def _reference(metrics: Metrics) -> Baseline:
    return min(cost_baselines(metrics), key=lambda baseline: math.inf if baseline.score is None else baseline.score)


def no_change_area(metrics: Metrics) -> Known:
    """PR AUC of no-change, whose ranking has two steps: the rows that it predicts as the label, and all others."""
    score, share = metrics["scores"]["no_change"], metrics["rare"]["share"]
    recall, precision = score.get("recall"), score.get("precision")
    if recall is None or share is None:
        return share
    return recall * (precision or 0.0) + (1.0 - recall) * share


def _no_change_wins(metrics: Metrics) -> str:
    """By what repeating the last label finds the label of interest as well as the model; empty where it does not.

    It does where it ranks the rows as well, or where recall and precision are as high and the error is as low.
    """
    rare = metrics["rare"]
    model, other, area = _model(metrics), metrics["scores"]["no_change"], no_change_area(metrics)
    own_area = model.get("pr_auc")
    if own_area is not None and area is not None and own_area <= area:
        return f"PR AUC {plain(own_area)} against {plain(area)} ({plain(rare['share'])} by chance)"
    pairs = ((model.get("recall"), other.get("recall")), (model.get("precision"), other.get("precision")))
    error, others = metrics["scores"]["model"]["error"], metrics["scores"]["no_change"]["error"]
    as_low = error is not None and others is not None and others <= error
    if as_low and all(theirs is not None and (own or 0.0) <= theirs for own, theirs in pairs):
        return f"error {percent(error)} against {percent(others)}"
    return ""


def tone(metrics: Metrics, asked: Question) -> Standing:
    """By the interval of the cost; else worse where no-change is as good, and by the area under the ROC curve."""
    if asked == "costs":
        return standing(_reference(metrics).difference)
    return "worse" if _no_change_wins(metrics) else beside_chance(metrics)


def beside_chance(metrics: Metrics) -> Standing:
    """Whether the area under the ROC curve differs from one half, by its windows; of few, as ranks of single rows."""
    rare, rows = metrics["rare"], metrics["rows"]["scored"]
    curve, area, share = rare["curve"], _model(metrics).get("roc_auc"), rare["share"]
    if curve is None or area is None or share is None:
        return "unknown"
    areas: list[float] = []
    last = 0
    for row, windowed in zip(curve["rows"], curve["roc_auc"], strict=True):
        if row >= last + curve["window"] and windowed is not None:
            areas.append(windowed)
            last = row
    if len(areas) >= _LEAST_WINDOWS:
        half = float(stdtrit(len(areas) - 1, 0.975) * np.std(areas, ddof=1)) / math.sqrt(len(areas))
        area = float(np.mean(areas))
    else:
        positives = share * rows
        if min(positives, rows - positives) < _LEAST_OF_EACH:
            return "unknown"
        half = 1.96 * math.sqrt((rows + 1) / (12.0 * positives * (rows - positives)))  # Mann and Whitney's
    return "better" if area - half > 0.5 else "worse" if area + half < 0.5 else "even"


def headline(metrics: Metrics, asked: Question) -> str:
    if asked == "costs":
        name, cost, difference = _reference(metrics)[2:]
        cost_in_words = f"{short(_model(metrics).get('cost'))} a row instead of {short(cost)}"
        match standing(difference):
            case "better":
                return f"Cheaper than {name}: {cost_in_words}."
            case "worse":
                return f"Dearer than {name}: {cost_in_words}."
            case "even":
                return f"No significant difference in cost from {name}: {cost_in_words}."
            case _:
                return f"Too few rows to compare its cost with that of {name}."
    rare, model = metrics["rare"], _model(metrics)
    area, other, share = model.get("pr_auc"), plain(no_change_area(metrics)), plain(rare["share"])
    if scores := _no_change_wins(metrics):
        sentence = f"Not better than no-change, which repeats the last label: {scores}"
    elif area is None:
        theirs = metrics["scores"]["no_change"].get("f1")
        sentence = f"F1 {plain(model.get('f1'))}, where no-change has {plain(theirs)}"
    else:
        scores = f"PR AUC {plain(area)}, where no-change has {other} and chance {share}"
        match beside_chance(metrics):
            case "better":
                sentence = f"Better than chance: {scores}"
            case "worse":
                sentence = f"Worse than chance by its ROC AUC, {plain(model.get('roc_auc'))}: {scores}"
            case "even":
                sentence = f"No significant difference from chance: {scores}"
            case _:
                sentence = f"Too few rows to compare it with chance: {scores}"
    alerts = rare["alerts"]
    if asked == "alerts" and alerts is not None:
        return (
            f"{sentence}. {percent(alerts['precision'])} of the alerts are right; "
            f"they hold {percent(alerts['recall'])} of the positives."
        )
    return f"{sentence}; recall {percent(model.get('recall'))}."


def balanced_accuracy(metrics: Metrics) -> str:
    """The mean recall over the classes beside those of the baselines, behind the headline about the error."""
    rare = metrics["rare"]
    of = {name: scores["balanced_accuracy"] for name, scores in metrics["scores"].items()}
    others = f"no-change {percent(of['no_change'])}, majority {percent(of['majority'])}"
    return f" Balanced accuracy over {count(len(rare['classes']['labels']))} classes {percent(of['model'])} ({others})."


def findings(metrics: Metrics, asked: Question) -> list[str]:
    """What happened, by the question asked; the error last."""
    title, rows = metrics["model"]["title"], counted(metrics["rows"]["scored"], "row")
    happened = f"{title} predicted each row before it learned that row’s label."
    sentences = _of_classes(metrics, rows) if asked == "classes" else _of_positive(metrics, rows)
    scores = metrics["scores"]
    error = {name: percent(own["error"]) for name, own in scores.items()}
    sentences.append(
        f"The error, {error['model']}, counts the frequent classes most; repeating the last label known at the time "
        f"(no-change) would have got {error['no_change']} wrong, always giving the most frequent label so far "
        f"(majority) {error['majority']}."
    )
    return [f"{happened} {sentences[0]}", *sentences[1:]]


def _of_positive(metrics: Metrics, rows: str) -> list[str]:
    rare = metrics["rare"]
    model, positive = _model(metrics), rare["positive"]
    sentences = [
        f"{percent(rare['share'])} of {rows} have the label {positive}. It found {percent(model.get('recall'))} of "
        f"them (recall), and {percent(model.get('precision'))} of the rows that it predicted as {positive} were "
        "(precision)."
    ]
    if model.get("pr_auc") is not None:
        curve = rare["curve"]
        recent = ""
        if curve and metrics["rows"]["scored"] > curve["window"]:
            recent = (
                f" Over the last {count(curve['window'])} rows they are {plain(model.get('recent_pr_auc'))} and "
                f"{plain(model.get('recent_roc_auc'))}."
            )
        sentences.append(
            f"With the rows ranked by P({positive}), the area under the precision-recall curve (PR AUC) is "
            f"{plain(model.get('pr_auc'))} ({plain(rare['share'])} by chance, {plain(no_change_area(metrics))} by "
            f"repeating the last label), and that under the ROC curve "
            f"{plain(model.get('roc_auc'))} (0.5 by chance).{recent}"
        )
    if rare["alerts"] is not None:
        alerts = rare["alerts"]
        sentences.append(
            f"{counted(alerts['count'], 'alert')} per {alerts['per']}, the rows with the highest P({positive}): "
            f"{percent(alerts['precision'])} of {counted(alerts['alerts'], 'alert')} are right, and they hold "
            f"{count(alerts['found'])} of {counted(alerts['positives'], 'positive')}, {percent(alerts['recall'])}, "
            f"over {counted(alerts['periods'], 'period')}."
        )
    if rare["costs"] is not None:
        costs = rare["costs"]
        others = ", ".join(f"with {baseline.phrase} {short(baseline.score)}" for baseline in cost_baselines(metrics))
        sentences.append(
            f"With a cost of {short(costs['fp'])} for a false positive and {short(costs['fn'])} for a false negative, "
            f"a row costs {short(model.get('cost'))}; {others}."
        )
    return sentences


def _of_classes(metrics: Metrics, rows: str) -> list[str]:
    rare = metrics["rare"]
    classes, scores = rare["classes"], metrics["scores"]
    rarest = min(range(len(classes["rows"])), key=lambda at: classes["rows"][at])
    missed = [label for label, share in zip(classes["labels"], classes["recall"], strict=True) if not share]
    never = ""
    if missed:
        of = "the class" if len(missed) == 1 else f"{count(len(missed))} classes:"
        more = len(missed) - _MOST_NAMED
        named = listed([*missed[:_MOST_NAMED], *([f"{count(more)} more"] if more > 0 else [])])
        never = f" It found no row of {of} {named}."
    return [
        f"{capital(rows)} have {count(len(classes['labels']))} labels; the rarest, "
        f"{classes['labels'][rarest]}, has {count(classes['rows'][rarest])}.",
        f"On average over the classes it finds {percent(scores['model']['balanced_accuracy'])} of the rows of a class "
        f"(balanced accuracy; majority {percent(scores['majority']['balanced_accuracy'])}, no-change "
        f"{percent(scores['no_change']['balanced_accuracy'])}).{never}",
    ]


def fine_print(metrics: Metrics, asked: Question) -> str:
    """How the interval was made; empty where there is none."""
    return how_intervals_are_made(_reference(metrics).difference, "Mistakes") if asked == "costs" else ""


def intervals(metrics: Metrics, asked: Question) -> list[Bar]:
    """The cost beside that of each baseline."""
    if asked != "costs":
        return []
    return bars(
        {
            baseline.name: (baseline.difference, interval(baseline.difference, short, "less"))
            for baseline in cost_baselines(metrics)
        }
    )
