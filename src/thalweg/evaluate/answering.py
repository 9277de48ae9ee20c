"""How a model is asked: our learners in one compiled call, other scikit-learn estimators row by row."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from sklearn.base import is_regressor

from thalweg.errors import InvalidParameter
from thalweg.evaluate.chunked import chunk_for, names_for, single_rows
from thalweg.evaluate.record import NO_ANSWER, Codes, encode
from thalweg.learners.rows import Row, as_rows
from thalweg.streams.stream import Floats, Labels

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
