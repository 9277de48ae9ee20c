"""What a run asks of its task: how targets are read, predicted, scored and written, for labels or for numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.input_drift import Cells
from thalweg.evaluate.metrics import METRICS, Rows
from thalweg.evaluate.task import Asked, Given, Task
from thalweg.label_budget.worth import Worth
from thalweg.learners.base.kept_predictions import KeptPredictions
from thalweg.run.label_budget import RunBudget
from thalweg.run.notices import Notices
from thalweg.run.options import RunOptions
from thalweg.run.predictions import PredictionsFile
from thalweg.saved import Saved
from thalweg.store import dumps, loads
from thalweg.table_model import TableModel
from thalweg.tables import Chunk, Plan
from thalweg.tables.clock import Clock
from thalweg.tables.late_labels import Batch, Waiting

#: By name, one value for each row in hand.
Predicted = dict[str, NDArray[Any]]
#: What the model keeps of predictions whose label is still to come.
KEPT = "kept"


class Targets(NamedTuple):
    """The targets of a chunk, whether each row has one, and cells for which rows are bad."""

    values: NDArray[Any]
    known: NDArray[np.bool_]
    wrong: list[tuple[int, str, str]]


class Scored(NamedTuple):
    """Rows whose target has come: which of them had a prediction."""

    predicted: NDArray[np.bool_]
    #: Of those that had one.
    errors: NDArray[Any]
    #: Changes of the error that were found now.
    changes: list[dict[str, Any]]
    #: As metrics take them.
    rows: Rows


class RunTask(Task, Saved):
    """The part of a run that depends on whether it predicts labels or numbers; it owns the model."""

    #: The metrics that a line of progress and a model file have, the one that is compared first.
    shown: ClassVar[tuple[str, ...]]
    #: Scores of rows whose target has come.
    board: Any
    #: Where the error changed.
    detector: Any

    def __init__(self, options: RunOptions, notices: Notices, model: Any = None) -> None:
        self.options = options
        self.notices = notices
        self._given = model
        self._is_late = bool(options.delay) or options.label_time is not None
        self.model = options.make_model(self.name) if model is None else model
        #: Where only the labels of some rows are learned.
        self.budget = None if options.label_budget is None else RunBudget(options, numeric=self.name == "regression")

    def takes_sparse_rows(self) -> bool:
        """Whether the model does, or one that scales without means: that is the model then. No row was learned yet."""
        others = [] if self._given is not None else [self.options.make_model(self.name, sparse=True)]
        for model in (self.model, *others):
            if getattr(model, "_takes_sparse", False):
                self.model = model
                return True
        return False

    @abstractmethod
    def settle(self, head: Chunk, plan: Plan, clocks: dict[str, Clock]) -> Plan:
        """Check the target and what was asked by the first rows; the plan with what the task makes of it."""

    @abstractmethod
    def codes(self, head: Chunk) -> NDArray[Any]:
        """The first targets, as `oddities` takes them: columns that give them away are odd."""

    @abstractmethod
    def begin(self, targets: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[Any]:
        """Take notice of the first rows; the labels by which class means are chosen, empty for none."""

    @abstractmethod
    def targets(self, chunk: Chunk) -> Targets:
        """The targets as cells hold them."""

    def late_quantity(self, chunk: Chunk, targets: Targets) -> str | None:
        """Where these targets show first that labels are a quantity: in which row, and what they are."""
        return None

    @abstractmethod
    def predict(
        self,
        batch: Batch,
        stretches: Iterator[NDArray[np.int64]],
        waiting: Waiting | None,
        now: NDArray[np.int64] | None,
    ) -> Predicted:
        """Take the steps of each stretch; what was predicted for each row in hand, now or before."""

    def _steps(
        self, batch: Batch, targets: NDArray[Any], steps: NDArray[np.int64], asked: Asked, kept: KeptPredictions
    ) -> Iterator[tuple[NDArray[np.int64], Given]]:
        """Take these steps, as far as the label budget allows; parts, and what is given for rows predicted there."""
        if self.budget is None:
            yield from self._take(batch, targets, steps, asked, kept)
            return
        self.budget.asking.positive = self.positive
        for part in self.budget.parts(batch, steps, lambda X: Worth.of(self.model, X, self.positive)):
            is_fitted = self.model.__sklearn_is_fitted__()
            for done, given in self._take(batch, targets, part, asked, kept):
                if is_fitted:
                    rows = done[done >= 0]
                    self.budget.predicted(rows, given.predictions, targets[rows])
                yield done, given
            learned = ~part[part < 0]
            self.budget.learned(learned, targets[learned])

    def _learned_order(self, batch: Batch) -> NDArray[np.int64]:
        """The order of the batch, once its steps were taken, without the rows that are not learned."""
        if self.budget is None:
            return batch.order
        return self.budget.order(batch)

    def _take(
        self, batch: Batch, targets: NDArray[Any], steps: NDArray[np.int64], asked: Asked, kept: KeptPredictions
    ) -> Iterator[tuple[NDArray[np.int64], Given]]:
        if len(steps) == 0:
            return
        if not self._is_late:
            yield from self.prompt(self.model, batch.X, targets, steps, asked)
            return
        in_hand, X, order = batch.part(steps)
        rows, own = steps[steps >= 0], kept[in_hand]
        before = int(batch.number[rows[0] if len(rows) else batch.carried]) - 1
        given = self.in_turn(self.model, X, targets[in_hand], order, asked, own, before)
        kept.put(in_hand, own)
        yield steps, given.of(order[order >= 0])

    def _with_waiting(
        self, predicted: Predicted, batch: Batch, waiting: Waiting | None, labels: Sequence[str]
    ) -> KeptPredictions:
        """Take over what was predicted for rows that were waiting, and what the model kept of them."""
        rows = len(batch.number)
        if self.budget is not None:
            predicted |= self.budget.columns(batch)
        if waiting is None or not len(waiting):
            return KeptPredictions.none(rows)
        for name, values in waiting.predicted.items():
            if name in predicted:
                predicted[name][: batch.carried] = values
        return KeptPredictions(waiting.predicted[KEPT], labels).before(rows - batch.carried)

    def score(self, batch: Batch, predicted: Predicted, plan: Plan) -> Scored:
        """Score the rows whose target has come."""
        before = self.board.unpredicted
        errors, rows = self._add_scores(batch, predicted, plan)
        self.detector.skip(self.board.unpredicted - before)
        return Scored(self.has_prediction(predicted["model"][batch.learned]), errors, self.detector.add(errors), rows)

    @abstractmethod
    def _add_scores(self, batch: Batch, predicted: Predicted, plan: Plan) -> tuple[NDArray[Any], Rows]:
        """The errors of the rows among them that had a prediction, and these rows, which are scored."""

    @abstractmethod
    def alert_metrics(self) -> tuple[str, ...]:
        """The metrics of values that alert rules may name."""

    @abstractmethod
    def watched(self, values: NDArray[Any]) -> Cells:
        """Targets or predictions as `InputDrift` takes a column."""

    @abstractmethod
    def predictions_file(self, path: Path | None, length: int) -> PredictionsFile:
        """The file of predictions, from this length on; without a path they are kept in memory."""

    @abstractmethod
    def write(self, file: PredictionsFile, batch: Batch, known: NDArray[np.bool_], predicted: Predicted) -> int:
        """Write the fresh rows; how many of them came before any target and have no prediction."""

    @abstractmethod
    def known_targets(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Targets that have come, as the model learns them."""

    def state(self) -> dict[str, Any]:
        budget = {} if self.budget is None else {"budget": self.budget.state()}
        return super().state() | {"model": dumps(self.model)} | budget

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.model = loads(state["model"])
        if self.budget is not None:
            self.budget.restore(state["budget"])

    @abstractmethod
    def metrics(self, course: dict[str, Any], features: tuple[str, ...]) -> dict[str, Any]:
        """What was found out, by the keys of ``metrics.json``, the course of the model among it."""

    def warnings(self) -> list[str]:
        """What the user should know of the targets, once all are known."""
        return []

    @abstractmethod
    def scores(self) -> dict[str, dict[str, float | None]]:
        """By predictor and metric."""

    def progress(self) -> str:
        """How well it goes, in one line."""
        if not self.board.rows:
            return ""
        scores, metric = self.scores(), METRICS[self.shown[0]]
        written = "{:.4f}".format if metric.form == "share" else "{:.4g}".format
        others = ", ".join(
            f"{name.replace('_', ' ')} {written(own[metric.name])}" for name, own in scores.items() if name != "model"
        )
        error, now = (written(scores["model"][f"{when}{metric.name}"]) for when in ("", "recent_"))
        return f"{metric.title_in_full} {error}, now {now} ({others})"

    def require_labels(self) -> None:
        """Raise `InvalidParameter` after the last row where a label that was asked for never came."""
        return

    @abstractmethod
    def of_table(self, encoder: Any, notes: dict[str, Any]) -> TableModel:
        """The model behind its encoder."""

    def summary(self) -> dict[str, Any]:
        """The scores that a model file keeps."""
        scores = self.scores()["model"]
        return {name: scores[name] for name in self.shown}
