"""Walkers take a model along a stream: each row is predicted before its label or number is learned, which may be late.

Our learners run in one compiled call per chunk, other scikit-learn estimators row by row.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate.record import NO_PREDICTION, Floats, Labels, encode
from thalweg.evaluate.task import Asked, Given, LabelTask, NumberTask, Task
from thalweg.frames.frame import NamedRows
from thalweg.frames.reading import names_of_columns
from thalweg.learners.base.kept_predictions import KeptPredictions
from thalweg.learners.base.rows import as_rows
from thalweg.learners.base.sparse_rows import is_sparse
from thalweg.table_model import TableModel
from thalweg.tables.late_labels import Batch, LateLabels

#: One of our learners, or any scikit-learn estimator with ``partial_fit``.
Model: TypeAlias = Any


class Walked(NamedTuple):
    """What is given for the fresh rows of a batch."""

    given: Given
    #: How many of the first rows came before anything was learned, and have no prediction.
    unpredicted: int


class Wanted(NamedTuple):
    """What a model is asked."""

    #: All labels, in whose order probabilities are given; None of numbers.
    classes: Labels | None = None
    with_proba: bool = False
    coverage: float | None = None

    @property
    def task(self) -> Task:
        return NumberTask() if self.classes is None else LabelTask()

    def proba(self, model: Model, given: Floats | None, rows: int, unpredicted: int) -> Floats:
        """Probabilities in the order of the classes, all alike where nothing was known."""
        assert self.classes is not None
        ordered = np.zeros((rows, len(self.classes)))
        if given is not None:
            columns = encode(model.classes_, self.classes)
            known = columns != NO_PREDICTION
            ordered[:, columns[known]] = given[:, known]
        ordered[: rows if given is None else unpredicted] = 1.0 / len(self.classes)
        return ordered

    def knows_nothing(self, model: Model) -> bool:
        if self.classes is not None:
            return knows_no_class(model)
        try:
            check_is_fitted(model)
        except NotFittedError:
            return True
        return False


class Walker(ABC):
    """Takes a model along a stream."""

    def __init__(self, model: Model, wanted: Wanted) -> None:
        self._model = model
        self._wanted = wanted

    @abstractmethod
    def held(self, X: Any, y: Any) -> Any:
        """A chunk as it is handed back in a `Batch`; X may be a frame."""

    @abstractmethod
    def __call__(self, batch: Batch) -> Walked:
        """Predict and learn the rows of a batch, in its order."""


def walker_of(model: Model, wanted: Wanted, delay: int, owner: str) -> Walker:
    """The quickest way to evaluate this model, its labels coming ``delay`` rows late."""
    if isinstance(model, TableModel) and delay:
        return _OfTable(model, wanted, delay)
    if delay > 0 and getattr(model, "_needs_labels_at_once", False):
        rule = "be 0 for a model with persistence, which predicts by the label of the row before"
        raise InvalidParameter.of(owner, "delay", rule, delay)
    if hasattr(model, "follow" if delay else "predict_then_learn"):
        return (_InTurn if delay else _AtOnce)(model, wanted)
    if hasattr(model, "predict") and hasattr(model, "partial_fit"):
        return _RowByRow(model, wanted, late=delay > 0)
    rule = "have predict_then_learn, or predict and partial_fit"
    if hasattr(model, "steps"):
        rule += ", which a thalweg.pipeline.StreamPipeline of steps that learn row by row has"
    raise InvalidParameter.of(owner, "model", rule, model)


def walk(
    walker: Walker, chunks: Iterator[tuple[Any, Any]], as_truth: Callable[[Any], NDArray[Any]], delay: int
) -> Iterator[tuple[NDArray[Any], Batch, Walked]]:
    """The truth of each chunk, in which order its rows were taken, and what the model gave."""
    late, start = LateLabels(delay=delay), 0
    for X, given in chunks:
        truth = as_truth(given)
        number = np.arange(start + 1, start + 1 + len(truth))
        batch = late.plan(walker.held(X, truth), truth, np.ones(len(truth), dtype=np.bool_), number)
        walked = walker(batch)
        if delay:
            late.keep(batch, {})
        yield truth, batch, walked
        start += len(truth)


def knows_no_class(model: Model) -> bool:
    return len(getattr(model, "classes_", ())) == 0


def teach(model: Model, X: Any, y: Labels, classes: Labels | None) -> None:
    """``partial_fit``, with the classes announced where the first call demands them."""
    wanted = classes is not None and knows_no_class(model)
    announced = wanted and "classes" in inspect.signature(model.partial_fit).parameters
    model.partial_fit(X, y, **({"classes": classes} if announced else {}))


def _single_rows(X: Any, model: Any) -> Iterator[Any]:
    """Chunks of one row each, with their names for a model that has a use for them."""
    if is_sparse(X):
        rows, names = X.tocsr(), None
    else:
        rows, names = as_rows(X, model, "X"), _names_for(model, X)
    for start in range(rows.shape[0]):
        row = rows[start : start + 1]
        yield row if names is None else NamedRows(row, names)


def _names_for(model: Any, X: Any) -> list[Any] | None:
    """The names of X's columns where they say something to the model; None otherwise."""
    names = names_of_columns(X) if hasattr(model, "_has_use_for") else None
    return names if names is not None and model._has_use_for(names) else None


class _AtOnce(Walker):
    def held(self, X: Any, y: Any) -> Any:
        """X as it came; a stream's named rows as a plain array for a model that has no use for the names."""
        return X.values if isinstance(X, NamedRows) and _names_for(self._model, X) is None else X

    def __call__(self, batch: Batch) -> Walked:
        model, wanted, X, y = self._model, self._wanted, batch.X, batch.labels
        unpredicted = int(wanted.knows_nothing(model))
        asked = Asked(wanted.with_proba, details=True, coverage=wanted.coverage)
        given = wanted.task.at_once(model, X, y, asked)
        if given.proba is not None:
            given = given._replace(proba=wanted.proba(model, given.proba, len(y), unpredicted))
        return Walked(given, unpredicted)


class _Late(Walker):
    """Chunks as arrays or compressed rows, so that rows that wait for their labels can stand before those that come."""

    #: Of the first chunk, and so of every row that waits.
    _width: int | None = None
    _names: list[Any] | None = None

    def held(self, X: Any, y: Any) -> Any:
        model = self._model
        if hasattr(model, "_without_texts"):
            X = model._without_texts(X)
        if is_sparse(X) and getattr(model, "_takes_sparse", False):
            rows, names = X.tocsr(), None
        else:
            rows, names = as_rows(X, model, "X"), _names_for(model, X)
        if self._width is None:
            self._width, self._names = rows.shape[1], names
        if rows.shape[1] != self._width or (names and self._names and names != self._names):
            had, got = self._names or f"{self._width} of them", names or f"{rows.shape[1]} of them"
            raise InvalidInput(f"Chunks must keep their columns while labels are late, {had}, got {got}.")
        return rows

    def _named(self, rows: Any) -> Any:
        return rows if self._names is None else NamedRows(rows, self._names)


class _InTurn(_Late):
    """Labels come late; rows still waiting at the end of the stream stay unlearned."""

    def __init__(self, model: Model, wanted: Wanted) -> None:
        super().__init__(model, wanted)
        #: Of rows that wait for their labels.
        self._kept = KeptPredictions.none(0)

    def __call__(self, batch: Batch) -> Walked:
        model, wanted, rows = self._model, self._wanted, len(batch.labels) - batch.carried
        X = self._named(batch.X)
        unpredicted = 0
        if wanted.knows_nothing(model):
            unpredicted = int(np.argmax(batch.order < 0)) if len(batch.learned) else len(batch.order)
        asked = Asked(wanted.with_proba and hasattr(model, "predict_proba"), coverage=wanted.coverage)
        kept, predicted = self._kept.before(rows), int(batch.number[-1]) - rows
        given = wanted.task.in_turn(model, X, batch.labels, batch.order, asked, kept, predicted)
        self._kept, given = kept[batch.waiting], given.of(slice(batch.carried, None))
        if asked.proba:
            given = given._replace(proba=wanted.proba(model, given.proba, rows, unpredicted))
        return Walked(given, unpredicted)


class _RowByRow(_Late):
    """A model of another library: one call for each prediction and for each row that it learns."""

    def __init__(self, model: Model, wanted: Wanted, *, late: bool) -> None:
        super().__init__(model, wanted)
        self._late = late

    def held(self, X: Any, y: Any) -> Any:
        if not self._late:
            return X
        return X.tocsr() if is_sparse(X) else super().held(X, y)

    def __call__(self, batch: Batch) -> Walked:
        model, wanted, y = self._model, self._wanted, batch.labels
        predictions, unpredicted = [y[:0]], 0
        probabilities: list[Any] = []
        rows = list(_single_rows(self._named(batch.X), model))
        for step in batch.order.tolist():
            if step < 0:
                teach(model, rows[~step], y[~step : ~step + 1], wanted.classes)
                continue
            unknown = int(wanted.knows_nothing(model))
            unpredicted += unknown
            predictions.append(np.zeros_like(y[:1]) if unknown else np.asarray(model.predict(rows[step])))
            if wanted.with_proba and hasattr(model, "predict_proba"):
                given = None if unknown else model.predict_proba(rows[step])
                probabilities.append(wanted.proba(model, given, 1, unknown))
        proba = np.concatenate(probabilities) if probabilities else None
        return Walked(Given(np.concatenate(predictions), proba), unpredicted)


class _OfTable(Walker):
    """Labels of a table's rows come late: rows are encoded as they come, as in a run, and its learner learns them."""

    def __init__(self, model: TableModel, wanted: Wanted, delay: int) -> None:
        super().__init__(model, wanted)
        self._delay = delay
        self._inside: Walker | None = None
        self._before: Any = None

    def held(self, X: Any, y: Any) -> Any:
        model = self._model
        if not model.__sklearn_is_fitted__():
            model._settle(X, y)
        if model.encoder_.history is not None:
            model.encoder_.history.come_late(self._delay)
        self._before = model.encoder_.mark()
        rows = model._encoded_to_learn(X, y)
        if self._inside is None:
            classes = None if self._wanted.classes is None else np.sort(self._as_learned(self._wanted.classes))
            self._inside = walker_of(model.learner_, self._wanted._replace(classes=classes), 1, "prequential")
        return self._inside.held(rows, y)

    def __call__(self, batch: Batch) -> Walked:
        assert self._inside is not None
        try:
            given, unpredicted = self._inside(replace(batch, labels=self._as_learned(batch.labels)))
        except Exception:
            self._model.encoder_.undo(self._before)
            raise
        if self._wanted.classes is None:
            return Walked(given, unpredicted)
        learned = self._as_learned(self._wanted.classes)
        proba = None if given.proba is None else given.proba[:, np.searchsorted(np.sort(learned), learned)]
        return Walked(given._replace(predictions=self._model._typed(given.predictions), proba=proba), unpredicted)

    def _as_learned(self, y: Any) -> Any:
        return self._model._targets(y, len(y))
