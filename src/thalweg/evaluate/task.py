"""What predicting labels and predicting numbers differ in, in evaluation, in runs, in the service and on Spark.

Rows are predicted and learned at once, or in turn where labels come late.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.base.kept_predictions import KeptPredictions, ends_with_width
from thalweg.tables.encoder import rows_between

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.int64]
Kept: TypeAlias = KeptPredictions | None


class Asked(NamedTuple):
    """What is wanted beside predictions, of a model that has it; ``coverage`` is that of intervals."""

    proba: bool = False
    sets: bool = False
    details: bool = False
    coverage: float | None = None


class Given(NamedTuple):
    """Of each row what was asked for; None where the model has no such thing.

    Predictions before anything was learned, and of rows that were not predicted now, are NaN, or the zero of the
    labels' type. Ends are NaN for intervals without a width. Columns are as in ``classes_`` after the call.
    """

    predictions: NDArray[Any]
    proba: Floats | None = None
    sets: Flags | None = None
    rate: Floats | None = None
    weights: Floats | None = None
    lower: Floats | None = None
    upper: Floats | None = None

    def of(self, rows: Any) -> Given:
        predictions, *beside = self
        return Given(predictions[rows], *(None if values is None else values[rows] for values in beside))


class Task(ABC):
    """Predicting labels or numbers."""

    name: ClassVar[str]
    #: The label of interest, where there is one.
    positive: str | None = None

    def explained_label(self, model: Any) -> str | None:
        """The label whose probability the effects of columns are about; None of numbers."""
        return None

    @abstractmethod
    def has_prediction(self, values: NDArray[Any]) -> Flags:
        """Where there is one: labels are numbers from 1, 0 for none."""

    @abstractmethod
    def at_once(self, model: Any, X: Any, y: Any, asked: Asked) -> Given:
        """Predict each row, then learn it, before the next one is predicted."""

    @abstractmethod
    def in_turn(
        self, model: Any, X: Any, y: Any, order: Places, asked: Asked, kept: Kept = None, predicted: int = 0
    ) -> Given:
        """Take the steps of an order, as `follow` does."""

    @abstractmethod
    def prompt(self, model: Any, X: Any, y: Any, steps: Places, asked: Asked) -> Iterator[tuple[Places, Given]]:
        """Take steps by which rows that follow one another are each learned right after its prediction, or never.

        Yields parts of the steps, and what is given for each row predicted there.
        """


class LabelTask(Task):
    name = "classification"

    def has_prediction(self, values: NDArray[Any]) -> Flags:
        return values > 0

    def at_once(self, model: Any, X: Any, y: Any, asked: Asked) -> Given:
        if asked.sets:
            rows = np.arange(len(y))
            return self.in_turn(model, X, y, np.stack([rows, ~rows], axis=1).ravel(), asked)
        if not (asked.proba or asked.details):
            return Given(model.predict_then_learn(X, y))
        options = {"with_proba": asked.proba, "with_rate": asked.details, "with_weights": asked.details}
        labels, proba, rate, weights = model.predict_then_learn(X, y, **options)
        return Given(labels, proba, rate=rate, weights=weights)

    def in_turn(
        self, model: Any, X: Any, y: Any, order: Places, asked: Asked, kept: Kept = None, predicted: int = 0
    ) -> Given:
        if asked.sets:
            return Given(*model.follow_sets(X, y, order, kept=kept))
        return Given(*model.follow(X, y, order, with_proba=asked.proba, kept=kept))

    def prompt(self, model: Any, X: Any, y: Any, steps: Places, asked: Asked) -> Iterator[tuple[Places, Given]]:
        rows = steps[steps >= 0]
        if len(rows) == 0:
            return
        at = slice(int(rows[0]), int(rows[-1]) + 1)
        X, y = rows_between(X, at.start, at.stop), y[at]
        if len(steps) == 2 * len(rows):
            yield steps, self.at_once(model, X, y, asked)
        else:
            yield steps, self.in_turn(model, X, y, np.where(steps < 0, steps + at.start, steps - at.start), asked)

    def explained_label(self, model: Any) -> str:
        """The positive label; else the second of two, or the first of more."""
        labels = [str(label) for label in model.classes_]
        if self.positive in labels:
            return str(self.positive)
        return labels[-1] if len(labels) <= 2 else labels[0]


class NumberTask(Task):
    name = "regression"

    def has_prediction(self, values: NDArray[Any]) -> Flags:
        known: Flags = ~np.isnan(values)
        return known

    def at_once(self, model: Any, X: Any, y: Any, asked: Asked) -> Given:
        unpredicted = 0 if model.__sklearn_is_fitted__() else 1
        if hasattr(model, "predict_interval"):
            predictions, *ends = model.predict_interval_then_learn(X, y, asked.coverage)
        else:
            predictions, ends = model.predict_then_learn(X, y), []
        predictions[:unpredicted] = np.nan
        return _within(predictions, *ends)

    def in_turn(
        self, model: Any, X: Any, y: Any, order: Places, asked: Asked, kept: Kept = None, predicted: int = 0
    ) -> Given:
        return _within(*model.follow(X, y, order, coverage=asked.coverage, kept=kept, predicted=predicted))

    def prompt(self, model: Any, X: Any, y: Any, steps: Places, asked: Asked) -> Iterator[tuple[Places, Given]]:
        """A call for each stretch of one kind: `follow` would judge a row by what is kept of it."""
        rows = steps[steps >= 0]
        learned = np.append(steps[1:] < 0, False)[steps >= 0]
        for begin, end in pairwise(
            [0, *(np.flatnonzero(np.diff(learned)) + 1).tolist(), len(rows)] if len(rows) else ()
        ):
            part, at = rows[begin:end], slice(int(rows[begin]), int(rows[end - 1]) + 1)
            own = rows_between(X, at.start, at.stop)
            if learned[begin]:
                yield np.stack([part, ~part], axis=1).ravel(), self.at_once(model, own, y[at], asked)
            elif model.__sklearn_is_fitted__():
                yield part, _within(model.predict(own), *model.predict_interval(own, asked.coverage))


def _within(predictions: Floats, lower: Floats | None = None, upper: Floats | None = None) -> Given:
    if lower is None or upper is None:
        return Given(predictions)
    lower, upper = ends_with_width(lower, upper)
    return Given(predictions, lower=lower, upper=upper)
