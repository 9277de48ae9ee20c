"""Test-then-train (prequential) evaluation of regressors: every row is predicted first, then learned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from thalweg.errors import InvalidParameter
from thalweg.evaluate.late_labels import Batch, LateLabels, Waiting
from thalweg.evaluate.late_targets import (
    Given,
    ends_with_width,
    follow_numbers,
    has_intervals,
    is_fitted,
    nothing_given,
)
from thalweg.evaluate.number_baselines import NumberBaselines
from thalweg.evaluate.prequential_evaluation import (
    LateRows,
    Model,
    TableWalker,
    Walkable,
    batches_of,
    chunk_for,
    require_walkable,
    single_rows,
)
from thalweg.evaluate.record import RegressionRecord
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
        (`learn_late`). The baselines get their targets when the model does. Rows before the first target are not
        scored; the last rows stay unlearned, and are scored all the same. Rows are then asked one by one.
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
    compiled = hasattr(learner, "predict_then_learn")
    walkable = compiled or (hasattr(learner, "predict") and hasattr(learner, "partial_fit"))
    if not walkable or not hasattr(learner, "__sklearn_tags__") or not is_regressor(learner):
        rule = "be a regressor with predict_then_learn, or predict and partial_fit"
        raise InvalidParameter.of(_OWNER, "model", rule, model)
    require_walkable(_OWNER, stream)
    if rows is not None:
        rows = whole_number(_OWNER, "rows", rows)
    size = whole_number(_OWNER, "chunk", chunk, least=1)
    late = whole_number(_OWNER, "delay", delay)
    if coverage is not None:
        if not has_intervals(learner):
            rule = "be None for a model without intervals, which PredictionIntervals puts around any regressor"
            raise InvalidParameter.of(_OWNER, "coverage", rule, coverage)
        learner._require_tracked(coverage)
    walker: _Walker = (_InTurn if late else _AtOnce)(learner, coverage)
    return _walk(walker if learner is model else _OfTable(model, walker), stream, rows, size, late)


def _walk(
    walker: _Walker | _OfTable, stream: Walkable, rows: int | None, chunk: int, delay: int
) -> Iterator[RegressionRecord]:
    late, baselines = LateLabels(delay=delay), NumberBaselines()
    start = 0
    for X, y in batches_of(stream, chunk, rows):
        targets, columns = as_targets(y, len(y), _OWNER)
        truth = targets[:, 0] if columns is None else targets
        number = np.arange(start + 1, start + 1 + len(truth))
        batch = late.plan(walker.held(X), truth, np.ones(len(truth), dtype=np.bool_), number)
        given = walker(batch, late.waiting)
        beside = baselines.follow(batch.order, batch.labels, batch.number)
        if delay:
            late.keep(batch, given)
        fresh = slice(batch.carried, None)
        mean, median, last = (beside[name][fresh] for name in ("running_mean", "running_median", "last_value"))
        unpredicted = int(np.isnan(mean.reshape(len(mean), -1)[:, 0]).sum()) if delay else 0
        lower, upper = walker.ends(given, fresh)
        predictions, mean, median, last = (
            np.where(np.isnan(each), 0.0, each) for each in (given["predictions"][fresh], mean, median, last)
        )
        yield RegressionRecord(
            start, truth, predictions, mean, median, last, lower, upper, walker.coverage, unpredicted
        )
        start += len(truth)


class _Walker:
    def __init__(self, model: Model, coverage: float | None) -> None:
        self.model = model
        self.coverage = coverage

    def held(self, X: Any) -> Any:
        """A chunk as it is handed back in a `Batch`; X may be a frame."""
        raise NotImplementedError

    def __call__(self, batch: Batch, waiting: Waiting | None) -> Given:
        """Predict and learn the rows of a batch, in its order."""
        raise NotImplementedError

    def ends(self, given: Given, rows: slice) -> tuple[Floats | None, Floats | None]:
        if self.coverage is None:
            return None, None
        return ends_with_width(given["lower"][rows], given["upper"][rows])


class _AtOnce(_Walker):
    """Every target comes with its row."""

    def held(self, X: Any) -> Any:
        return chunk_for(self.model, X) if hasattr(self.model, "predict_then_learn") else X

    def __call__(self, batch: Batch, waiting: Waiting | None) -> Given:
        model, X, y = self.model, batch.X, batch.labels
        if self.coverage is not None:
            return dict(model.predict_interval_then_learn(X, y, self.coverage)._asdict())
        if hasattr(model, "predict_then_learn"):
            return {"predictions": model.predict_then_learn(X, y)}
        predictions = np.zeros_like(y)
        for i, row in enumerate(single_rows(X, model)):
            this = slice(i, i + 1)
            if i > 0 or is_fitted(model):
                predictions[this] = model.predict(row)
            model.partial_fit(row, y[this])
        return {"predictions": predictions}


class _InTurn(LateRows, _Walker):
    """Targets come late; rows still waiting at the end of the stream stay unlearned."""

    def __init__(self, model: Model, coverage: float | None) -> None:
        _Walker.__init__(self, model, coverage)
        LateRows.__init__(self, model)

    def __call__(self, batch: Batch, waiting: Waiting | None) -> Given:
        given = nothing_given(self.model, batch.X, batch.labels)
        if waiting is not None:
            for name, values in waiting.predicted.items():
                given[name][: batch.carried] = values
        follow_numbers(
            self.model,
            batch.X,
            batch.labels,
            batch.order,
            batch.number,
            given,
            coverage=self.coverage,
            names=self._names,
        )
        return given


class _OfTable(TableWalker):
    def __init__(self, model: TableRegressor, walker: _Walker) -> None:
        super().__init__(model, walker)
        self.coverage, self.ends = walker.coverage, walker.ends
