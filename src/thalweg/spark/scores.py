"""Scores of the predictions in a folder, by the table of metrics: of labels from counts of truth and prediction, of
numbers from sums that each partition adds up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from thalweg.evaluate.layout import Layout, scores_over
from thalweg.evaluate.metrics import LABELS, NUMBERS, Metric, Rows
from thalweg.spark.columns import column
from thalweg.spark.packing import LOWER, PREDICTION, UPPER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MODEL = ("model",)


def label_scores(predictions: DataFrame, target: str) -> dict[str, Any]:
    """How many predicted rows have a label, and every metric that takes no more than predictions."""
    kind = predictions.schema[PREDICTION].dataType
    pairs = predictions.select(column(predictions, target).cast(kind).alias("truth"), PREDICTION).dropna()
    counts = pairs.groupBy("truth", PREDICTION).count().collect()
    _, codes = np.unique([str(label) for pair in counts for label in pair[:2]], return_inverse=True)
    truth, given = codes.reshape(-1, 2).T
    number = np.array([pair[2] for pair in counts], dtype=np.int64)
    found = scores_over(_layout(LABELS, set()), Rows(truth, {"model": given}), weights=number)
    return {"scored": int(number.sum()), **_known(found["model"])}


def number_scores(predictions: DataFrame, target: str, coverage: float | None) -> dict[str, Any]:
    """The same of numbers, and of their intervals."""
    ends = (LOWER, UPPER) if LOWER in predictions.columns else ()
    has = {"intervals"} if ends else set()
    layout = _layout(NUMBERS, has)

    def added(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            truth, given, *interval = (each.to_numpy(zero_copy_only=False) for each in batch.columns)
            lower, upper = interval or 2 * [np.full(len(truth), np.nan)]
            without = ~(upper > lower)  # one of no width is none
            lower, upper = (np.where(without, np.nan, end) for end in (lower, upper))
            rows = Rows(truth, {"model": given}, lower=lower, upper=upper, coverage=coverage or 0.0)
            sums = layout.block(rows).sum(axis=0, dtype=np.float64)
            yield pa.record_batch([pa.array([len(truth)]), pa.array([sums.tolist()])], ["rows", "sums"])

    given = [predictions[each] for each in (PREDICTION, *ends)]
    numbers = [column(predictions, target).alias("truth"), *given]
    scored = predictions.select(*(each.cast("double") for each in numbers)).dropna(subset=["truth", PREDICTION])
    parts = scored.mapInArrow(added, "rows long, sums array<double>").collect()
    rows = sum(part["rows"] for part in parts)
    means = np.sum([part["sums"] for part in parts], axis=0) / rows if rows else np.full(len(layout.columns), np.nan)
    return {"scored": rows, **_known(layout.scores(layout.means(means), has)["model"])}


def _layout(metrics: Iterable[Metric], has: set[str]) -> Layout:
    return Layout((metric for metric in metrics if metric.applies(has)), _MODEL)


def _known(scores: dict[str, float]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in scores.items()}
