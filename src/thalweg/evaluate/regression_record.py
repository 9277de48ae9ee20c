"""Test, then train, where targets are numbers: every row is first answered, then learned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from thalweg.errors import InvalidParameter
from thalweg.evaluate.answering import Model
from thalweg.evaluate.chunked import Walkable, batches_of, chunk_for, require_walkable, single_rows
from thalweg.learners.targets import as_targets
from thalweg.streams.stream import Floats
from thalweg.streams.whole_number import whole_number


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
        Where the rows come from; chunks may be arrays or frames, as `thalweg.frames.chunks` gives them.
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
