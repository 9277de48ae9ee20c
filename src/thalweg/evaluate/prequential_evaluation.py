"""Test-then-train (prequential) evaluation: every row is predicted first, then learned.

Our learners run in one compiled call per chunk, other scikit-learn estimators row by row. The no-change and majority
baselines are evaluated on the same rows and get their labels when the model does. A stream is one of ours or any
iterable of pairs of features and labels.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_regressor

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate.late_labels import Batch, LateLabels, follow_baselines, new_baselines
from thalweg.evaluate.record import NO_PREDICTION, Codes, Floats, Labels, Record, encode, encode_truth
from thalweg.frames.frame import NamedRows
from thalweg.frames.reading import as_array, frame_of, names_of_columns, sliced
from thalweg.labels import Labels as KnownLabels
from thalweg.labels import as_labels
from thalweg.learners.base.member_predictions import MemberPredictions
from thalweg.learners.base.rows import Row, as_rows
from thalweg.learners.base.sparse_rows import is_sparse
from thalweg.parameters import whole_number
from thalweg.streams import Stream
from thalweg.table_model import TableClassifier, TableModel, TableRegressor

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


def require_walkable(owner: str, stream: Any) -> None:
    """Raise `InvalidParameter` for what is neither a stream nor chunks."""
    table = isinstance(stream, np.ndarray | Mapping | str) or frame_of(stream) is not None
    if table or not isinstance(stream, Iterable):
        rule = "be a Stream, as Table(X, y) is, or pairs of features and labels, as thalweg.frames.chunks gives them"
        raise InvalidParameter(f"The 'stream' parameter of {owner} must {rule}, got a {type(stream).__name__}.")


def batches_of(stream: Walkable, size: int, rows: int | None) -> Iterator[tuple[Any, Any]]:
    """The rows of either, some at a time; those of a stream that knows its columns with their names."""
    if not isinstance(stream, Stream):
        return ChunkedRows(stream).batches(size, rows)
    names = stream.given_names
    batches = stream.batches(size, rows)
    return batches if names is None else ((NamedRows(X, names), y) for X, y in batches)


def single_rows(X: Any, model: Any) -> Iterator[Any]:
    """Chunks of one row each, with their names for a model that has a use for them."""
    if is_sparse(X):
        rows, names = X.tocsr(), None
    else:
        rows, names = as_rows(X, model, "X"), names_for(model, X)
    for start in range(rows.shape[0]):
        row = rows[start : start + 1]
        yield row if names is None else NamedRows(row, names)


def chunk_for(model: Any, X: Any) -> Any:
    """X as it came; a stream's named rows as a plain array for a model that has no use for the names."""
    return X.values if isinstance(X, NamedRows) and names_for(model, X) is None else X


def names_for(model: Any, X: Any) -> list[Any] | None:
    """The names of X's columns where they say something to the model; None otherwise."""
    names = names_of_columns(X) if hasattr(model, "_has_use_for") else None
    return names if names is not None and model._has_use_for(names) else None


def _classes_of(stream: Walkable, classes: ArrayLike | None) -> Labels:
    """Every label that may occur, sorted; chunks that can be gone through twice are asked for theirs."""
    require_walkable("prequential", stream)
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


#: One of our learners, or any scikit-learn classifier with ``partial_fit``.
Model: TypeAlias = Any


class Predictions(NamedTuple):
    codes: Codes
    proba: Floats | None
    rate: Floats | None
    weights: Floats | None


class Walker(Protocol):
    """Takes a model along a stream: every row is predicted before its label is learned."""

    def held(self, X: Any) -> Any:
        """A chunk as it is handed back in a `Batch`; X may be a frame."""

    def __call__(self, batch: Batch) -> Predictions:
        """Predict and learn the rows of a batch, in its order."""


def _walker_of(model: Model, classes: Labels, *, with_proba: bool, delay: int) -> Walker:
    """The quickest way to evaluate this model, its labels coming ``delay`` rows late."""
    if isinstance(model, TableClassifier):
        return TableWalker(model, _walker_of(model.learner, classes, with_proba=with_proba, delay=delay))
    if delay > 0:
        if getattr(model, "_needs_labels_at_once", False):
            rule = "be 0 for a model with persistence, which predicts by the label of the row before"
            raise InvalidParameter.of("prequential", "delay", rule, delay)
        if hasattr(model, "predict_one") and hasattr(model, "learn_one"):
            return _LateWalker(model, classes, with_proba)
    elif hasattr(model, "predict_then_learn"):
        return _CompiledWalker(model, classes, with_proba)
    if hasattr(model, "predict") and hasattr(model, "partial_fit"):
        return _RowwiseWalker(model, classes, with_proba, late=delay > 0)
    rule = "have predict_then_learn, or predict and partial_fit"
    if hasattr(model, "steps"):
        rule += ", which a thalweg.pipeline.StreamPipeline of steps that learn row by row has"
    raise InvalidParameter.of("prequential", "model", rule, model)


def knows_no_class(model: Model) -> bool:
    return len(getattr(model, "classes_", ())) == 0


def teach(model: Model, X: Any, y: Labels, classes: Labels) -> None:
    """``partial_fit``, with the classes announced where the first call demands them."""
    announced = knows_no_class(model) and "classes" in inspect.signature(model.partial_fit).parameters
    model.partial_fit(X, y, **({"classes": classes} if announced else {}))


class _CompiledWalker:
    def __init__(self, model: Model, classes: Labels, with_proba: bool) -> None:
        self._model = model
        self._classes = classes
        self._with_proba = with_proba

    def held(self, X: Any) -> Any:
        return chunk_for(self._model, X)

    def __call__(self, batch: Batch) -> Predictions:
        unpredicted = 1 if knows_no_class(self._model) else 0
        labels, proba, rate, weights = self._model.predict_then_learn(
            batch.X, batch.labels, with_proba=self._with_proba, with_rate=True, with_weights=True
        )
        codes = encode(labels, self._classes)
        codes[:unpredicted] = NO_PREDICTION
        if proba is not None:
            proba = _in_order_of(self._classes, proba, self._model.classes_)
            proba[:unpredicted] = 1.0 / len(self._classes)
        return Predictions(codes, proba, rate, weights)


class LateRows:
    """Chunks as arrays or compressed rows, so that rows that wait for their labels can stand before those that come."""

    def __init__(self, model: Model) -> None:
        self._model = model
        #: Of the first chunk, and so of every row that waits.
        self._width: int | None = None
        self._names: list[Any] | None = None

    def held(self, X: Any) -> Any:
        model = self._model
        if hasattr(model, "_without_texts"):
            X = model._without_texts(X)
        if is_sparse(X) and getattr(model, "_takes_sparse", False):
            rows, names = X.tocsr(), None
        else:
            rows, names = as_rows(X, model, "X"), names_for(model, X)
        if self._width is None:
            self._width, self._names = rows.shape[1], names
        if rows.shape[1] != self._width or (names and self._names and names != self._names):
            had, got = self._names or f"{self._width} of them", names or f"{rows.shape[1]} of them"
            raise InvalidInput(f"Chunks must keep their columns while labels are late, {had}, got {got}.")
        return rows


class _LateWalker(LateRows):
    """Labels come late; rows still waiting at the end of the stream stay unlearned."""

    def __init__(self, model: Model, classes: Labels, with_proba: bool) -> None:
        super().__init__(model)
        self._classes = classes
        self._with_proba = with_proba and hasattr(model, "follow") and hasattr(model, "predict_proba")
        #: Of rows that wait for their labels.
        self._members = MemberPredictions.none(0)

    def __call__(self, batch: Batch) -> Predictions:
        if hasattr(self._model, "follow"):
            codes, proba = self._followed(batch)
        else:
            codes, proba = self._row_by_row(batch), None
        return Predictions(codes[batch.carried :], None if proba is None else proba[batch.carried :], None, None)

    def _followed(self, batch: Batch) -> tuple[Codes, Floats | None]:
        unpredicted = 0
        if knows_no_class(self._model):
            unpredicted = int(np.argmax(batch.order < 0)) if len(batch.learned) else len(batch.order)
        rows = batch.X if self._names is None else NamedRows(batch.X, self._names)
        members = self._members.before(len(batch.labels) - batch.carried)
        labels, given = self._model.follow(
            rows, batch.labels, batch.order, with_proba=self._with_proba, member_predictions=members
        )
        self._members = members[batch.waiting]
        nothing = slice(batch.carried, batch.carried + unpredicted)
        codes, proba = encode(labels, self._classes), None
        codes[nothing] = NO_PREDICTION
        if self._with_proba:
            proba = np.full((len(codes), len(self._classes)), 1.0 / len(self._classes))
            if given is not None:
                proba = _in_order_of(self._classes, given, self._model.classes_)
                proba[nothing] = 1.0 / len(self._classes)
        return codes, proba

    def _row_by_row(self, batch: Batch) -> Codes:
        """Rows one by one, dicts for a model that has a use for names."""
        rows: list[Row] = list(batch.X)
        if self._names is not None:
            rows = [dict(zip(self._names, row, strict=True)) for row in batch.X.tolist()]
        labels, given = batch.labels.tolist(), {}
        for step in batch.order.tolist():
            if step < 0:
                self._model.learn_one(rows[~step], labels[~step])
            elif (predicted := self._model.predict_one(rows[step])) is not None:
                given[step] = predicted
        codes = np.full(len(rows), NO_PREDICTION, dtype=np.int64)
        if given:
            codes[list(given)] = encode(np.array(list(given.values())), self._classes)
        return codes


class TableWalker:
    """Rows of a table go through the encoder, which remembers them as in a run; its learner is walked by another."""

    def __init__(self, model: TableModel, walker: Any) -> None:
        self._model = model
        self._walker = walker
        self._before: dict[str, Any] = {}

    def held(self, X: Any) -> Any:
        table = self._model._table(X)
        self._before = self._model.encoder.state()
        return self._walker.held(self._model._encoded_to_learn(table))

    def __call__(self, batch: Batch, *others: Any) -> Any:
        try:
            return self._walker(batch, *others)
        except Exception:
            self._model.encoder.restore(self._before)
            raise


class _RowwiseWalker(LateRows):
    """A model of another library: one call for each prediction and for each row that it learns."""

    def __init__(self, model: Model, classes: Labels, with_proba: bool, *, late: bool) -> None:
        super().__init__(model)
        self._classes = classes
        self._with_proba = with_proba and hasattr(model, "predict_proba")
        self._late = late

    def held(self, X: Any) -> Any:
        if not self._late:
            return X
        return X.tocsr() if is_sparse(X) else super().held(X)

    def __call__(self, batch: Batch) -> Predictions:
        y = batch.labels
        codes = np.full(len(y), NO_PREDICTION, dtype=np.int64)
        proba = np.full((len(y), len(self._classes)), 1.0 / len(self._classes)) if self._with_proba else None
        rows = list(single_rows(batch.X, self._model))
        for step in batch.order.tolist():
            if step < 0:
                teach(self._model, rows[~step], y[~step : ~step + 1], self._classes)
            elif not knows_no_class(self._model):
                this = slice(step, step + 1)
                codes[this] = encode(self._model.predict(rows[step]), self._classes)
                if proba is not None:
                    given = self._model.predict_proba(rows[step])
                    proba[this] = _in_order_of(self._classes, given, self._model.classes_)
        return Predictions(codes[batch.carried :], None if proba is None else proba[batch.carried :], None, None)


def _in_order_of(classes: Labels, proba: Floats, model_classes: Labels) -> Floats:
    columns = encode(model_classes, classes)
    known = columns != NO_PREDICTION
    ordered = np.zeros((len(proba), len(classes)))
    ordered[:, columns[known]] = proba[:, known]
    return ordered


def prequential(
    model: Model,
    stream: Walkable,
    *,
    classes: ArrayLike | None = None,
    rows: int | None = None,
    chunk: int = 4096,
    with_proba: bool = True,
    delay: int = 0,
) -> Iterator[Record]:
    """Evaluate a model on a stream test-then-train: each row is predicted before its label is learned.

    The model continues from its current state. It has learned all rows once the records are exhausted. Before the first
    label neither the model nor the baselines have a prediction. `summarise` and `curve` do not score these rows, and
    all probabilities are equal there.

    Parameters
    ----------
    model : learner
        A learner of thalweg (one compiled call per chunk), or a scikit-learn classifier with ``partial_fit`` (called
        row by row). Or a `TableClassifier`: rows are then frames, and labels those of its ``learner``, which are text
        for the model of a run.
    stream : Stream, or iterable of (X, y)
        Source of the rows. ``thalweg.streams.Table(X, y)`` is for rows and labels in memory.
        ``thalweg.frames.chunks(source, target)`` is for a frame or a file with a column of labels. Generated streams,
        and chunks of your own, arrays or frames, work too.
    classes : array-like, optional
        All labels of the chunks. By default they are found by a first pass over the chunks. A generator allows only one
        pass and needs them. A `Stream` has its own.
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
        no rate and no weights. The last ``delay`` rows are scored but not learned: `prequential` scores every row, and
        ``thalweg run`` only those whose label arrived.

    Yields
    ------
    Record
        The truth, the predictions of the model and of both baselines, probabilities, rate and weights of ``chunk``
        rows.

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
    """
    if isinstance(model, TableRegressor) or (hasattr(model, "__sklearn_tags__") and is_regressor(model)):
        rule = "be a classifier; prequential_regression evaluates regressors"
        raise InvalidParameter.of("prequential", "model", rule, model)
    known = _classes_of(stream, classes)
    late = whole_number("prequential", "delay", delay)
    walker = _walker_of(model, known, with_proba=with_proba, delay=late)
    if rows is not None:
        rows = whole_number("prequential", "rows", rows)
    return _walk(walker, stream, known, rows, whole_number("prequential", "chunk", chunk, least=1), late)


def _walk(
    walker: Walker, stream: Walkable, classes: Labels, rows: int | None, chunk: int, delay: int
) -> Iterator[Record]:
    baselines, late = new_baselines(), LateLabels(delay=delay)
    start = 0
    for X, given in batches_of(stream, chunk, rows):
        labels = as_labels(given, len(given), "prequential")
        y = encode_truth(labels, classes)
        number = np.arange(start + 1, start + 1 + len(y))
        batch = late.plan(walker.held(X), labels, np.ones(len(y), dtype=np.bool_), number)
        codes, proba, rate, weights = walker(batch)
        numbers = (encode(batch.labels, classes) if batch.carried else y) + 1
        given_by = follow_baselines(baselines, numbers, None if batch.at_once else batch.order)
        no_change, majority = (given_by[name][batch.carried :] - 1 for name in ("no_change", "majority"))
        if not batch.at_once:
            late.keep(batch, {})
        yield Record(start, classes, y, codes, no_change, majority, proba, rate, weights)
        start += len(y)
