"""Test-then-train (prequential) evaluation: every row is predicted first, then learned.

The baselines are evaluated on the same rows and get their labels or targets when the model does. A stream is one of
ours or any iterable of pairs of features and labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_regressor

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate.label_baselines import follow_baselines, new_baselines
from thalweg.evaluate.number_baselines import NumberBaselines
from thalweg.evaluate.record import NO_PREDICTION, Floats, Labels, Record, RegressionRecord, encode, encode_truth
from thalweg.evaluate.walkers import Model, Walked, Wanted, walk, walker_of
from thalweg.frames.frame import NamedRows
from thalweg.frames.reading import as_array, frame_of, sliced
from thalweg.labels import Labels as KnownLabels
from thalweg.labels import as_labels
from thalweg.learners.base.regressor import StreamRegressor, as_targets
from thalweg.learners.base.sparse_rows import is_sparse
from thalweg.parameters import whole_number
from thalweg.streams import Stream, Table
from thalweg.table_model import TableModel
from thalweg.tables.late_labels import Batch

#: A stream, or chunks of features and labels in arrays or in frames of any library.
Walkable: TypeAlias = Stream | Iterable[tuple[Any, Any]]


#: For those who have single rows.
_OF_RIVER = "thalweg.river.river_stream makes a stream of River's data sets and generators"


class ChunkedRows:
    """An iterable of chunks, cut where they are longer than asked for."""

    def __init__(self, chunks: Iterable[tuple[Any, Any]]) -> None:
        self._chunks = chunks

    def batches(self, size: int, rows: int | None = None) -> Iterator[tuple[Any, Any]]:
        """The chunks, each of at most ``size`` rows, up to so many rows in all."""
        left = rows
        for X, y in _pairs(self._chunks):
            labels = as_array(y)
            stop = len(labels) if left is None else min(left, len(labels))
            for start in range(0, stop, size):
                upto = min(start + size, stop)
                yield sliced(X, start, upto), labels[start:upto]
            if left is not None:
                left -= stop
                if left == 0:
                    return


def _pairs(chunks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    for chunk in chunks:
        if not isinstance(chunk, list | tuple) or len(chunk) != 2:
            hint = (
                "pass thalweg.streams.Table(X, y) for rows and their labels, "
                "or thalweg.frames.chunks(frame, target) for a frame with a column of labels"
            )
            raise InvalidInput(f"a chunk must be a pair of features and labels, got a {type(chunk).__name__}: {hint}")
        if isinstance(chunk[1], str) or not hasattr(chunk[1], "__len__"):
            raise InvalidInput(f"a chunk must be a pair of features and labels of rows, got a single row: {_OF_RIVER}")
        yield chunk[0], chunk[1]


def with_labels(stream: Any, y: Any) -> Walkable:
    """A frame or an array with its labels as a stream; ``y`` may name their column. Without any, what was given."""
    if y is None:
        return cast("Walkable", stream)
    if not isinstance(y, str):
        return Table(stream, y)
    frame = frame_of(stream)
    if frame is None:
        rule = "name a column only where rows are a frame"
        raise InvalidParameter.of("prequential", "y", rule, y)
    if y not in frame.names:
        raise InvalidInput.of_column("the frame", y, frame.names)
    rest = frame.select([name for name in frame.names if name != y])
    return Table(rest, frame.column(y))


def require_walkable(owner: str, stream: Any) -> None:
    """Raise `InvalidParameter` for what is neither a stream nor chunks."""
    table = isinstance(stream, np.ndarray | Mapping | str) or frame_of(stream) is not None
    if table or not isinstance(stream, Iterable):
        rule = "come with y, or be a Stream, or pairs of features and labels, as thalweg.frames.chunks gives them"
        raise InvalidParameter(f"The 'stream' parameter of {owner} must {rule}, got a {type(stream).__name__}.")


def batches_of(stream: Walkable, size: int, rows: int | None) -> Iterator[tuple[Any, Any]]:
    """The rows of either, some at a time; those of a stream that knows its columns with their names."""
    if not isinstance(stream, Stream):
        return ChunkedRows(stream).batches(size, rows)
    names = stream.given_names
    batches = stream.batches(size, rows)
    if names is None:
        return batches
    return ((NamedRows(X, names) if isinstance(X, np.ndarray) or is_sparse(X) else X, y) for X, y in batches)


def _classes_of(stream: Walkable, classes: ArrayLike | None) -> Labels:
    """Every label that may occur, sorted; chunks that can be gone through twice are asked for theirs."""
    if isinstance(stream, Stream):
        if classes is not None:
            raise InvalidParameter.of("prequential", "classes", "be left out for a Stream, which knows them", classes)
        return stream.classes
    if classes is not None:
        listed = list(as_array(classes))
        return KnownLabels.none().with_labels(as_labels(listed, len(listed), "prequential")).values
    if iter(stream) is stream:
        rule = f"list the labels that may occur where chunks can be gone through only once; {_OF_RIVER}"
        raise InvalidParameter.of("prequential", "classes", rule, classes)
    known = KnownLabels.none()
    for _, y in _pairs(stream):
        labels = as_array(y)
        known = known.with_labels(as_labels(labels, len(labels), "prequential"))
    return known.values


def prequential(
    model: Model,
    stream: Walkable | Any,
    y: ArrayLike | str | None = None,
    *,
    classes: ArrayLike | None = None,
    rows: int | None = None,
    chunk: int = 4096,
    with_proba: bool = True,
    delay: int = 0,
    coverage: float | None = None,
) -> Iterator[Any]:
    """Evaluate a model on a stream test-then-train: each row is predicted before its label is learned.

    The model continues from its current state. It has learned all rows once the records are exhausted. Before the first
    label neither the model nor the baselines have a prediction. `summarise` and `curve` do not score these rows, and
    all probabilities are equal there. A regressor that has learned nothing predicts 0 for its first row, as its
    baselines do.

    Parameters
    ----------
    model : learner
        A learner of thalweg (one compiled call per chunk), or a scikit-learn classifier or regressor with
        ``partial_fit`` (called row by row). Or a `TableClassifier` or `TableRegressor`: rows are then frames. With
        late labels the first chunk settles its columns.
    stream : Stream, iterable of (X, y), or rows of which y has the labels
        Source of the rows: a frame or an array with ``y``, a generated stream, or chunks of your own, arrays or frames.
        ``thalweg.frames.chunks(source, target)`` reads files and tables larger than memory.
    y : array-like or str, optional
        The labels or targets of rows in memory, or the name of their column in a frame.
    classes : array-like, optional
        All labels of the chunks, for a classifier. By default they are found by a first pass over the chunks. A
        generator allows only one pass and needs them. A `Stream` has its own.
    rows : int, optional
        Number of rows (default: the length of the stream, or all chunks).
    chunk : int >= 1
        Rows per record, or fewer where chunks are shorter. It sets memory use and the size of the records, and changes
        no prediction.
    with_proba : bool
        Whether to ask for probabilities (log-loss and Brier score need them) where the model has them.
    delay : int >= 0
        Delay of the labels, in rows. Row i is predicted when it arrives and learned right after row i + delay is
        predicted, as in ``thalweg run --delay``. The baselines get their labels when the model does. Records then have
        no rate and no weights. Intervals and members are judged by what they had predicted. The last ``delay`` rows are
        scored but not learned: `prequential` scores every row, and ``thalweg run`` only those whose label arrived.
    coverage : float, optional
        Ask for intervals that hold the target in this share of the rows, of a regressor that has intervals. The records
        then carry ``lower`` and ``upper``, and `summarise` says how well they hold.

    Yields
    ------
    Record or RegressionRecord
        The truth, the predictions of the model and of the baselines, and what else is known of ``chunk`` rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from thalweg import OnlineLDC
    >>> from thalweg.evaluate import prequential, summarise
    >>> from thalweg.frames import chunks
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=0).take(1000)
    >>> table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "side": y})
    >>> summary = summarise(prequential(OnlineLDC(0.1, counts="soft"), chunks(table, "side")))
    >>> summary.rows, bool(summary.model.error < 0.1)
    (1000, True)
    >>> from thalweg import AutoRegressor
    >>> from thalweg.streams import LinearResponse
    >>> records = prequential(AutoRegressor(), LinearResponse(seed=1), delay=20, coverage=0.9)
    >>> bool(abs(summarise(records).model.coverage - 0.9) < 0.02)
    True
    """
    owner = "prequential"
    stream = with_labels(stream, y)
    require_walkable(owner, stream)
    late, size = whole_number(owner, "delay", delay), whole_number(owner, "chunk", chunk, least=1)
    rows = None if rows is None else whole_number(owner, "rows", rows)
    learner = model._learner_now if isinstance(model, TableModel) else model
    if hasattr(learner, "__sklearn_tags__") and is_regressor(learner):
        if classes is not None:
            raise InvalidParameter.of(owner, "classes", "be left out for a regressor", classes)
        kind = type(learner) if isinstance(learner, StreamRegressor) else StreamRegressor
        kind._require_tracked(learner, coverage)
        walker = walker_of(model, Wanted(coverage=coverage), late, owner)
        return _records_of_numbers(walk(walker, batches_of(stream, size, rows), _targets, late), coverage, late)
    if coverage is not None:
        raise InvalidParameter.of(owner, "coverage", "be None for a classifier", coverage)
    known = _classes_of(stream, classes)
    if isinstance(model, TableModel) and getattr(model, "classes_", known).dtype.kind != known.dtype.kind:
        learned = model.classes_[0].item()  # which others would be read as, and then never be equal to
        raise InvalidInput(f"the labels must be of one type with those that were learned, such as {learned!r}")
    walker = walker_of(model, Wanted(known, with_proba), late, owner)
    return _records(walk(walker, batches_of(stream, size, rows), lambda y: as_labels(y, len(y), owner), late), known)


def _targets(y: Any) -> Floats:
    targets, columns = as_targets(y, len(y), "prequential")
    return targets[:, 0] if columns is None else targets


def _records_of_numbers(
    walked: Iterator[tuple[Floats, Batch, Walked]], coverage: float | None, delay: int
) -> Iterator[RegressionRecord]:
    baselines, start = NumberBaselines(), 0
    for truth, batch, (given, _) in walked:
        lower, upper = (given.lower, given.upper) if coverage is not None else (None, None)
        beside = baselines.follow(batch.order, batch.labels, batch.number)
        others = [beside[name][batch.carried :] for name in ("running_mean", "running_median", "last_value")]
        unpredicted = int(np.isnan(others[0].reshape(len(truth), -1)[:, 0]).sum()) if delay else 0
        predictions, mean, median, last = (np.where(np.isnan(each), 0.0, each) for each in (given.predictions, *others))
        yield RegressionRecord(start, truth, predictions, mean, median, last, lower, upper, coverage, unpredicted)
        start += len(truth)


def _records(walked: Iterator[tuple[Labels, Batch, Walked]], classes: Labels) -> Iterator[Record]:
    baselines, start = new_baselines(), 0
    for truth, batch, (given, unpredicted) in walked:
        y, codes = encode_truth(truth, classes), encode(given.predictions, classes)
        codes[:unpredicted] = NO_PREDICTION
        numbers = (encode(batch.labels, classes) if batch.carried else y) + 1
        given_by = follow_baselines(baselines, numbers, None if batch.at_once else batch.order)
        no_change, majority = (given_by[name][batch.carried :] - 1 for name in ("no_change", "majority"))
        yield Record(start, classes, y, codes, no_change, majority, given.proba, given.rate, given.weights)
        start += len(y)
