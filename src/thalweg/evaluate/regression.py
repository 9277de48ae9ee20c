"""Test-then-train (prequential) evaluation of regressors: every row is predicted first, then learned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from thalweg.errors import InvalidParameter
from thalweg.evaluate.late_labels import Batch
from thalweg.evaluate.number_baselines import NumberBaselines
from thalweg.evaluate.prequential_evaluation import Walkable, batches_of, require_walkable
from thalweg.evaluate.record import RegressionRecord
from thalweg.evaluate.walkers import Model, Walked, Wanted, walk, walker_of
from thalweg.learners.base.regressor import as_targets
from thalweg.parameters import whole_number
from thalweg.streams.stream import Floats
from thalweg.table_model import TableRegressor

_OWNER = "prequential_regression"


def prequential_regression(
    model: Model,
    stream: Walkable,
    *,
    rows: int | None = None,
    chunk: int = 4096,
    delay: int = 0,
    coverage: float | None = None,
) -> Iterator[RegressionRecord]:
    """Evaluate a regressor on a stream test-then-train: each row is predicted before its target is learned.

    The model continues from its current state. It has learned all rows once the records are exhausted. One that has
    learned nothing predicts 0 for its first row, and so do the baselines.

    Parameters
    ----------
    model : regressor
        One of ours (asked in one compiled call per chunk), a `TableRegressor` (its rows are frames), or any
        scikit-learn regressor with ``partial_fit`` (asked row by row).
    stream : Stream, or iterable of (X, y)
        Source of the rows: ``thalweg.streams.Table(X, y)`` for rows in memory,
        ``thalweg.frames.chunks(source, target)`` for a frame or a file, a generated stream, or chunks of your own,
        arrays or frames.
    rows : int, optional
        Number of rows (default: the length of the stream, or all chunks).
    chunk : int >= 1
        Rows per record, or fewer where chunks are shorter. It sets memory use and the size of the records, and changes
        no prediction.
    delay : int >= 0
        How many rows late a target comes: row i is predicted when it arrives and learned right after row i + delay is
        predicted, as in ``thalweg run --delay``. Intervals and members are judged by what they had predicted
        (`follow`). The baselines get their targets when the model does. Rows before the first target are not
        scored; the last rows stay unlearned, and are scored all the same.
    coverage : float, optional
        Ask for intervals that hold the target in this share of the rows, of a model that has intervals. The records
        then carry ``lower`` and ``upper``, and `summarise` says how well they hold.

    Examples
    --------
    >>> from thalweg import AutoRegressor, OnlineLinearRegression
    >>> from thalweg.evaluate import prequential_regression, summarise
    >>> from thalweg.streams import LinearResponse
    >>> records = prequential_regression(OnlineLinearRegression(solver="rls"), LinearResponse(seed=1))
    >>> bool(summarise(records).model.r2 > 0.95)
    True
    >>> records = prequential_regression(AutoRegressor(), LinearResponse(seed=1), delay=20, coverage=0.9)
    >>> bool(abs(summarise(records).model.coverage - 0.9) < 0.02)
    True
    """
    learner = model.learner if isinstance(model, TableRegressor) else model
    if not hasattr(learner, "__sklearn_tags__") or not is_regressor(learner):
        rule = "be a regressor with predict_then_learn, or predict and partial_fit"
        raise InvalidParameter.of(_OWNER, "model", rule, model)
    require_walkable(_OWNER, stream)
    if rows is not None:
        rows = whole_number(_OWNER, "rows", rows)
    size = whole_number(_OWNER, "chunk", chunk, least=1)
    late = whole_number(_OWNER, "delay", delay)
    if coverage is not None:
        if not hasattr(learner, "predict_interval"):
            rule = "be None for a model without intervals, which PredictionIntervals puts around any regressor"
            raise InvalidParameter.of(_OWNER, "coverage", rule, coverage)
        learner._require_tracked(coverage)
    walker = walker_of(model, Wanted(coverage=coverage), late, _OWNER)
    return _walk(walk(walker, batches_of(stream, size, rows), _truth, late), coverage, is_late=late > 0)


def _truth(y: Any) -> Floats:
    targets, columns = as_targets(y, len(y), _OWNER)
    return targets[:, 0] if columns is None else targets


def _walk(
    walked: Iterator[tuple[Floats, Batch, Walked]], coverage: float | None, *, is_late: bool
) -> Iterator[RegressionRecord]:
    baselines, start = NumberBaselines(), 0
    for truth, batch, (given, _) in walked:
        lower, upper = (given.lower, given.upper) if coverage is not None else (None, None)
        beside = baselines.follow(batch.order, batch.labels, batch.number)
        others = [beside[name][batch.carried :] for name in ("running_mean", "running_median", "last_value")]
        unpredicted = int(np.isnan(others[0].reshape(len(truth), -1)[:, 0]).sum()) if is_late else 0
        predictions, mean, median, last = (np.where(np.isnan(each), 0.0, each) for each in (given.predictions, *others))
        yield RegressionRecord(start, truth, predictions, mean, median, last, lower, upper, coverage, unpredicted)
        start += len(truth)
