"""Scores of answers that are numbers: functions of averages of the rows' errors, over all rows, the last, or fading."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.evaluate.averages import Average, Cumulative, Windowed
from thalweg.evaluate.regression_record import RegressionRecord
from thalweg.streams.stream import Floats
from thalweg.streams.whole_number import whole_number

Value = TypeVar("Value")


class RegressionScores(NamedTuple, Generic[Value]):
    """Every score of one answerer: numbers in a summary, arrays over time in a curve; several targets are averaged.

    ``r2`` is one minus the squared error as a multiple of the running mean's: what knowing the features is worth. It is
    NaN where neither errs.

    Examples
    --------
    >>> RegressionScores(squared_error=0.25, absolute_error=0.5, r2=0.9).r2
    0.9
    """

    squared_error: Value
    absolute_error: Value
    r2: Value


class RegressionSummary(NamedTuple):
    """Scores at the end of a stream, the baselines alongside.

    Examples
    --------
    >>> from thalweg import OnlineLinearRegression
    >>> from thalweg.evaluate import prequential_regression
    >>> from thalweg.streams import LinearResponse
    >>> summary = summarise_regression(prequential_regression(OnlineLinearRegression(), LinearResponse(), rows=50))
    >>> summary.rows, summary.running_mean.r2
    (50, 0.0)
    """

    rows: int
    model: RegressionScores[float]
    running_mean: RegressionScores[float]
    no_change: RegressionScores[float]


class RegressionCurve(NamedTuple):
    """Scores over time, the baselines alongside; ``rows`` is how many rows had been seen at each point.

    Examples
    --------
    >>> from thalweg import OnlineLinearRegression
    >>> from thalweg.evaluate import prequential_regression
    >>> from thalweg.streams import LinearResponse
    >>> records = prequential_regression(OnlineLinearRegression(), LinearResponse(), rows=50)
    >>> curve_regression(records, every=20).rows.tolist()
    [20, 40, 50]
    """

    rows: NDArray[np.int64]
    model: RegressionScores[Floats]
    running_mean: RegressionScores[Floats]
    no_change: RegressionScores[Floats]


def summarise_regression(records: Iterable[RegressionRecord], average: Average | None = None) -> RegressionSummary:
    """Final scores of the model and of both baselines, over all rows unless an average says otherwise.

    Examples
    --------
    >>> from thalweg import OnlineLinearRegression
    >>> from thalweg.evaluate import prequential_regression
    >>> from thalweg.streams import LinearResponse
    >>> records = prequential_regression(OnlineLinearRegression(solver="rls"), LinearResponse(seed=1))
    >>> summarise_regression(records).model.r2 > 0.95
    True
    """
    running = (Cumulative() if average is None else average).begin()
    rows = 0
    for record in records:
        running.push(_errors(record))
        rows += len(record)
    if rows == 0:
        raise InvalidInput("A summary must be of at least one row, got none.")
    return RegressionSummary(rows, *_scores(running.mean()))


def curve_regression(
    records: Iterable[RegressionRecord], *, every: int = 100, average: Average | None = None
) -> RegressionCurve:
    """Scores after every ``every`` rows and at the end, by default of the last 1,000 rows each.

    Examples
    --------
    >>> from thalweg import OnlineLinearRegression
    >>> from thalweg.evaluate import prequential_regression
    >>> from thalweg.streams import LinearResponse
    >>> records = prequential_regression(OnlineLinearRegression(solver="rls"), LinearResponse(seed=1), rows=300)
    >>> over_time = curve_regression(records, every=100)
    >>> bool(over_time.model.squared_error[-1] < over_time.running_mean.squared_error[-1])
    True
    """
    every = whole_number("curve_regression", "every", every, least=1)
    running = (Windowed(1000) if average is None else average).begin()
    seen: list[int] = []
    points: list[tuple[RegressionScores[float], ...]] = []
    rows = 0
    for record in records:
        block = _errors(record)
        while len(block):
            piece, block = np.split(block, [every - rows % every])
            running.push(piece)
            rows += len(piece)
            if rows % every == 0:
                seen.append(rows)
                points.append(_scores(running.mean()))
    if rows == 0:
        raise InvalidInput("A curve must be of at least one row, got none.")
    if rows % every:
        seen.append(rows)
        points.append(_scores(running.mean()))
    over_time = (RegressionScores(*map(np.array, zip(*each, strict=True))) for each in zip(*points, strict=True))
    return RegressionCurve(np.array(seen), *over_time)


def _errors(record: RegressionRecord) -> Floats:
    """One row per row: squared and absolute error of the model and of both baselines, for each target."""
    columns = []
    for answers in (record.answers, record.running_mean, record.no_change):
        away = (answers - record.y).reshape(len(record), -1)
        columns += [np.square(away), np.abs(away)]
    return np.concatenate(columns, axis=1)


def _scores(means: Floats) -> tuple[RegressionScores[float], ...]:
    errors = means.reshape(3, 2, -1)  # answerer, kind of error, target
    reference = errors[1, 0]
    return tuple(
        RegressionScores(
            float(squared.mean()),
            float(absolute.mean()),
            float(np.mean([_gain(*pair) for pair in zip(squared.tolist(), reference.tolist(), strict=True)])),
        )
        for squared, absolute in errors
    )


def _gain(error: float, reference: float) -> float:
    if reference > 0.0:
        return 1.0 - error / reference
    return math.nan if error == 0.0 else -math.inf
