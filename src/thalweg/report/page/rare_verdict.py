"""The top of the page where the error hides what matters: a rare class, costs, or alerts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple, cast

import numpy as np
from scipy.special import stdtrit

from thalweg.report.page.content import Difference, Known, Metrics, Rare, RareScore
from thalweg.report.page.formats import count, counted, percent, plain, short
from thalweg.report.page.standing import Bar, Standing, Tile, bars, interval, standing

Question = Literal["costs", "alerts", "positive", "classes"]

#: A class is rare below this share of the rows, and below this part of what it would have if all were equally frequent.
_RARE, _OF_EQUAL = 0.1, 0.5
#: Of more than two classes, the rare ones together have at least this share: a few odd labels change no report.
_LEAST_TOGETHER = 0.01
#: Windows without which no interval is given for the area under the curve.
_LEAST_WINDOWS = 3
_MOST_NAMED = 5


def question(metrics: Metrics) -> Question | None:
    """What the report is about, beside the error: what was asked for, or classes that are rare; None for the error."""
    rare = metrics.get("rare")
    if rare is None or not metrics["rows"]["scored"]:
        return None
    positive = rare["positive"] is not None and rare["share"] is not None
    if positive and rare["costs"] is not None:
        return "costs"
    if positive and rare["alerts"] is not None:
        return "alerts"
    if positive and rare["named"]:
        return "positive"
    rows = rare["classes"]["rows"]
    equal = _OF_EQUAL * sum(rows) / max(len(rows), 1)
    few = [each for each in rows if each < min(_RARE * sum(rows), equal)]
    if not few or len(rows) < 2:
        return None
    if len(rows) == 2:
        return "positive" if positive and rare["classes"]["labels"][rows.index(min(rows))] == rare["positive"] else None
    return "classes" if sum(few) >= _LEAST_TOGETHER * sum(rows) else None


def _rare(metrics: Metrics) -> Rare:
    rare = metrics.get("rare")
    assert rare is not None
    return rare


def _model(metrics: Metrics) -> RareScore:
    return _rare(metrics)["scores"]["model"]


class CostBaseline(NamedTuple):
    name: str
    #: In a sentence.
    phrase: str
    difference: Difference
    cost: Known


def cost_baselines(rare: Rare) -> list[CostBaseline]:
    """What the cost of a row is compared with; empty without costs."""
    costs, scores, positive = rare["costs"], rare["scores"], rare["positive"]
    if costs is None:
        return []
    found = [
        CostBaseline("majority", "majority", costs["majority"], scores["majority"].get("cost")),
        CostBaseline("no-change", "no-change", costs["no_change"], scores["no_change"].get("cost")),
    ]
    for name, constant in (("always", costs.get("always")), ("never", costs.get("never"))):
        if constant is not None:
            phrase = f"{name} predicting {positive}"
            found.append(CostBaseline(f"{name} {positive}", phrase, constant, constant["cost"]))
    return found


def _reference(metrics: Metrics) -> CostBaseline:
    """The cheapest of the baselines."""
    return min(cost_baselines(_rare(metrics)), key=lambda each: math.inf if each.cost is None else each.cost)


def tone(metrics: Metrics, asked: Question) -> Standing:
    """By the interval of the cost, or by that of the area under the ROC curve beside one half."""
    if asked == "costs":
        return standing(_reference(metrics).difference)
    curve = _rare(metrics)["curve"]
    if curve is None:
        return "unknown"
    areas: list[float] = []
    last = 0
    for row, area in zip(curve["rows"], curve["roc_auc"], strict=True):
        if row >= last + curve["window"] and area is not None:
            areas.append(area)
            last = row
    if len(areas) < _LEAST_WINDOWS:
        return "unknown"
    half = float(stdtrit(len(areas) - 1, 0.975) * np.std(areas, ddof=1)) / math.sqrt(len(areas))
    mean = float(np.mean(areas))
    return "better" if mean - half > 0.5 else "worse" if mean + half < 0.5 else "even"


def headline(metrics: Metrics, asked: Question) -> str:
    rare, model = _rare(metrics), _model(metrics)
    if asked == "costs":
        _, name, difference, cost = _reference(metrics)
        found = f"{short(model.get('cost'))} a row instead of {short(cost)}"
        match standing(difference):
            case "better":
                return f"Cheaper than {name}: {found}."
            case "worse":
                return f"Dearer than {name}: {found}."
            case "even":
                return f"No significant difference in cost from {name}: {found}."
            case _:
                return f"Too few rows to compare its cost with that of {name}."
    if asked == "alerts":
        alerts = rare["alerts"]
        assert alerts is not None
        return (
            f"{percent(alerts['precision'])} of the alerts are right; "
            f"they hold {percent(alerts['recall'])} of the positives."
        )
    if asked == "positive":
        area = model.get("pr_auc")
        if area is None:
            return f"Finds {percent(model.get('recall'))} of {rare['positive']}."
        return f"PR AUC {plain(area)} ({plain(rare['share'])} by chance); recall {percent(model.get('recall'))}."
    classes = rare["classes"]["labels"]
    return f"Balanced accuracy {percent(model['balanced_accuracy'])} over {count(len(classes))} classes."


def findings(metrics: Metrics, asked: Question) -> list[str]:
    """What happened, by the question asked; the error last."""
    title, rows = metrics["model"]["title"], counted(metrics["rows"]["scored"], "row")
    happened = f"{title} predicted each row before it learned that row’s label."
    said = _of_classes(metrics, rows) if asked == "classes" else _of_positive(metrics, rows)
    scores = metrics["scores"]
    error, majority = percent(scores["model"]["error"]), percent(scores["majority"]["error"])
    said.append(
        f"The error, {error}, counts the frequent classes most; always giving the most frequent label so far "
        f"(majority) would have got {majority} wrong."
    )
    return [f"{happened} {said[0]}", *said[1:]]


def _of_positive(metrics: Metrics, rows: str) -> list[str]:
    rare = _rare(metrics)
    model, positive = rare["scores"]["model"], rare["positive"]
    said = [
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
        said.append(
            f"With the rows ranked by P({positive}), the area under the precision-recall curve (PR AUC) is "
            f"{plain(model.get('pr_auc'))} ({plain(rare['share'])} by chance), and that under the ROC curve "
            f"{plain(model.get('roc_auc'))} (0.5 by chance).{recent}"
        )
    if rare["alerts"] is not None:
        alerts = rare["alerts"]
        said.append(
            f"{counted(alerts['count'], 'alert')} per {alerts['per']}, the rows with the highest P({positive}): "
            f"{percent(alerts['precision'])} of {counted(alerts['alerts'], 'alert')} are right, and they hold "
            f"{count(alerts['found'])} of {counted(alerts['positives'], 'positive')}, {percent(alerts['recall'])}, "
            f"over {counted(alerts['periods'], 'period')}."
        )
    if rare["costs"] is not None:
        costs = rare["costs"]
        others = ", ".join(f"with {each.phrase} {short(each.cost)}" for each in cost_baselines(rare))
        said.append(
            f"With a cost of {short(costs['fp'])} for a false positive and {short(costs['fn'])} for a false negative, "
            f"a row costs {short(model.get('cost'))}; {others}."
        )
    return said


def _of_classes(metrics: Metrics, rows: str) -> list[str]:
    rare = _rare(metrics)
    classes, scores = rare["classes"], rare["scores"]
    rarest = min(range(len(classes["rows"])), key=lambda at: classes["rows"][at])
    missed = [label for label, share in zip(classes["labels"], classes["recall"], strict=True) if not share]
    never = ""
    if missed:
        named = ", ".join(missed[:_MOST_NAMED]) + (" …" if len(missed) > _MOST_NAMED else "")
        never = f" {count(len(missed))} {'is' if len(missed) == 1 else 'are'} never found: {named}."
    return [
        f"{rows[0].upper()}{rows[1:]} have {count(len(classes['labels']))} labels; the rarest, "
        f"{classes['labels'][rarest]}, has {count(classes['rows'][rarest])}.",
        f"On average over the classes it finds {percent(scores['model']['balanced_accuracy'])} of the rows of a class "
        f"(balanced accuracy; majority {percent(scores['majority']['balanced_accuracy'])}, no-change "
        f"{percent(scores['no_change']['balanced_accuracy'])}).{never}",
    ]


def fine_print(metrics: Metrics, asked: Question) -> str:
    """How the interval was made; empty where there is none."""
    if asked != "costs" or standing(difference := _reference(metrics).difference) == "unknown":
        return ""
    return (
        f"Mistakes of neighbouring rows go together, so the intervals come from the means of "
        f"{count(difference['blocks'])} blocks of {counted(difference['block_rows'], 'row')}, not from single rows."
    )


def intervals(metrics: Metrics, asked: Question) -> list[Bar]:
    """The cost beside that of each baseline."""
    if asked != "costs":
        return []
    return bars(
        {
            each.name: (each.difference, interval(each.difference, short, "less"))
            for each in cost_baselines(_rare(metrics))
        }
    )


def tiles(metrics: Metrics, asked: Question) -> list[Tile]:
    """The scores that the question asks for first."""
    rare = _rare(metrics)
    written: dict[str, Callable[[Known], str]] = {"percent": percent, "plain": plain, "short": short}
    found = []
    for name, key, form, meaning in _OF_CLASSES if asked == "classes" else _of_asked(rare):
        scores = (rare["scores"]["model"], rare["scores"]["no_change"], rare["scores"]["majority"])
        values = [written[form](cast(Known, each.get(key))) for each in scores]
        beside = f"no-change {values[1]} · majority {values[2]}"
        if key == "cost":
            beside = " · ".join(f"{each.name} {short(each.cost)}" for each in cost_baselines(rare))
        found.append(Tile(name, values[0], beside, meaning))
    return found if asked == "classes" else _with_areas(found, rare)


#: Name, key, form and meaning of the scores by class.
_OF_CLASSES = (
    ("Balanced accuracy", "balanced_accuracy", "percent", "mean recall over the classes"),
    ("Macro F1", "macro_f1", "plain", "mean over the classes"),
    ("G-mean", "g_mean", "plain", "0 where a class is never found"),
    ("Matthews", "matthews", "plain", "correlation with the truth, from −1 to 1"),
)


def _of_asked(rare: Rare) -> list[tuple[str, str, str, str]]:
    cost = [("Cost of a row", "cost", "short", "less is better")] if rare["costs"] is not None else []
    return [
        *cost,
        ("Recall", "recall", "percent", f"share of {rare['positive']} that is found"),
        ("Precision", "precision", "percent", f"of what is predicted as {rare['positive']}"),
    ]


def _with_areas(scores: list[Tile], rare: Rare) -> list[Tile]:
    """Alerts and areas, which only a model has, among the scores that the baselines have, too."""
    model, alerts, reliability = rare["scores"]["model"], rare["alerts"], rare["reliability"]
    first, areas = [tile for tile in scores if tile.name == "Cost of a row"], []
    if alerts is not None:
        found = f"they hold {percent(alerts['recall'])} of the positives"
        per = f"{count(alerts['count'])} per {alerts['per']}"
        first.append(Tile("Alerts that are right", percent(alerts["precision"]), per, found))
    if model.get("pr_auc") is not None:
        pr_auc, roc_auc = plain(model.get("pr_auc")), plain(model.get("roc_auc"))
        first.append(Tile("PR AUC", pr_auc, f"by chance {plain(rare['share'])}", "area under precision and recall"))
        areas.append(Tile("ROC AUC", roc_auc, "by chance 0.5", "pairs in the right order"))
    if reliability is not None:
        wrong = percent(reliability["expected_error"])
        areas.append(Tile("Calibration error", wrong, "", f"of P({rare['positive']}), on average"))
    recall_and_more = [tile for tile in scores if tile.name != "Cost of a row"]
    return [*first, *recall_and_more[:2], *areas, *recall_and_more[2:]]
