"""Test-then-train (prequential) evaluation of regressors: every row is predicted first, then learned; records and
scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from thalweg.errors import InvalidParameter
from thalweg.evaluate.averages import push_in_pieces
from thalweg.evaluate.history import Average, Cumulative, Windowed, no_rows
from thalweg.evaluate.prequential_evaluation import (
    Model,
    Walkable,
    batches_of,
    chunk_for,
    require_walkable,
    single_rows,
)
from thalweg.learners.base.regressor import as_targets
from thalweg.parameters import whole_number
from thalweg.streams.stream import Floats


@dataclass(frozen=True, slots=True)
class RegressionRecord:
    """Consecutive rows of a stream, each answered before its target was learned.

    Attributes
    ----------
    start : int
        Number of the first row, from 0.
    y, answers : arrays of shape (rows,) or (rows, outputs)
        The truth and the model's answers.
    running_mean, no_change : arrays shaped like y
        The two answers every model must beat: the mean of the targets before, and the target before; 0 at first.

    Examples
    --------
    >>> from thalweg import OnlineLinearRegression
    >>> from thalweg.streams import LinearResponse
    >>> (record,) = prequential_regression(OnlineLinearRegression(), LinearResponse(seed=1), rows=10)
    >>> len(record), record.answers.shape, float(record.answers[0])
    (10, (10,), 0.0)
    """

    start: int
    y: Floats
    answers: Floats
    running_mean: Floats
    no_change: Floats

    def __len__(self) -> int:
        return len(self.y)


def prequential_regression(
    model: Model, stream: Walkable, *, rows: int | None = None, chunk: int = 4096
) -> Iterator[RegressionRecord]:
    """Walk a stream of numbers past a regressor; every row is answered before its target is learned.

    The model goes on from what it knows and has learned the rows when the records are exhausted. One that knows
    nothing yet answers its first row with 0, and so do the baselines.

    Parameters
    ----------
    model : regressor
        One of ours (asked in one compiled call per chunk), or any scikit-learn regressor with ``partial_fit`` (asked
        row by row).
    stream : Stream, or iterable of (X, y)
        Where the rows come from: ``thalweg.streams.Table(X, y)`` for rows in memory,
        ``thalweg.frames.chunks(source, target)`` for a frame or a file, a generated stream, or chunks of your own,
        arrays or frames.
    rows : int, optional
        How many; by default the stream's length, or all chunks.
    chunk : int >= 1
        Rows per record, or fewer where chunks are shorter. It changes memory and the rhythm of the records, never the
        answers.

    Examples
    --------
    >>> from thalweg import OnlineLinearRegression
    >>> from thalweg.evaluate import prequential_regression, summarise_regression
    >>> from thalweg.streams import LinearResponse
    >>> records = prequential_regression(OnlineLinearRegression(solver="rls"), LinearResponse(seed=1))
    >>> bool(summarise_regression(records).model.r2 > 0.95)
    True
    """
    compiled = hasattr(model, "predict_then_learn")
    walkable = compiled or (hasattr(model, "predict") and hasattr(model, "partial_fit"))
    if not walkable or not is_regressor(model):
        rule = "be a regressor with predict_then_learn, or predict and partial_fit"
        raise InvalidParameter.of("prequential_regression", "model", rule, model)
    require_walkable("prequential_regression", stream)
    if rows is not None:
        rows = whole_number("prequential_regression", "rows", rows)
    size = whole_number("prequential_regression", "chunk", chunk, least=1)
    return _walk(model, stream, rows, size, compiled=compiled)


def _walk(
    model: Model, stream: Walkable, rows: int | None, chunk: int, *, compiled: bool
) -> Iterator[RegressionRecord]:
    total: Any = 0.0
    last: Any = 0.0
    start = 0
    for X, y in batches_of(stream, chunk, rows):
        targets, columns = as_targets(y, len(y), "prequential_regression")
        truth = targets[:, 0] if columns is None else targets
        totals = np.cumsum(np.concatenate([np.broadcast_to(total, truth.shape[1:])[np.newaxis], truth]), axis=0)
        before = np.arange(start, start + len(truth)).reshape(-1, *[1] * (truth.ndim - 1))
        no_change = np.concatenate([np.broadcast_to(last, truth.shape[1:])[np.newaxis], truth[:-1]])
        answers = model.predict_then_learn(chunk_for(model, X), truth) if compiled else _row_by_row(model, X, truth)
        yield RegressionRecord(start, truth, answers, totals[:-1] / np.maximum(before, 1), no_change)
        total, last, start = totals[-1], truth[-1], start + len(truth)


def _row_by_row(model: Model, X: Any, y: Floats) -> NDArray[np.float64]:
    answers = np.zeros_like(y)
    for i, row in enumerate(single_rows(X, model)):
        this = slice(i, i + 1)
        if i > 0 or _knows_something(model):
            answers[this] = model.predict(row)
        model.partial_fit(row, y[this])
    return answers


def _knows_something(model: Model) -> bool:
    try:
        check_is_fitted(model)
    except ValueError:  # scikit-learn's NotFittedError is one
        return False
    return True


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
        raise no_rows("summary")
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
        for reached in push_in_pieces(running, _errors(record), rows, every):
            rows = reached
            if rows % every == 0:
                seen.append(rows)
                points.append(_scores(running.mean()))
    if rows == 0:
        raise no_rows("curve")
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
