"""The papers' protocol on generated streams: after each learned row, a fresh test set of its concept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from thalweg.errors import InvalidParameter
from thalweg.evaluate.label_baselines import follow_baselines, new_baselines
from thalweg.evaluate.record import Codes, encode_truth
from thalweg.evaluate.walkers import Model, teach
from thalweg.parameters import whole_number
from thalweg.streams import ConceptStream
from thalweg.streams.stream import Floats, Rows

#: A class so rare in the first concept that it is not met in this many rows cannot be started with.
_MOST_START_ROWS = 1_000_000


class StepRecord(NamedTuple):
    """One step: row ``step`` was learned, then a fresh test set of its concept was predicted.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.streams import Stagger
    >>> first, *_ = holdout(NoChange(), Stagger(seed=1), steps=3)
    >>> first.step, first.error == first.no_change_error
    (0, True)
    """

    step: int
    error: float
    no_change_error: float
    majority_error: float
    rate: float | None


class Steps(NamedTuple):
    """All steps, as arrays.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.streams import Stagger
    >>> steps = collect_steps(holdout(NoChange(), Stagger(seed=1), steps=3))
    >>> steps.step.tolist(), steps.rate is None
    ([0, 1, 2], True)
    """

    step: Codes
    error: Floats
    no_change_error: Floats
    majority_error: Floats
    rate: Floats | None


def holdout(
    model: Model,
    stream: ConceptStream,
    *,
    start: int = 10,
    steps: int | None = None,
    n_test: int = 100,
    chunk: int = 1024,
    with_rate: bool = False,
) -> Iterator[StepRecord]:
    """Learn a stream row by row and test after each row on fresh rows of the current concept.

    Start rows, training rows (the stream's own) and test rows are random independently of one another, and
    are the same for every model.

    Parameters
    ----------
    model : learner
        One of ours (many steps in one compiled call), or any scikit-learn classifier with ``partial_fit``.
    stream : ConceptStream
        A stream with a concept at every time.
    start : int
        Rows of the concept at time 0 given to ``fit`` beforehand, of which the first are one of each class;
        0 leaves the model as it is.
    steps : int, optional
        How many rows to learn; by default the stream's length.
    n_test : int >= 1
        Test rows per step.
    chunk : int >= 1
        Steps whose test sets are in memory at once. It never changes the records.
    with_rate : bool
        Whether to note the learning rate at each step; our learners are then called step by step.

    Yields
    ------
    StepRecord
        The step and its error, with those of the baselines: the last label learned, and the most frequent.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.streams import MovingPlane
    >>> steps = collect_steps(holdout(OnlineLDC(0.9), MovingPlane(seed=1), steps=200))
    >>> bool(steps.error.mean() < 0.5 * steps.no_change_error.mean())
    True
    """
    steps = stream.length if steps is None else whole_number("holdout", "steps", steps)
    n_test = whole_number("holdout", "n_test", n_test, least=1)
    start = whole_number("holdout", "start", start)
    chunk = whole_number("holdout", "chunk", chunk, least=1)
    compiled = hasattr(model, "learn_then_test")
    if not compiled and not (hasattr(model, "predict") and hasattr(model, "partial_fit")):
        raise InvalidParameter.of("holdout", "model", "have learn_then_test, or predict and partial_fit", model)
    first_rows = draw_start(stream, start) if start else None
    return _walk(model, stream, first_rows, steps, n_test, chunk, compiled=compiled, with_rate=with_rate)


def draw_start(stream: ConceptStream, rows: int) -> Rows:
    """Rows of the concept at time 0, of which the first are one of each class.

    As in the paper's experiments, a row of the wrong class is drawn again while a class is still missing.

    Examples
    --------
    >>> from thalweg.streams import Stagger
    >>> X, y = draw_start(Stagger(seed=1), 10)
    >>> X.shape, y[:2].tolist()
    ((10, 9), [0, 1])
    """
    classes = stream.classes
    if rows < len(classes):
        raise InvalidParameter.of("holdout", "start", f"be 0 or at least the {len(classes)} classes", rows)
    source = stream.sampler("start")
    X, y = source.rows_at(np.zeros(4 * rows, dtype=np.int64))
    kept: list[int] = []
    while len(kept) < rows:
        at = kept[-1] + 1 if kept else 0
        wanted = y[at:] == classes[len(kept)] if len(kept) < len(classes) else np.ones(len(y) - at, dtype=bool)
        if wanted.any():
            kept.append(at + int(wanted.argmax()))
        elif len(y) < _MOST_START_ROWS:
            more_X, more_y = source.rows_at(np.zeros(len(y), dtype=np.int64))
            X, y = np.concatenate([X, more_X]), np.concatenate([y, more_y])
        else:
            rule = f"be 0 where class {classes[len(kept)]} does not occur in the concept at time 0"
            raise InvalidParameter.of("holdout", "start", rule, rows)
    return X[kept], y[kept]


def collect_steps(records: Iterable[StepRecord]) -> Steps:
    """The records' columns as arrays.

    Examples
    --------
    >>> records = [StepRecord(0, 0.25, 0.5, 0.5, None), StepRecord(1, 0.125, 0.5, 0.5, None)]
    >>> collect_steps(records).error.tolist()
    [0.25, 0.125]
    """
    every = list(records)
    rates = [record.rate for record in every]
    return Steps(
        np.array([record.step for record in every], dtype=np.int64),
        np.array([record.error for record in every], dtype=np.float64),
        np.array([record.no_change_error for record in every], dtype=np.float64),
        np.array([record.majority_error for record in every], dtype=np.float64),
        None if None in rates else np.array(rates, dtype=np.float64),
    )


def _walk(
    model: Model,
    stream: ConceptStream,
    first_rows: Rows | None,
    steps: int,
    n_test: int,
    chunk: int,
    *,
    compiled: bool,
    with_rate: bool,
) -> Iterator[StepRecord]:
    classes = stream.classes
    baselines = new_baselines()
    if first_rows is not None:
        model.fit(*first_rows)
        follow_baselines(baselines, encode_truth(first_rows[1], classes) + 1, None)
    test_rows = stream.sampler("test")
    at = 0
    for X, y in stream.batches(chunk, steps):
        X_test, y_test = test_rows.sets_at(np.arange(at, at + len(y)), n_test)
        truth = encode_truth(y_test, classes)
        rates: list[float | None] = [None] * len(y)
        mistakes: list[int] = []
        if compiled and not with_rate:
            mistakes = model.learn_then_test(X, y, X_test, y_test).tolist()
        for row in range(len(mistakes), len(y)):
            this = slice(row, row + 1)
            if compiled:
                mistakes += model.learn_then_test(X[this], y[this], X_test[this], y_test[this]).tolist()
            else:
                teach(model, X[this], y[this], classes)
                mistakes.append(int(np.count_nonzero(model.predict(X_test[row]) != y_test[row])))
            if with_rate:
                rates[row] = getattr(model, "rate_", None)
        learned = np.arange(len(y))
        learned_first = np.stack([~learned, learned], axis=1).ravel()
        after = follow_baselines(baselines, encode_truth(y, classes) + 1, learned_first).values()
        shares = [(truth != numbers[:, np.newaxis] - 1).mean(axis=1).tolist() for numbers in after]
        for i, wrong in enumerate(mistakes):
            yield StepRecord(at + i, wrong / n_test, shares[0][i], shares[1][i], rates[i])
        at += len(y)
