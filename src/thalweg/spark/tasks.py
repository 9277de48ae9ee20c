"""What learning labels and learning numbers differ in: how a group of rows is predicted and learned, and what is said
beside each prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from thalweg.errors import InvalidParameter
from thalweg.frames.frame import Floats, NamedRows
from thalweg.labels import probability_of_predictions
from thalweg.learners.base.kept_predictions import KeptPredictions, ends_with_width, kept_size
from thalweg.spark.late_labels import LabelJoin
from thalweg.spark.packing import CONFIDENCE, LOWER, UPPER

#: Bytes of a number.
_BYTES = 8


class Predictions(NamedTuple):
    """Of each row in hand: the prediction, the numbers beside it, and what is remembered until its label comes.

    NaN stands for what was not given; of rows that were predicted before the prediction is not looked at.
    """

    predictions: NDArray[Any]
    beside: tuple[Floats | None, ...] = ()
    remembered: Floats | None = None


def task_of(model: Any, features: int, *, confidence: bool, coverage: float | None, owner: str) -> Task:
    """The task of a model; `InvalidParameter` for what does not go with it."""
    kept = kept_size(model._make_core(features)) if hasattr(model, "_make_core") else 0
    if not is_regressor(model):
        if coverage is not None:
            raise InvalidParameter.of(owner, "coverage", "be None for a classifier", coverage)
        return Task((CONFIDENCE,) if confidence else (), kept)
    if confidence:
        raise InvalidParameter.of(owner, "confidence", "be False for a regressor", confidence)
    if hasattr(model, "predict_interval"):
        model._require_tracked(coverage)  # refused here rather than in a worker
        return Regression((LOWER, UPPER), kept, coverage)
    if coverage is not None:
        rule = "be None for a model without intervals, which PredictionIntervals puts around any regressor"
        raise InvalidParameter.of(owner, "coverage", rule, coverage)
    return Regression()


@dataclass(frozen=True)
class Task:
    """Labels, with the probability of each prediction where it is wanted and the classifier has it.

    What is kept of a row that waits is remembered as bytes in the place of so many numbers.
    """

    #: Names of the numbers that are said beside each prediction.
    beside: tuple[str, ...] = ()
    #: Bytes that are kept of a row.
    kept: int = 0
    coverage: float | None = None

    @property
    def remembered(self) -> int:
        """How many numbers are remembered of a row that waits for its label."""
        return -(-self.kept // _BYTES)

    def at_once(self, model: Any, rows: NamedRows, targets: NDArray[Any]) -> Predictions:
        """Predict and learn rows that have their labels."""
        if not self.beside:
            return Predictions(model.predict_then_learn(rows, targets))
        predictions, proba, *_ = model.predict_then_learn(rows, targets, with_proba=True)
        return Predictions(predictions, self._confidences(model, proba, predictions))

    def in_turn(self, model: Any, join: LabelJoin, names: Sequence[str], predicted: int) -> Predictions:
        """Predict and learn in the order of the join, ``predicted`` rows having been predicted before."""
        if len(join.order) == 0:  # labels alone, without a row that waits for one
            unchanged = join.remembered_before if self.remembered else None
            return Predictions(np.zeros(len(join.rows), dtype=join.truth.dtype), (None,) * len(self.beside), unchanged)
        kept = self._kept(join.remembered_before, getattr(model, "classes_", np.empty(0)).tolist())
        kept = kept.before(len(join.rows) - join.old)
        predictions, beside = self._follow(model, NamedRows(join.rows, names), join, kept, predicted)
        if not self.remembered:
            return Predictions(predictions, beside)
        remembered = np.zeros((len(kept), self.remembered * _BYTES), dtype=np.uint8)
        remembered[:, : kept.values.shape[1]] = kept.values
        return Predictions(predictions, beside, remembered.view(np.float64))

    def beside_then(self, remembered: Floats) -> tuple[Floats, ...]:
        """What was said beside the predictions of rows that waited."""
        return ()

    def _follow(
        self, model: Any, rows: NamedRows, join: LabelJoin, kept: KeptPredictions, predicted: int
    ) -> tuple[NDArray[Any], tuple[Floats | None, ...]]:
        predictions, proba = model.follow(rows, join.truth, join.order, with_proba=bool(self.beside), kept=kept)
        return predictions, self._confidences(model, proba, predictions)

    def _kept(self, remembered: Floats, labels: Sequence[Any] = ()) -> KeptPredictions:
        return KeptPredictions(np.ascontiguousarray(remembered).view(np.uint8)[:, : self.kept], labels)

    def _confidences(self, model: Any, proba: Floats | None, predictions: NDArray[Any]) -> tuple[Floats | None, ...]:
        found = None if proba is None else probability_of_predictions(proba, model.classes_, predictions)
        return (found,) * len(self.beside)


class Regression(Task):
    """Numbers, with intervals where the model has them; NaN before the first target, and where there is no interval."""

    def at_once(self, model: Any, rows: NamedRows, targets: NDArray[Any]) -> Predictions:
        unpredicted = 0 if model.__sklearn_is_fitted__() else 1
        if self.beside:
            predictions, *ends = model.predict_interval_then_learn(rows, targets, self.coverage)
        else:
            predictions, ends = model.predict_then_learn(rows, targets), []
        predictions[:unpredicted] = np.nan
        return Predictions(predictions, ends_with_width(*ends) if ends else ())

    def beside_then(self, remembered: Floats) -> tuple[Floats, ...]:
        return self._kept(remembered).interval() if self.beside else ()

    def _follow(
        self, model: Any, rows: NamedRows, join: LabelJoin, kept: KeptPredictions, predicted: int
    ) -> tuple[NDArray[Any], tuple[Floats | None, ...]]:
        options: dict[str, Any] = {"coverage": self.coverage, "kept": kept, "predicted": predicted}
        predictions, *ends = model.follow(rows, join.truth, join.order, **options)
        return predictions, tuple(ends) if self.beside else ()
