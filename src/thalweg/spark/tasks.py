"""What learning labels and learning numbers differ in: how a group of rows is predicted and learned, and what is said
beside each prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from thalweg.errors import InvalidParameter
from thalweg.evaluate.late_targets import (
    ends_with_width,
    follow_numbers,
    has_intervals,
    is_fitted,
    members_of,
    nothing_given,
)
from thalweg.frames.frame import Floats, NamedRows
from thalweg.labels import probability_of_predictions
from thalweg.learners.base.member_predictions import MemberPredictions
from thalweg.spark.late_labels import LabelJoin
from thalweg.spark.packing import CONFIDENCE, LOWER, UPPER

#: Of a number.
_BYTES = 8
#: What is remembered of a row beside the predictions of the members: both ends of its interval, its number, and the
#: prediction.
_ENDS, _NUMBER, _PREDICTED, _MEMBERS = slice(0, 2), 2, 3, 4


class Predictions(NamedTuple):
    """Of each row in hand: the prediction, the numbers beside it, and what is remembered until its label comes.

    NaN stands for what was not given; of rows that were predicted before the prediction is not looked at.
    """

    predictions: NDArray[Any]
    beside: tuple[Floats | None, ...] = ()
    remembered: Floats | None = None


class Task(Protocol):
    @property
    def beside(self) -> tuple[str, ...]:
        """Names of the numbers that are said beside each prediction."""

    @property
    def remembered(self) -> int:
        """How many numbers are remembered of a row that waits for its label."""

    def at_once(self, model: Any, rows: NamedRows, targets: NDArray[Any]) -> Predictions:
        """Predict and learn rows that have their labels."""

    def in_turn(self, model: Any, join: LabelJoin, names: Sequence[str], predicted: int) -> Predictions:
        """Predict and learn in the order of the join, ``predicted`` rows having been predicted before."""

    def beside_then(self, remembered: Floats) -> tuple[Floats, ...]:
        """What was said beside the predictions of rows that waited."""


def task_of(model: Any, features: int, *, confidence: bool, coverage: float | None, owner: str) -> Task:
    """The task of a model; `InvalidParameter` for what does not go with it."""
    if not is_regressor(model):
        if coverage is not None:
            raise InvalidParameter.of(owner, "coverage", "be None for a classifier", coverage)
        kept = getattr(model._make_core(features), "kept_size", 0) if hasattr(model, "_make_core") else 0
        return Classification(confidence, -(-kept // _BYTES))
    if confidence:
        raise InvalidParameter.of(owner, "confidence", "be False for a regressor", confidence)
    if not has_intervals(model):
        require_no_coverage(coverage, owner)
        return Regression()
    model._require_tracked(coverage)  # refused here rather than in a worker
    return IntervalRegression(coverage, members_of(model, features))


def require_no_coverage(coverage: float | None, owner: str) -> None:
    if coverage is not None:
        rule = "be None for a model without intervals, which PredictionIntervals puts around any regressor"
        raise InvalidParameter.of(owner, "coverage", rule, coverage)


@dataclass(frozen=True)
class Classification:
    """Labels, with the probability of each prediction where it is wanted and the classifier has it.

    What members predicted for a row that waits is remembered as bytes in the place of so many numbers.
    """

    confident: bool = False
    remembered: int = 0

    @property
    def beside(self) -> tuple[str, ...]:
        return (CONFIDENCE,) if self.confident else ()

    def at_once(self, model: Any, rows: NamedRows, targets: NDArray[Any]) -> Predictions:
        if not self._asks(model):
            return Predictions(model.predict_then_learn(rows, targets), (None,) * len(self.beside))
        predictions, proba, *_ = model.predict_then_learn(rows, targets, with_proba=True)
        return Predictions(predictions, (_likely(model, proba, predictions),))

    def in_turn(self, model: Any, join: LabelJoin, names: Sequence[str], predicted: int) -> Predictions:
        nothing = (None,) * len(self.beside)
        if len(join.order) == 0:  # labels alone, without a row that waits for one
            unchanged = join.remembered_before if self.remembered else None
            return Predictions(np.zeros(len(join.rows), dtype=join.truth.dtype), nothing, unchanged)
        rows, asks = NamedRows(join.rows, names), self._asks(model)
        options: dict[str, Any] = {"with_proba": asks}
        if self.remembered:
            before: NDArray[np.uint8] = np.ascontiguousarray(join.remembered_before).view(np.uint8)
            size = model._make_core(len(names)).kept_size
            carried = MemberPredictions(before[:, :size], getattr(model, "classes_", np.empty(0)).tolist())
            options["member_predictions"] = members = carried.before(len(join.rows) - join.old)
        predictions, proba = model.follow(rows, join.truth, join.order, **options)
        beside = (_likely(model, proba, predictions),) if asks else nothing
        if not self.remembered:
            return Predictions(predictions, beside)
        remembered = np.zeros((len(members), self.remembered * _BYTES), dtype=np.uint8)
        remembered[:, : members.values.shape[1]] = members.values
        return Predictions(predictions, beside, remembered.view(np.float64))

    def beside_then(self, remembered: Floats) -> tuple[Floats, ...]:
        return ()

    def _asks(self, model: Any) -> bool:
        return self.confident and hasattr(model, "predict_proba")


@dataclass(frozen=True)
class Regression:
    """Numbers; the prediction is NaN before the first target."""

    beside: ClassVar[tuple[str, ...]] = ()
    remembered: ClassVar[int] = 0

    def at_once(self, model: Any, rows: NamedRows, targets: NDArray[Any]) -> Predictions:
        unpredicted = 0 if is_fitted(model) else 1
        predictions = model.predict_then_learn(rows, targets)
        predictions[:unpredicted] = np.nan
        return Predictions(predictions)

    def in_turn(self, model: Any, join: LabelJoin, names: Sequence[str], predicted: int) -> Predictions:
        given = nothing_given(model, join.rows, join.truth)
        number = np.zeros(len(join.rows), dtype=np.int64)
        follow_numbers(model, join.rows, join.truth, join.order, number, given, names=names)
        return Predictions(given["predictions"])

    def beside_then(self, remembered: Floats) -> tuple[Floats, ...]:
        return ()


@dataclass(frozen=True)
class IntervalRegression:
    """Numbers with intervals, judged by what was predicted: NaN where there is no interval yet."""

    coverage: float | None
    members: int
    beside: ClassVar[tuple[str, ...]] = (LOWER, UPPER)

    @property
    def remembered(self) -> int:
        return _MEMBERS + self.members

    def at_once(self, model: Any, rows: NamedRows, targets: NDArray[Any]) -> Predictions:
        unpredicted = 0 if is_fitted(model) else 1
        predictions, lower, upper = model.predict_interval_then_learn(rows, targets, self.coverage)
        predictions[:unpredicted] = np.nan
        return Predictions(predictions, ends_with_width(lower, upper))

    def in_turn(self, model: Any, join: LabelJoin, names: Sequence[str], predicted: int) -> Predictions:
        old, fresh = join.old, len(join.rows) - join.old
        given, before = nothing_given(model, join.rows, join.truth), join.remembered_before
        given["lower"][:old], given["upper"][:old] = before[:, _ENDS].T
        given["predictions"][:old] = before[:, _PREDICTED]
        given["members"][:old] = before[:, _MEMBERS:]
        known = np.where(np.isnan(before[:, _NUMBER]), predicted, before[:, _NUMBER])
        number = np.concatenate([known.astype(np.int64), predicted + 1 + np.arange(fresh)])
        follow_numbers(
            model,
            join.rows,
            join.truth,
            join.order,
            number,
            given,
            newest=predicted,
            coverage=self.coverage,
            names=names,
        )
        remembered = np.column_stack([given["lower"], given["upper"], number, given["predictions"], given["members"]])
        return Predictions(given["predictions"], ends_with_width(given["lower"], given["upper"]), remembered)

    def beside_then(self, remembered: Floats) -> tuple[Floats, ...]:
        return ends_with_width(*remembered[:, _ENDS].T)


def _likely(model: Any, proba: Floats | None, predictions: NDArray[Any]) -> Floats | None:
    return None if proba is None else probability_of_predictions(proba, model.classes_, predictions)
