"""What ``metrics.json`` holds of a run that predicts numbers, ``"task": "regression"``; the rest is as in `content`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, cast

from thalweg.evaluate.metrics import LOSS, Metric
from thalweg.report.page.content import (
    AlertsFired,
    Change,
    Errors,
    History,
    Importance,
    Inputs,
    Known,
    LowestCoverage,
    Model,
    References,
    Rows,
    Run,
    Score,
    Series,
    Times,
    Verdict,
)


class Intervals(TypedDict):
    """How often intervals held the target."""

    asked: float  # the coverage
    rows: int
    coverage: Known
    below: Known  # share of targets below their interval
    above: Known
    mean_width: Known
    pinball_lower: Known  # mean pinball loss of the ends, as quantiles
    pinball_upper: Known
    lowest: LowestCoverage | None  # of a block
    block_rows: int


class NumberCurve(TypedDict):
    """Some hundred points over time: by metric and predictor."""

    rows: list[int]
    window: int  # rows that all but the fading ones look back on
    mae: Errors
    rmse: Errors
    bias: Errors  # of the model alone, as the next two
    coverage: Errors
    mean_width: Errors
    fade: float
    fading: dict[str, Errors]


class Stretch(TypedDict):
    """Rows by their number among those scored, each with its target, prediction and interval."""

    rows: list[int]
    target: Series
    prediction: Series
    lower: Series
    upper: Series


class Predictions(TypedDict):
    every: int  # `course` has every so many-th row
    course: Stretch
    last: Stretch  # the last rows, one by one


#: Keys that are no names of Python, so that it is written as a call.
BySize = TypedDict(
    "BySize",
    {
        "from": list[float],
        "to": list[float],
        "rows": list[int],
        "mae": dict[str, list[float]],
        "bias": list[float],
        "coverage": Series,
    },
)


class NumberMetrics(TypedDict):
    schema: int
    task: str
    run: Run
    rows: Rows
    verdict: Verdict
    scores: dict[str, Score]  # of "model" and the baselines
    intervals: Intervals
    curve: NumberCurve
    times: NotRequired[Times]
    predictions: Predictions
    by_size: BySize  # of the target, in groups of about as many rows
    course: History
    changes: list[Change]  # of the mean absolute residual
    changes_left_out: NotRequired[int]
    importance: NotRequired[Importance]
    inputs: Inputs
    alerts_fired: NotRequired[AlertsFired]
    against: NotRequired[References]
    warnings: NotRequired[list[str]]
    columns: list[tuple[str, str, str]]
    model: Model


def as_number_metrics(given: Mapping[str, Any]) -> NumberMetrics:
    """A mapping read from ``metrics.json``, by its types."""
    return cast(NumberMetrics, given)


def is_regression(metrics: Mapping[str, Any]) -> bool:
    return bool(metrics["task"] == "regression")


def loss_of(metrics: Mapping[str, Any]) -> Metric:
    """The metric by which models are compared."""
    return LOSS[metrics["task"]]
