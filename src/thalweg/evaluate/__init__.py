"""How well: a stream walks past a learner, records come out, and thin collectors sum them up.

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

from thalweg.evaluate.averages import Average, Cumulative, Fading, Windowed
from thalweg.evaluate.collectors import Curve, Meter, Scores, Summary, curve, summarise
from thalweg.evaluate.holdout import StepRecord, Steps, collect_steps, draw_start, holdout
from thalweg.evaluate.metrics import Means, brier, error, kappa, kappa_temporal, log_loss
from thalweg.evaluate.prequential import prequential
from thalweg.evaluate.ranking import Friedman, friedman, nemenyi_difference
from thalweg.evaluate.record import NO_ANSWER, Record
from thalweg.evaluate.significance import (
    Interval,
    McNemar,
    PairedT,
    Wilcoxon,
    holm,
    mcnemar,
    mcnemar_of_counts,
    mean_interval,
    paired_t_test,
    wilcoxon,
)

__all__ = [
    "NO_ANSWER",
    "Average",
    "Cumulative",
    "Curve",
    "Fading",
    "Friedman",
    "Interval",
    "McNemar",
    "Means",
    "Meter",
    "PairedT",
    "Record",
    "Scores",
    "StepRecord",
    "Steps",
    "Summary",
    "Wilcoxon",
    "Windowed",
    "brier",
    "collect_steps",
    "curve",
    "draw_start",
    "error",
    "friedman",
    "holdout",
    "holm",
    "kappa",
    "kappa_temporal",
    "log_loss",
    "mcnemar",
    "mcnemar_of_counts",
    "mean_interval",
    "nemenyi_difference",
    "paired_t_test",
    "prequential",
    "summarise",
    "wilcoxon",
]
