"""Rows as lines of terms, whose averages give every metric of the table (`thalweg.evaluate.metrics`)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.averages import Floats
from thalweg.evaluate.confusion import cost_matrix
from thalweg.evaluate.metrics import TERMS, Means, Metric, Rows
from thalweg.evaluate.probability_scores import bin_statistics, reliability_of
from thalweg.kernels import compiled

#: Terms that a confusion matrix holds: no columns where there is one.
OF_CONFUSION = ("true_positive", "false_positive", "false_negative")


def confusion_terms(confusion: NDArray[Any], positive: int | None) -> dict[str, Any]:
    """What `Means` take from the shares, or counts, of rows by truth and prediction."""
    terms: dict[str, Any] = {"confusion": confusion}
    if positive is not None:
        both, said, truth = confusion[positive, positive], confusion[:, positive].sum(), confusion[positive].sum()
        terms |= {name: float(rows) for name, rows in zip(OF_CONFUSION, (both, said - both, truth - both), strict=True)}
    return terms


class Layout:
    """The terms of some metrics as columns: first those of the model, then those of each baseline.

    Terms ``besides`` come from elsewhere, such as `OF_CONFUSION`.

    Examples
    --------
    >>> from thalweg.evaluate import METRICS
    >>> layout = Layout([METRICS["mae"], METRICS["skill"]], ("model", "last_value"))
    >>> rows = Rows(np.array([1.0, 3.0]), {"model": np.array([1.5, 2.0]), "last_value": np.array([0.0, 1.0])})
    >>> layout.scores(layout.means(layout.block(rows).mean(axis=0)), rows.has)
    {'model': {'mae': 0.75, 'skill': 0.75}, 'last_value': {'mae': 1.5, 'skill': 0.0}}
    """

    def __init__(self, metrics: Iterable[Metric], predictors: Sequence[str], besides: Collection[str] = ()) -> None:
        self.metrics, self.predictors = tuple(metrics), tuple(predictors)
        added = (term for metric in self.metrics for term in metric.adds)
        terms = dict.fromkeys(term for term in added if term in TERMS and term not in besides)
        #: Predictor and term of each column.
        self.columns = [
            (name, term) for name in self.predictors for term in terms if name == "model" or not TERMS[term].of_model
        ]

    def block(self, rows: Rows) -> NDArray[Any]:
        """One line a row; of several targets, each column is one for each."""
        count = len(rows.truth)
        if not self.columns:
            return np.empty((count, 0))
        columns = [np.asarray(TERMS[term].of(rows, name)) for name, term in self.columns]
        # Term by term in memory, as they are added up.
        return np.concatenate([column.reshape(count, math.prod(column.shape[1:])).T for column in columns]).T

    def means(self, averages: Floats, **known: Any) -> dict[str, Means]:
        """By predictor, from averages of the columns; ``known`` are further fields of `Means`."""
        one = len(averages) == len(self.columns)
        columns: list[Any] = averages.tolist() if one else list(averages.reshape(len(self.columns), -1))
        means: dict[str, Means] = {}
        for name in self.predictors:
            means[name] = Means({}, means, **known)
        for (name, term), column in zip(self.columns, columns, strict=True):
            means[name].terms[term] = column
        return means

    def scores(self, means: Mapping[str, Means], has: Collection[str]) -> dict[str, dict[str, float]]:
        """By predictor and metric, of those that apply; NaN where a score is not known."""
        metrics = [metric for metric in self.metrics if metric.applies(has)]
        return {
            name: {
                metric.name: metric.read(means[name]) for metric in metrics if name == "model" or not metric.of_model
            }
            for name in self.predictors
        }


def finite(value: float) -> float | None:
    """None for what is not known."""
    return value if math.isfinite(value) else None


def known(scores: Mapping[str, float]) -> dict[str, float | None]:
    return {name: finite(value) for name, value in scores.items()}


def scores_over(
    layout: Layout,
    rows: Rows,
    costs: Mapping[str, float] | None = None,
    areas: tuple[float, float] | None = None,
    weights: NDArray[np.int64] | None = None,
) -> dict[str, dict[str, float]]:
    """The scores over rows that are all at hand; NaN for what is not known. Labels may be any numbers.

    ``areas`` are those under the curves of P(positive), where they are known already; ``weights`` count rows that are
    alike.

    Examples
    --------
    >>> from thalweg.evaluate.metrics import LABELS
    >>> truth, given = np.array([1.0, 0.0, 1.0]), {"model": np.array([1.0, 1.0, 1.0])}
    >>> rows = Rows(truth, given, positive=1.0, of_positive=np.array([0.9, 0.6, 0.7]))
    >>> layout = Layout([metric for metric in LABELS if metric.applies(rows.has)], ("model",), OF_CONFUSION)
    >>> scores = scores_over(layout, rows)["model"]
    >>> {name: round(scores[name], 3) for name in ("error", "kappa", "recall", "precision", "pr_auc")}
    {'error': 0.333, 'kappa': 0.0, 'recall': 1.0, 'precision': 0.667, 'pr_auc': 1.0}
    """
    has = rows.has if costs is None else rows.has | {"costs"}
    if not len(rows.truth):
        return {
            name: {metric.name: math.nan for metric in layout.metrics if name == "model" or not metric.of_model}
            for name in layout.predictors
        }
    added = {term for metric in layout.metrics for term in metric.adds}
    block = layout.block(rows)
    averages = block.mean(axis=0) if weights is None else weights @ block / weights.sum()
    confusions, at = _confusions(rows, layout, weights) if added & {"confusion", *OF_CONFUSION} else ({}, None)
    prices = (
        None if costs is None or not confusions else cost_matrix(costs, len(confusions["model"]), at, "scores_over")
    )
    means = layout.means(averages, positive=at, costs=prices)
    for name, confusion in confusions.items():
        means[name].terms.update(confusion_terms(confusion, at))
    own = means["model"].terms
    if areas is not None:
        own["areas"] = areas
    if added & {"areas", "reliability"} - own.keys():
        known = ~np.isnan(rows.of_positive)
        likely, positive = rows.of_positive[known], rows.truth[known] == rows.positive
        own["areas"] = areas or _areas(likely, positive)
        own["reliability"] = reliability_of(bin_statistics(likely, positive).sum(axis=0).reshape(3, -1))
    return layout.scores(means, has)


def _areas(likely: Floats, positive: NDArray[np.bool_]) -> tuple[float, float]:
    areas = compiled.RecentAuc(rows=max(1, len(likely)))
    areas.push(likely, positive)
    return areas.roc_auc(), areas.average_precision()


def _confusions(rows: Rows, layout: Layout, weights: NDArray[np.int64] | None) -> tuple[dict[str, Floats], int | None]:
    """By predictor, the shares of the rows by truth and prediction, and the place of the label of interest."""
    count = len(rows.truth)
    if weights is None and all(
        {"positive", "costs"} & set(metric.needs) for metric in layout.metrics if "confusion" in metric.adds
    ):
        truth = rows.truth == rows.positive  # all others are one class
        return {name: _two_classes(truth, given == rows.positive) for name, given in rows.predictions.items()}, 1
    positive = [] if rows.positive is None else [rows.positive]
    labels, codes = np.unique(np.concatenate([rows.truth, *rows.predictions.values(), positive]), return_inverse=True)
    classes, shares = len(labels), {}
    for begin, name in enumerate(rows.predictions, start=1):
        pairs = codes[:count] * classes + codes[begin * count : (begin + 1) * count]
        counts = np.bincount(pairs, weights, minlength=classes * classes).reshape(classes, classes)
        shares[name] = counts / counts.sum()
    return shares, None if rows.positive is None else int(np.searchsorted(labels, rows.positive))


def _two_classes(truth: NDArray[np.bool_], given: NDArray[np.bool_]) -> Floats:
    true, said, both = (np.count_nonzero(among) for among in (truth, given, truth & given))
    return np.array([[len(truth) - true - said + both, said - both], [true - both, both]]) / len(truth)
