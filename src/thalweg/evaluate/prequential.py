"""Test-then-train (prequential) evaluation: every row is predicted first, then learned.

Our learners run in one compiled call per chunk, other scikit-learn estimators row by row. The no-change and majority
baselines are evaluated on the same rows. A stream is one of ours or any iterable of pairs of features and labels.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_regressor

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate.record import NO_ANSWER, Codes, Record, encode, encode_truth
from thalweg.frames.frame import NamedRows
from thalweg.frames.reading import as_array, frame_of, names_of_columns, sliced
from thalweg.learners.base.labels import Labels as KnownLabels
from thalweg.learners.base.labels import as_labels
from thalweg.learners.base.rows import Row, as_rows
from thalweg.parameters import whole_number
from thalweg.streams import Stream
from thalweg.streams.stream import Floats, Labels

#: A stream, or chunks of features and labels in arrays or in frames of any library.
Walkable: TypeAlias = Stream | Iterable[tuple[Any, Any]]


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
            hint = "rows and their labels are Table(X, y), and a frame with a target is chunks(frame, target)"
            raise InvalidInput(f"a chunk must be a pair of features and labels, got a {type(chunk).__name__}: {hint}")
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
    rows, names = as_rows(X, model, "X"), names_for(model, X)
    for start in range(len(rows)):
        row = rows[start : start + 1]
        yield row if names is None else NamedRows(row, names)


def chunk_for(model: Any, X: Any) -> Any:
    """X as it came; a stream's named rows as a plain array for a model that has no use for the names."""
    return X.values if isinstance(X, NamedRows) and names_for(model, X) is None else X


def names_for(model: Any, X: Any) -> list[Any] | None:
    """The names of X's columns where they say something to the model; None otherwise."""
    names = names_of_columns(X) if hasattr(model, "_has_use_for") else None
    return names if names is not None and model._has_use_for(names) else None


def classes_of(owner: str, stream: Walkable, classes: ArrayLike | None) -> Labels:
    """Every label that may occur, sorted; chunks that can be gone through twice are asked for theirs."""
    require_walkable(owner, stream)
    if isinstance(stream, Stream):
        if classes is not None:
            raise InvalidParameter.of(owner, "classes", "be left out for a Stream, which knows them", classes)
        return stream.classes
    if classes is not None:
        listed = list(as_array(classes))
        return KnownLabels.none().with_labels(as_labels(listed, len(listed), owner)).values
    if iter(stream) is stream:
        rule = "tell the labels that may occur where chunks can be gone through only once"
        raise InvalidParameter.of(owner, "classes", rule, classes)
    known = KnownLabels.none()
    for _, y in _pairs(stream):
        labels = as_array(y)
        known = known.with_labels(as_labels(labels, len(labels), owner))
    return known.values


#: One of our learners, or any scikit-learn classifier with ``partial_fit``.
Model: TypeAlias = Any


class Answers(NamedTuple):
    """A model's answers to a run of rows, in terms of the stream's classes."""

    codes: Codes
    proba: Floats | None
    rate: Floats | None
    weights: Floats | None


class Asker(Protocol):
    """Puts each row to the model, then teaches it the row's label."""

    def __call__(self, X: Any, y: Labels) -> Answers:
        """Answers given before the labels were learned; X may be a frame."""


def asker_of(owner: str, model: Model, classes: Labels, *, with_proba: bool, delay: int = 0) -> Asker:
    """The quickest way to evaluate this model, its labels coming ``delay`` rows late."""
    if hasattr(model, "__sklearn_tags__") and is_regressor(model):
        raise InvalidParameter.of(owner, "model", "be a classifier; prequential_regression walks a regressor", model)
    if delay > 0:
        if getattr(model, "_needs_labels_at_once", False):
            raise InvalidParameter.of(
                owner, "delay", "be 0 for a model with persistence, which answers by the label of the row before", delay
            )
        if hasattr(model, "predict_one") and hasattr(model, "learn_one"):
            return _LateAsker(model, classes, delay)
        raise InvalidParameter.of(owner, "model", "have predict_one and learn_one where labels are delayed", model)
    if hasattr(model, "predict_then_learn"):
        return _CompiledAsker(model, classes, with_proba)
    if hasattr(model, "predict") and hasattr(model, "partial_fit"):
        return _RowwiseAsker(model, classes, with_proba)
    raise InvalidParameter.of(owner, "model", "have predict_then_learn, or predict and partial_fit", model)


def knows_no_class(model: Model) -> bool:
    """Whether the model has not met a label yet."""
    return len(getattr(model, "classes_", ())) == 0


def teach(model: Model, X: Any, y: Labels, classes: Labels) -> None:
    """``partial_fit``, with the classes announced where the first call demands them."""
    announced = knows_no_class(model) and "classes" in inspect.signature(model.partial_fit).parameters
    model.partial_fit(X, y, **({"classes": classes} if announced else {}))


class _CompiledAsker:
    def __init__(self, model: Model, classes: Labels, with_proba: bool) -> None:
        self._model = model
        self._classes = classes
        self._with_proba = with_proba

    def __call__(self, X: Any, y: Labels) -> Answers:
        unanswered = 1 if knows_no_class(self._model) else 0
        labels, proba, rate, weights = self._model.predict_then_learn(
            chunk_for(self._model, X), y, with_proba=self._with_proba, with_rate=True, with_weights=True
        )
        codes = encode(labels, self._classes)
        codes[:unanswered] = NO_ANSWER
        if proba is not None:
            proba = _in_order_of(self._classes, proba, self._model.classes_)
            proba[:unanswered] = 1.0 / len(self._classes)
        return Answers(codes, proba, rate, weights)


class _LateAsker:
    """Answers rows as they come and teaches each ``delay`` rows later; rows still waiting at the end stay untaught."""

    def __init__(self, model: Model, classes: Labels, delay: int) -> None:
        self._model = model
        self._classes = classes
        self._delay = delay
        self._waiting: deque[tuple[Row, Any]] = deque()

    def __call__(self, X: Any, y: Labels) -> Answers:
        given: list[Any] = []
        for x, label in zip(self._rows(X), y.tolist(), strict=True):
            given.append(self._model.predict_one(x))
            self._waiting.append((x, label))
            if len(self._waiting) > self._delay:
                self._model.learn_one(*self._waiting.popleft())
        codes = np.full(len(y), NO_ANSWER, dtype=np.int64)
        known = np.array([answer is not None for answer in given], dtype=bool)
        if known.any():
            codes[known] = encode(np.array([answer for answer in given if answer is not None]), self._classes)
        return Answers(codes, None, None, None)

    def _rows(self, X: Any) -> Iterator[Row]:
        """Rows one by one, dicts for a model that has a use for names."""
        names = names_for(self._model, X)
        for row in as_rows(X, self._model, "X"):
            yield row if names is None else dict(zip(names, row.tolist(), strict=True))


class _RowwiseAsker:
    def __init__(self, model: Model, classes: Labels, with_proba: bool) -> None:
        self._model = model
        self._classes = classes
        self._with_proba = with_proba and hasattr(model, "predict_proba")

    def __call__(self, X: Any, y: Labels) -> Answers:
        codes = np.full(len(y), NO_ANSWER, dtype=np.int64)
        proba = np.full((len(y), len(self._classes)), 1.0 / len(self._classes)) if self._with_proba else None
        for i, row in enumerate(single_rows(X, self._model)):
            this = slice(i, i + 1)
            if not knows_no_class(self._model):
                codes[this] = encode(self._model.predict(row), self._classes)
                if proba is not None:
                    given = self._model.predict_proba(row)
                    proba[this] = _in_order_of(self._classes, given, self._model.classes_)
            teach(self._model, row, y[this], self._classes)
        return Answers(codes, proba, None, None)


def _in_order_of(classes: Labels, proba: Floats, model_classes: Labels) -> Floats:
    columns = encode(model_classes, classes)
    known = columns != NO_ANSWER
    ordered = np.zeros((len(proba), len(classes)))
    ordered[:, columns[known]] = proba[:, known]
    return ordered


class RunningBaselines:
    """No-change and majority, fed with the truth run by run.

    Parameters
    ----------
    n_classes : int
        How many codes there are.

    Examples
    --------
    >>> baselines = RunningBaselines(2)
    >>> baselines.before(np.array([1, 0, 0, 0]))
    (array([-1,  1,  0,  0]), array([-1,  1,  0,  0]))
    >>> baselines.after(np.array([1, 1, 1]))
    (array([1, 1, 1]), array([0, 0, 1]))
    """

    def __init__(self, n_classes: int) -> None:
        self._counts = np.zeros(n_classes, dtype=np.int64)
        self._no_change = NO_ANSWER
        self._majority = NO_ANSWER

    def before(self, y: Codes) -> tuple[Codes, Codes]:
        """The two answers to each row before its label is known."""
        no_change, majority = self._no_change, self._majority
        after_no_change, after_majority = self.after(y)
        return (
            np.concatenate(([no_change], after_no_change))[: len(y)],
            np.concatenate(([majority], after_majority))[: len(y)],
        )

    def after(self, y: Codes) -> tuple[Codes, Codes]:
        """The two answers right after each row's label is known."""
        if len(y) == 0:
            return y, y
        counts = self._counts + np.cumsum(y[:, np.newaxis] == np.arange(len(self._counts)), axis=0)
        majority = counts.argmax(axis=1)
        self._counts, self._no_change, self._majority = counts[-1], int(y[-1]), int(majority[-1])
        return y, majority


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
    """Walk a stream past a model; every row is answered before its label is learned.

    The model goes on from what it knows and has learned the rows when the records are exhausted. A model
    that knows no class yet has no answer to its first row, which counts as a mistake, as it does for the
    baselines; its probabilities there are all alike.

    Parameters
    ----------
    model : learner
        One of ours (asked in one compiled call per chunk), or any scikit-learn classifier with
        ``partial_fit`` (asked row by row).
    stream : Stream, or iterable of (X, y)
        Where the rows come from; chunks may be arrays or frames, as `thalweg.frames.chunks` gives them.
    classes : array-like, optional
        Every label that chunks may hold. By default chunks are gone through once before to see; a generator, which
        cannot be gone through twice, needs them. A stream knows its own.
    rows : int, optional
        How many; by default the stream's length, or all chunks.
    chunk : int >= 1
        Rows per record, or fewer where chunks are shorter. It changes memory and the rhythm of the records, never the
        answers.
    with_proba : bool
        Whether to ask for probabilities (log-loss and Brier score need them) where the model has them.
    delay : int >= 0
        How many rows late a label comes: each row is answered when it arrives and learned that many rows later. The
        model is then asked row by row, for labels alone, and the last rows stay unlearned. The baselines are shown
        as if their labels came at once.

    Yields
    ------
    Record
        The truth, the answers of the model and of both baselines, probabilities, rate and weights of ``chunk`` rows.

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
    known = classes_of("prequential", stream, classes)
    late = whole_number("prequential", "delay", delay)
    asker = asker_of("prequential", model, known, with_proba=with_proba, delay=late)
    if rows is not None:
        rows = whole_number("prequential", "rows", rows)
    return _walk(asker, stream, known, rows, whole_number("prequential", "chunk", chunk, least=1))


def _walk(asker: Asker, stream: Walkable, classes: Labels, rows: int | None, chunk: int) -> Iterator[Record]:
    baselines = RunningBaselines(len(classes))
    start = 0
    for X, given in batches_of(stream, chunk, rows):
        labels = as_labels(given, len(given), "prequential")
        y = encode_truth(labels, classes)
        no_change, majority = baselines.before(y)
        codes, proba, rate, weights = asker(X, labels)
        yield Record(start, classes, y, codes, no_change, majority, proba, rate, weights)
        start += len(y)
