"""Evaluation: records of predictions on a stream, and scores computed from them.

Examples
--------
>>> from sklearn.linear_model import SGDClassifier
>>> from thalweg.evaluate import prequential, summarise
>>> from thalweg.streams import Stagger
>>> summary = summarise(prequential(SGDClassifier(random_state=0), Stagger(seed=1)))
>>> summary.rows
120
>>> summary.model.error < summary.no_change.error
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import lazy_loader

if TYPE_CHECKING:
    from thalweg.evaluate.alerts import AlertMeter, Alerts, AlertScores
    from thalweg.evaluate.averages import Average, Cumulative, Fading, Windowed
    from thalweg.evaluate.confusion import (
        balanced_accuracy,
        cost,
        f1,
        g_mean,
        kappa,
        macro,
        matthews,
        precision,
        recall,
    )
    from thalweg.evaluate.distances import axis_distance, distance, subspace_overlap
    from thalweg.evaluate.drift import ChangeDetector
    from thalweg.evaluate.holdout_evaluation import StepRecord, Steps, collect_steps, draw_start, holdout
    from thalweg.evaluate.input_drift import InputDrift
    from thalweg.evaluate.metrics import METRICS, Means, Metric
    from thalweg.evaluate.prequential_evaluation import prequential
    from thalweg.evaluate.record import NO_PREDICTION, Record, RegressionRecord
    from thalweg.evaluate.regret import BestWeights, KnownLine, KnownWeights, Regret, RegretRecord, regrets
    from thalweg.evaluate.reliability import Reliability
    from thalweg.evaluate.scorer import Curve, Meter, Scores, Summary, cumulative_accuracy, curve, summarise
    from thalweg.evaluate.significance import (
        Friedman,
        Interval,
        McNemar,
        PairedT,
        Wilcoxon,
        friedman,
        holm,
        mcnemar,
        mcnemar_of_counts,
        mean_interval,
        nemenyi_difference,
        paired_t_test,
        wilcoxon,
    )
    from thalweg.run.evaluation import compare, run
    from thalweg.run.result import Comparison, Result

__all__ = [
    "METRICS",
    "NO_PREDICTION",
    "AlertMeter",
    "AlertScores",
    "Alerts",
    "Average",
    "BestWeights",
    "ChangeDetector",
    "Comparison",
    "Cumulative",
    "Curve",
    "Fading",
    "Friedman",
    "InputDrift",
    "Interval",
    "KnownLine",
    "KnownWeights",
    "McNemar",
    "Means",
    "Meter",
    "Metric",
    "PairedT",
    "Record",
    "RegressionRecord",
    "Regret",
    "RegretRecord",
    "Reliability",
    "Result",
    "Scores",
    "StepRecord",
    "Steps",
    "Summary",
    "Wilcoxon",
    "Windowed",
    "axis_distance",
    "balanced_accuracy",
    "collect_steps",
    "compare",
    "cost",
    "cumulative_accuracy",
    "curve",
    "distance",
    "draw_start",
    "f1",
    "friedman",
    "g_mean",
    "holdout",
    "holm",
    "kappa",
    "macro",
    "matthews",
    "mcnemar",
    "mcnemar_of_counts",
    "mean_interval",
    "nemenyi_difference",
    "paired_t_test",
    "precision",
    "prequential",
    "recall",
    "regrets",
    "run",
    "subspace_overlap",
    "summarise",
    "wilcoxon",
]

#: By module: a run and the service need a few of these modules at their start, and should not pay for all.
_NAMES = {
    "alerts": "AlertMeter Alerts AlertScores",
    "averages": "Average Cumulative Fading Windowed",
    "confusion": "balanced_accuracy cost f1 g_mean kappa macro matthews precision recall",
    "distances": "axis_distance distance subspace_overlap",
    "drift": "ChangeDetector",
    "holdout_evaluation": "StepRecord Steps collect_steps draw_start holdout",
    "input_drift": "InputDrift",
    "metrics": "METRICS Means Metric",
    "prequential_evaluation": "prequential",
    "record": "NO_PREDICTION Record RegressionRecord",
    "regret": "BestWeights KnownLine KnownWeights Regret RegretRecord regrets",
    "reliability": "Reliability",
    "scorer": "Curve Meter Scores Summary cumulative_accuracy curve summarise",
    "significance": (
        "Friedman Interval McNemar PairedT Wilcoxon friedman holm mcnemar mcnemar_of_counts "
        "mean_interval nemenyi_difference paired_t_test wilcoxon"
    ),
}
_own, _own_names, _ = lazy_loader.attach(
    __name__, submod_attrs={module: names.split() for module, names in _NAMES.items()}
)
#: Names of a higher layer, which are evaluation to a reader: what `thalweg run` does, on rows in memory.
_OF_RUNS = {"Comparison": "result", "Result": "result", "compare": "evaluation", "run": "evaluation"}


def __getattr__(name: str) -> Any:
    if name in _OF_RUNS:
        return getattr(import_module(f"thalweg.run.{_OF_RUNS[name]}"), name)
    return _own(name)


def __dir__() -> list[str]:
    return [*_own_names(), *_OF_RUNS]
