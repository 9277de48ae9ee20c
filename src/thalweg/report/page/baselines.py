"""What a model is compared with: how each baseline is called, its score, and the model's less it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from thalweg.report.page.formats import counted
from thalweg.run_metrics import Difference, Known, Metrics, loss_of

_NAMES = {
    "no_change": "no-change",
    "majority": "majority",
    "last_value": "the last value",
    "running_mean": "the running mean",
    "running_median": "the running median",
}


class Baseline(NamedTuple):
    key: str
    name: str
    #: In a sentence.
    phrase: str
    score: Known
    difference: Difference


def baseline_names(metrics: Mapping[str, Any]) -> dict[str, str]:
    """By key, how each baseline is called in a sentence."""
    season = metrics["run"]["options"].get("season")
    names = _NAMES | {"season": f"the value {counted(int(season or 0), 'row')} ago"}
    return {key: names[key] for key in metrics["verdict"]}


def baselines(metrics: Metrics) -> list[Baseline]:
    """Those of the run, by the metric by which models are compared."""
    loss, scores, verdict = loss_of(metrics).name, metrics["scores"], metrics["verdict"]
    return [
        Baseline(key, name.removeprefix("the "), name, scores[key][loss], verdict[key][loss])
        for key, name in baseline_names(metrics).items()
    ]


def best_baseline(metrics: Metrics) -> Baseline:
    """The one with the smallest error, which is the hardest to beat; the first of several."""
    return min(baselines(metrics), key=lambda each: each.score or 0.0)


def cost_baselines(metrics: Metrics) -> list[Baseline]:
    """What the cost of a row is compared with; empty without costs."""
    costs, scores, positive = metrics["rare"]["costs"], metrics["scores"], metrics["rare"]["positive"]
    if costs is None:
        return []
    compared = [
        Baseline("majority", "majority", "majority", scores["majority"].get("cost"), costs["majority"]),
        Baseline("no_change", "no-change", "no-change", scores["no_change"].get("cost"), costs["no_change"]),
    ]
    for name, constant in (("always", costs["always"]), ("never", costs["never"])):
        phrase = f"{name} predicting {positive}"
        compared.append(Baseline(name, f"{name} {positive}", phrase, constant["cost"], constant))
    return compared
