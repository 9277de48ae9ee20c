"""What ``metrics.json`` holds of a run that predicts numbers, ``"task": "regression"``; the rest is as in `content`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, cast

from thalweg.report.page.content import (
    AlertsFired,
    Change,
    Difference,
    History,
    Importance,
    Inputs,
    Known,
    LowestCoverage,
    Model,
    References,
    Rows,
    Run,
    Series,
    Times,
)


class NumberScore(TypedDict):
    """How one predictor did over all scored rows, in the unit of the target."""

    absolute_error: Known  # mean
    rmse: Known
    r2: Known  # one minus the squared error as a share of the running mean's
    recent_absolute_error: Known  # of the last `curve.window` rows
    recent_rmse: Known


class Skill(Difference):
    """The model's error less a baseline's; skill is how much smaller it is, as a share of the baseline's."""

    skill: Known
    skill_low: Known
    skill_high: Known


class Skills(TypedDict):
    absolute: Skill
    squared: Skill


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
    """Some hundred points over time; errors by predictor."""

    rows: list[int]
    window: int  # rows that all but the fading ones look back on
    absolute_error: dict[str, Series]
    rmse: dict[str, Series]
    bias: Series  # mean of target less prediction
    coverage: Series
    width: Series  # mean, of the intervals
    fade: float
    fading_absolute_error: dict[str, Series]
    fading_rmse: dict[str, Series]


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
        "absolute_error": dict[str, list[float]],
        "bias": list[float],
        "coverage": Series,
    },
)


class NumberMetrics(TypedDict):
    schema: int
    task: str
    run: Run
    rows: Rows
    verdict: dict[str, Skills]  # by baseline
    scores: dict[str, NumberScore]  # of "model" and the baselines
    intervals: Intervals
    curve: NumberCurve
    times: NotRequired[Times]
    predictions: Predictions
    by_size: BySize  # of the target, in groups of about as many rows
    course: History
    changes: list[Change]  # of the mean absolute residual
    changes_left_out: NotRequired[int]
    importance: NotRequired[Importance]
    inputs: NotRequired[Inputs]
    alerts_fired: NotRequired[AlertsFired]
    against: NotRequired[References]
    warnings: NotRequired[list[str]]
    columns: list[tuple[str, str, str]]
    model: Model


def as_number_metrics(given: Mapping[str, Any]) -> NumberMetrics:
    """A mapping read from ``metrics.json``, by its types."""
    return cast(NumberMetrics, given)


def is_regression(metrics: Mapping[str, Any]) -> bool:
    return metrics.get("task") == "regression"
