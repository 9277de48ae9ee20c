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
    from thalweg.evaluate.confusion import (
        ClassScores,
        balanced_accuracy,
        class_scores,
        cost,
        f1,
        g_mean,
        matthews,
        precision,
        recall,
    )
    from thalweg.evaluate.distances import axis_distance, distance, subspace_overlap
    from thalweg.evaluate.drift import ChangeDetector
    from thalweg.evaluate.history import (
        Average,
        Cumulative,
        Curve,
        Fading,
        Meter,
        Scores,
        Summary,
        Windowed,
        cumulative_accuracy,
        curve,
        summarise,
    )
    from thalweg.evaluate.holdout_evaluation import StepRecord, Steps, collect_steps, draw_start, holdout
    from thalweg.evaluate.input_drift import InputDrift
    from thalweg.evaluate.metrics import Means, brier, error, kappa, kappa_temporal, log_loss
    from thalweg.evaluate.prequential_evaluation import prequential
    from thalweg.evaluate.rare_classes import RareCurve, RareMeter, RareSummary, curve_rare, summarise_rare
    from thalweg.evaluate.record import NO_PREDICTION, Record
    from thalweg.evaluate.regression import (
        CoverageScores,
        RegressionCurve,
        RegressionRecord,
        RegressionScores,
        RegressionSummary,
        curve_regression,
        prequential_regression,
        summarise_regression,
    )
    from thalweg.evaluate.regret import BestWeights, KnownLine, KnownWeights, Regret, RegretRecord, regrets
    from thalweg.evaluate.reliability import Reliability
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
    from thalweg.run.comparison import Comparison
    from thalweg.run.evaluation import compare, run
    from thalweg.run.result import Result

__all__ = [
    "NO_PREDICTION",
    "AlertMeter",
    "AlertScores",
    "Alerts",
    "Average",
    "BestWeights",
    "ChangeDetector",
    "ClassScores",
    "Comparison",
    "CoverageScores",
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
    "PairedT",
    "RareCurve",
    "RareMeter",
    "RareSummary",
    "Record",
    "RegressionCurve",
    "RegressionRecord",
    "RegressionScores",
    "RegressionSummary",
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
    "brier",
    "class_scores",
    "collect_steps",
    "compare",
    "cost",
    "cumulative_accuracy",
    "curve",
    "curve_rare",
    "curve_regression",
    "distance",
    "draw_start",
    "error",
    "f1",
    "friedman",
    "g_mean",
    "holdout",
    "holm",
    "kappa",
    "kappa_temporal",
    "log_loss",
    "matthews",
    "mcnemar",
    "mcnemar_of_counts",
    "mean_interval",
    "nemenyi_difference",
    "paired_t_test",
    "precision",
    "prequential",
    "prequential_regression",
    "recall",
    "regrets",
    "run",
    "subspace_overlap",
    "summarise",
    "summarise_rare",
    "summarise_regression",
    "wilcoxon",
]

#: By module: a run and the service need a few of these modules at their start, and should not pay for all.
_NAMES = {
    "alerts": "AlertMeter Alerts AlertScores",
    "confusion": "ClassScores balanced_accuracy class_scores cost f1 g_mean matthews precision recall",
    "distances": "axis_distance distance subspace_overlap",
    "drift": "ChangeDetector",
    "history": "Average Cumulative Curve Fading Meter Scores Summary Windowed cumulative_accuracy curve summarise",
    "holdout_evaluation": "StepRecord Steps collect_steps draw_start holdout",
    "input_drift": "InputDrift",
    "metrics": "Means brier error kappa kappa_temporal log_loss",
    "prequential_evaluation": "prequential",
    "rare_classes": "RareCurve RareMeter RareSummary curve_rare summarise_rare",
    "record": "NO_PREDICTION Record",
    "regression": (
        "CoverageScores RegressionCurve RegressionRecord RegressionScores RegressionSummary curve_regression "
        "prequential_regression summarise_regression"
    ),
    "regret": "BestWeights KnownLine KnownWeights Regret RegretRecord regrets",
    "reliability": "Reliability",
    "significance": (
        "Friedman Interval McNemar PairedT Wilcoxon friedman holm mcnemar mcnemar_of_counts "
        "mean_interval nemenyi_difference paired_t_test wilcoxon"
    ),
}
_own, _own_names, _ = lazy_loader.attach(
    __name__, submod_attrs={module: names.split() for module, names in _NAMES.items()}
)
#: Names of a higher layer, which are evaluation to a reader: what `thalweg run` does, on rows in memory.
_OF_RUNS = {"Comparison": "comparison", "Result": "result", "compare": "evaluation", "run": "evaluation"}


def __getattr__(name: str) -> Any:
    if name in _OF_RUNS:
        return getattr(import_module(f"thalweg.run.{_OF_RUNS[name]}"), name)
    return _own(name)


def __dir__() -> list[str]:
    return [*_own_names(), *_OF_RUNS]
