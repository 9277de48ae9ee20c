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
    from thalweg.evaluate.alerts import AlertMeter as AlertMeter
    from thalweg.evaluate.alerts import Alerts as Alerts
    from thalweg.evaluate.alerts import AlertScores as AlertScores
    from thalweg.evaluate.averages import Average as Average
    from thalweg.evaluate.averages import Cumulative as Cumulative
    from thalweg.evaluate.averages import Fading as Fading
    from thalweg.evaluate.averages import Windowed as Windowed
    from thalweg.evaluate.confusion import balanced_accuracy as balanced_accuracy
    from thalweg.evaluate.confusion import cost as cost
    from thalweg.evaluate.confusion import f1 as f1
    from thalweg.evaluate.confusion import g_mean as g_mean
    from thalweg.evaluate.confusion import kappa as kappa
    from thalweg.evaluate.confusion import macro as macro
    from thalweg.evaluate.confusion import matthews as matthews
    from thalweg.evaluate.confusion import precision as precision
    from thalweg.evaluate.confusion import recall as recall
    from thalweg.evaluate.distances import axis_distance as axis_distance
    from thalweg.evaluate.distances import distance as distance
    from thalweg.evaluate.distances import subspace_overlap as subspace_overlap
    from thalweg.evaluate.drift import ChangeDetector as ChangeDetector
    from thalweg.evaluate.holdout_evaluation import StepRecord as StepRecord
    from thalweg.evaluate.holdout_evaluation import Steps as Steps
    from thalweg.evaluate.holdout_evaluation import collect_steps as collect_steps
    from thalweg.evaluate.holdout_evaluation import draw_start as draw_start
    from thalweg.evaluate.holdout_evaluation import holdout as holdout
    from thalweg.evaluate.input_drift import InputDrift as InputDrift
    from thalweg.evaluate.metrics import METRICS as METRICS
    from thalweg.evaluate.metrics import Means as Means
    from thalweg.evaluate.metrics import Metric as Metric
    from thalweg.evaluate.prequential_evaluation import prequential as prequential
    from thalweg.evaluate.probability_scores import Reliability as Reliability
    from thalweg.evaluate.record import NO_PREDICTION as NO_PREDICTION
    from thalweg.evaluate.record import Record as Record
    from thalweg.evaluate.record import RegressionRecord as RegressionRecord
    from thalweg.evaluate.regret import BestWeights as BestWeights
    from thalweg.evaluate.regret import KnownLine as KnownLine
    from thalweg.evaluate.regret import KnownWeights as KnownWeights
    from thalweg.evaluate.regret import Regret as Regret
    from thalweg.evaluate.regret import RegretRecord as RegretRecord
    from thalweg.evaluate.regret import regrets as regrets
    from thalweg.evaluate.scorer import Curve as Curve
    from thalweg.evaluate.scorer import Meter as Meter
    from thalweg.evaluate.scorer import Scores as Scores
    from thalweg.evaluate.scorer import Summary as Summary
    from thalweg.evaluate.scorer import cumulative_accuracy as cumulative_accuracy
    from thalweg.evaluate.scorer import curve as curve
    from thalweg.evaluate.scorer import summarise as summarise
    from thalweg.evaluate.significance import Friedman as Friedman
    from thalweg.evaluate.significance import Interval as Interval
    from thalweg.evaluate.significance import McNemar as McNemar
    from thalweg.evaluate.significance import PairedT as PairedT
    from thalweg.evaluate.significance import Wilcoxon as Wilcoxon
    from thalweg.evaluate.significance import friedman as friedman
    from thalweg.evaluate.significance import holm as holm
    from thalweg.evaluate.significance import mcnemar as mcnemar
    from thalweg.evaluate.significance import mcnemar_of_counts as mcnemar_of_counts
    from thalweg.evaluate.significance import mean_interval as mean_interval
    from thalweg.evaluate.significance import nemenyi_difference as nemenyi_difference
    from thalweg.evaluate.significance import paired_t_test as paired_t_test
    from thalweg.evaluate.significance import wilcoxon as wilcoxon
    from thalweg.run.evaluation import compare as compare
    from thalweg.run.evaluation import run as run
    from thalweg.run.result import Comparison as Comparison
    from thalweg.run.result import Result as Result

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
    "probability_scores": "Reliability",
    "record": "NO_PREDICTION Record RegressionRecord",
    "regret": "BestWeights KnownLine KnownWeights Regret RegretRecord regrets",
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


__all__ = __dir__()
