"""Test-then-train (prequential) evaluation of regressors: every row is predicted first, then learned; records and
scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from thalweg.errors import InvalidParameter
from thalweg.evaluate.averages import push_in_pieces
from thalweg.evaluate.history import Average, Cumulative, Windowed, no_rows
from thalweg.evaluate.late_labels import Batch, LateLabels, Waiting
from thalweg.evaluate.late_targets import (
    Given,
    ends_with_width,
    follow_numbers,
    has_intervals,
    is_fitted,
    nothing_given,
)
from thalweg.evaluate.metrics import pinball_loss
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
from thalweg.learners.base.regressor import as_targets
from thalweg.parameters import whole_number
from thalweg.streams.stream import Floats
from thalweg.table_model import TableRegressor

_OWNER = "prequential_regression"


@dataclass(frozen=True, slots=True)
class RegressionRecord:
    """Consecutive rows of a stream, each predicted before its target was learned.

    Attributes
    ----------
    start : int
        Number of the first row, from 0.
    y, predictions : arrays of shape (rows,) or (rows, outputs)
        The truth and the model's predictions.
    running_mean, running_median, no_change : arrays shaped like y
        The predictions every model must beat: the mean of the targets before, the median of the last 1,000 of them, and
        the target before; 0 at first.
    lower, upper : arrays shaped like y, or None
        The ends of the interval of each row, where a coverage was asked for; NaN while the model has none, which is
        where it would have no width.
    coverage : float or None
        What the intervals were asked for.
    unscored : int
        Rows at the start that came before any target, where targets come late; no score counts them.

    Examples
    --------
    >>> from thalweg import OnlineLinearRegression
    >>> from thalweg.streams import LinearResponse
    >>> (record,) = prequential_regression(OnlineLinearRegression(), LinearResponse(seed=1), rows=10)
    >>> len(record), record.predictions.shape, float(record.predictions[0])
    (10, (10,), 0.0)
    """

    start: int
    y: Floats
    predictions: Floats
    running_mean: Floats
    running_median: Floats
    no_change: Floats
    lower: Floats | None = None
    upper: Floats | None = None
    coverage: float | None = None
    unscored: int = 0

    def __len__(self) -> int:
        return len(self.y)


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
        then carry ``lower`` and ``upper``, and `summarise_regression` says how well they hold.

    Examples
    --------
    >>> from thalweg import AutoRegressor, OnlineLinearRegression
    >>> from thalweg.evaluate import prequential_regression, summarise_regression
    >>> from thalweg.streams import LinearResponse
    >>> records = prequential_regression(OnlineLinearRegression(solver="rls"), LinearResponse(seed=1))
    >>> bool(summarise_regression(records).model.r2 > 0.95)
    True
    >>> records = prequential_regression(AutoRegressor(), LinearResponse(seed=1), delay=20, coverage=0.9)
    >>> bool(abs(summarise_regression(records).intervals.coverage - 0.9) < 0.02)
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
        unscored = int(np.isnan(mean.reshape(len(mean), -1)[:, 0]).sum()) if delay else 0
        lower, upper = walker.ends(given, fresh)
        predictions, mean, median, last = (
            np.where(np.isnan(each), 0.0, each) for each in (given["predictions"][fresh], mean, median, last)
        )
        yield RegressionRecord(start, truth, predictions, mean, median, last, lower, upper, walker.coverage, unscored)
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


Value = TypeVar("Value")


class RegressionScores(NamedTuple, Generic[Value]):
    """Every score of one model: numbers in a summary, arrays over time in a curve; several targets are averaged.

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


class CoverageScores(NamedTuple, Generic[Value]):
    """How well intervals hold, over the rows that had one: numbers in a summary, arrays over time in a curve.

    ``coverage`` is the share of targets inside their interval, ``width`` the mean width. ``pinball_lower`` and
    ``pinball_upper`` are the mean pinball losses of both ends, taken for the quantiles that the asked coverage leaves
    outside on either side alike. All are NaN where no row had an interval.

    Examples
    --------
    >>> CoverageScores(coverage=0.9, width=2.0, pinball_lower=0.1, pinball_upper=0.1).coverage
    0.9
    """

    coverage: Value
    width: Value
    pinball_lower: Value
    pinball_upper: Value


class RegressionSummary(NamedTuple):
    """Scores at the end of a stream, the baselines alongside, and those of the intervals where records have them.

    Of the ``rows``, the first ``unscored`` came before any target.

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
    running_median: RegressionScores[float]
    no_change: RegressionScores[float]
    intervals: CoverageScores[float] | None = None
    unscored: int = 0


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
    running_median: RegressionScores[Floats]
    no_change: RegressionScores[Floats]
    intervals: CoverageScores[Floats] | None = None


def summarise_regression(records: Iterable[RegressionRecord], average: Average | None = None) -> RegressionSummary:
    """Final scores of the model and of the baselines, over all rows unless an average says otherwise.

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
    rows = unscored = outputs = 0
    for record in records:
        running.push(_errors(record))
        rows, unscored, outputs = rows + len(record), unscored + record.unscored, _outputs(record)
    if rows == unscored:
        raise no_rows("summary")
    model, mean, median, last, intervals = _scores(running.mean(), outputs)
    return RegressionSummary(rows, model, mean, median, last, intervals, unscored)


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
    points: list[_Scores] = []
    rows = unscored = outputs = 0
    for record in records:
        rows, unscored, outputs = rows + record.unscored, unscored + record.unscored, _outputs(record)
        for reached in push_in_pieces(running, _errors(record), rows, every):
            rows = reached
            if rows % every == 0:
                seen.append(rows)
                points.append(_scores(running.mean(), outputs))
    if rows == unscored:
        raise no_rows("curve")
    if rows % every:
        seen.append(rows)
        points.append(_scores(running.mean(), outputs))
    model, mean, median, last, held = zip(*points, strict=True)

    def over_time(scores: tuple[RegressionScores[float], ...]) -> RegressionScores[Floats]:
        return RegressionScores(*map(np.array, zip(*scores, strict=True)))

    intervals = None if held[0] is None else CoverageScores(*map(np.array, zip(*held, strict=True)))
    scores = (over_time(model), over_time(mean), over_time(median), over_time(last))
    return RegressionCurve(np.array(seen), *scores, intervals)


def _outputs(record: RegressionRecord) -> int:
    return int(np.prod(record.y.shape[1:]))


def _errors(record: RegressionRecord) -> Floats:
    """One row per scored row: squared and absolute error of the model and of the baselines, and what `_held` says of
    the intervals, for each target.
    """
    columns = []
    for predicted in (record.predictions, record.running_mean, record.running_median, record.no_change):
        away = (predicted - record.y).reshape(len(record), -1)
        columns += [np.square(away), np.abs(away)]
    if record.lower is not None and record.upper is not None and record.coverage is not None:
        y, lower, upper = (each.reshape(len(record), -1) for each in (record.y, record.lower, record.upper))
        columns += _held(y, lower, upper, record.coverage)
    return np.concatenate(columns, axis=1)[record.unscored :]


def _held(y: Floats, lower: Floats, upper: Floats, coverage: float) -> list[Floats]:
    """Whether there is an interval, whether it holds the target, its width and its pinball losses; 0 without one."""
    tail = (1.0 - coverage) / 2.0
    losses = pinball_loss(y - lower, tail), pinball_loss(y - upper, 1.0 - tail)
    given = ~np.isnan(lower)
    return [np.where(given, each, 0.0) for each in (1.0, (lower <= y) & (y <= upper), upper - lower, *losses)]


_Scores: TypeAlias = tuple[
    RegressionScores[float],
    RegressionScores[float],
    RegressionScores[float],
    RegressionScores[float],
    CoverageScores[float] | None,
]


def _scores(means: Floats, outputs: int) -> _Scores:
    errors, of_intervals = np.split(means, [8 * outputs])
    errors = errors.reshape(4, 2, outputs)  # predictor, kind of error, target
    reference = errors[1, 0]
    model, mean, median, last = (
        RegressionScores(
            float(squared.mean()),
            float(absolute.mean()),
            float(np.mean([_gain(*pair) for pair in zip(squared.tolist(), reference.tolist(), strict=True)])),
        )
        for squared, absolute in errors
    )
    if len(of_intervals) == 0:
        return model, mean, median, last, None
    given, *held = of_intervals.reshape(5, outputs)
    with np.errstate(invalid="ignore"):
        return model, mean, median, last, CoverageScores(*(float((each / given).mean()) for each in held))


def _gain(error: float, reference: float) -> float:
    if reference > 0.0:
        return 1.0 - error / reference
    return math.nan if error == 0.0 else -math.inf
