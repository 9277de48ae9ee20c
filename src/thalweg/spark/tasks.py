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

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate.task import Asked, Given, LabelTask, NumberTask, Task
from thalweg.frames.frame import Floats, NamedRows
from thalweg.labels import probability_of_predictions
from thalweg.learners.base.kept_predictions import KeptPredictions, kept_size
from thalweg.spark.late_labels import LabelJoin
from thalweg.spark.packing import CONFIDENCE, LOWER, UPPER
from thalweg.table_model import TableModel

#: Bytes of a number.
_BYTES = 8


class Predictions(NamedTuple):
    """Of each row in hand: the prediction, the numbers beside it, and what is remembered until its label comes.

    NaN stands for what was not given; of rows that were predicted before the prediction is not looked at.
    """

    predictions: NDArray[Any]
    beside: tuple[Floats | None, ...] = ()
    remembered: Floats | None = None


def task_of(model: Any, features: int, *, confidence: bool, coverage: float | None, owner: str) -> LearningTask:
    """The task of a model; `InvalidParameter` for what does not go with it."""
    kept = kept_size(model._make_core(features)) if hasattr(model, "_make_core") else 0
    if not is_regressor(model):
        if coverage is not None:
            raise InvalidParameter.of(owner, "coverage", "be None for a classifier", coverage)
        return LearningTask(LabelTask(), (CONFIDENCE,) if confidence else (), kept)
    if confidence:
        raise InvalidParameter.of(owner, "confidence", "be False for a regressor", confidence)
    model._require_tracked(coverage)  # refused here rather than in a worker
    return LearningTask(NumberTask(), (LOWER, UPPER) if hasattr(model, "predict_interval") else (), kept, coverage)


@dataclass(frozen=True)
class LearningTask:
    """A task with what is said beside each prediction: its probability, or the ends of its interval.

    What is kept of a row that waits is remembered as bytes in the place of so many numbers.
    """

    of: Task
    #: Names of the numbers that are said beside each prediction.
    beside: tuple[str, ...] = ()
    #: Bytes that are kept of a row.
    kept: int = 0
    coverage: float | None = None

    @property
    def remembered(self) -> int:
        """How many numbers are remembered of a row that waits for its label."""
        return -(-self.kept // _BYTES)

    @property
    def _asked(self) -> Asked:
        return Asked(proba=CONFIDENCE in self.beside, coverage=self.coverage)

    def at_once(self, model: Any, rows: NamedRows, targets: NDArray[Any]) -> Predictions:
        """Predict and learn rows that have their labels."""
        given = self.of.at_once(model, rows, targets, self._asked)
        return Predictions(given.predictions, self._beside(model, given))

    def in_turn(self, model: Any, join: LabelJoin, names: Sequence[str], predicted: int) -> Predictions:
        """Predict and learn in the order of the join, ``predicted`` rows having been predicted before."""
        if isinstance(model, TableModel):
            raise InvalidInput(f"learn_stream: a {type(model).__name__} needs the label of each row with it, got null")
        if len(join.order) == 0:  # labels alone, without a row that waits for one
            unchanged = join.remembered_before if self.remembered else None
            return Predictions(np.zeros(len(join.rows), dtype=join.truth.dtype), (None,) * len(self.beside), unchanged)
        kept = self._kept(join.remembered_before, getattr(model, "classes_", np.empty(0)).tolist())
        kept, rows = kept.before(len(join.rows) - join.old), NamedRows(join.rows, names)
        given = self.of.in_turn(model, rows, join.truth, join.order, self._asked, kept, predicted)
        beside = self._beside(model, given)
        if not self.remembered:
            return Predictions(given.predictions, beside)
        remembered = np.zeros((len(kept), self.remembered * _BYTES), dtype=np.uint8)
        remembered[:, : kept.values.shape[1]] = kept.values
        return Predictions(given.predictions, beside, remembered.view(np.float64))

    def beside_then(self, remembered: Floats) -> tuple[Floats, ...]:
        """What was said beside the predictions of rows that waited."""
        return self._kept(remembered).interval() if LOWER in self.beside else ()

    def _kept(self, remembered: Floats, labels: Sequence[Any] = ()) -> KeptPredictions:
        return KeptPredictions(np.ascontiguousarray(remembered).view(np.uint8)[:, : self.kept], labels)

    def _beside(self, model: Any, given: Given) -> tuple[Floats | None, ...]:
        if CONFIDENCE not in self.beside:
            return (given.lower, given.upper)[: len(self.beside)]
        shares = given.proba
        return (None if shares is None else probability_of_predictions(shares, model.classes_, given.predictions),)
