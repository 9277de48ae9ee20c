"""What the tasks differ in: which models there are, how labels are read, rows predicted, labels learned and scored."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from thalweg.catalogue import MODELS, make_model
from thalweg.evaluate.anytime_comparison import Comparison
from thalweg.evaluate.number_baselines import NumberBaselines
from thalweg.evaluate.scoring import Scoring
from thalweg.evaluate.task import Asked, Task
from thalweg.learners.base.kept_predictions import KeptPredictions
from thalweg.pipeline.over_columns import over_columns
from thalweg.saved import Saved
from thalweg.service.commands import Refused
from thalweg.service.journal.compressed_rows import Features
from thalweg.service.journal.records import LabelledRow, LabelValue, Predicted
from thalweg.service.learning.progress import Progress
from thalweg.service.responses import Response
from thalweg.tables.plan import Plan

Floats = NDArray[np.float64]


@dataclass
class Learner(Saved):
    """A model that learns under a name: the champion, or a challenger in its shadow."""

    _saved = ("kind", "parameters", "created", "progress", "comparison", "since")

    name: str
    kind: str
    parameters: dict[str, Any]
    model: Any
    progress: Progress
    created: int
    #: Predictions by what was known up to this record may be those of another model under this name.
    since: int
    #: Against the champion; None for the champion itself.
    comparison: Comparison | None = None

    def predicted(self, row: LabelledRow) -> Predicted | None:
        """What this model predicted with the rows of a label; None where another one had this name then."""
        body = row.rows.body
        return body.predictions.get(self.name) if body.version > self.since else None


class ModelTask(Task):
    """Of a model and its challengers; it holds what was asked of them when the model was made, and never changes."""

    #: Whether labels are classes: a few different ones, with means that can be shown.
    has_classes: ClassVar[bool]
    #: The kind of comparison between champion and challenger.
    comparison: ClassVar[type[Comparison]]
    #: The share of rows whose interval is to hold the target; None of labels.
    coverage: float | None = None

    #: Features from earlier rows that were asked for, one a line, and the column of times that they go by.
    features: list[str] | None = None
    time_column: str | None = None

    @property
    def key_column(self) -> str | None:
        """The column that says which key's model a row belongs to; None where there is one model for all."""
        return None

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """What the record that makes a model, and a snapshot, keep of it."""

    def described(self) -> dict[str, Any]:
        """What the details of a model say of it."""
        return {"positive": self.positive, "coverage": self.coverage, "key": self.key_column}

    @abstractmethod
    def make(self, body: dict[str, Any]) -> Any:
        """The model that a record describes."""

    @abstractmethod
    def check(self, model: Any) -> None:
        """An `InvalidParameter` where a new model cannot be used."""

    def check_columns(self, plan: Plan, kinds: Iterable[str]) -> None:
        """`Refused` where models of these kinds cannot learn from a column."""
        fitting = _kinds_for_sparse(self.name)
        strange = [kind for kind in kinds if kind not in fitting]
        for column in plan.sparse_columns if strange else ():
            what = f"is sparse, which a model of kind {strange[0]!r} does not take: use {', '.join(fitting)}"
            raise Refused(422, f"column {column.name!r} {what}")

    def over_columns(self, model: Any, plan: Plan) -> Any:
        """A model that has learned nothing, as it learns these columns."""
        return over_columns(model, plan)

    @abstractmethod
    def read_label(self, value: Any, at: int) -> LabelValue:
        """A label as it was sent; `Refused` names it by its place."""

    @abstractmethod
    def predict(
        self, champion: str, models: Mapping[str, Any], labels: Mapping[str, list[str]], X: Features
    ) -> tuple[dict[str, Predicted], Response]:
        """What every model predicts for the rows, each of which knows its labels; what is sent back of the champion."""

    @abstractmethod
    def targets(self, labels: Sequence[LabelValue]) -> NDArray[Any]:
        """Labels as models learn them."""

    def learn(
        self, learner: Learner, X: Any, y: NDArray[Any], rows: Sequence[LabelledRow], newest: NDArray[np.int64]
    ) -> None:
        """One by one: what came together may come apart when it is replayed, and must give the same bytes.

        ``X`` is an array or a `scipy.sparse.csr_array`; ``newest`` rows were predicted before each label came. Members
        and intervals are judged by what was predicted; by what they say now where nothing was.
        """
        model, latest = learner.model, int(newest.max())
        kept = self.kept(learner, X, rows, latest - newest)
        self.in_turn(model, X, y, ~np.arange(len(y)), Asked(coverage=self.coverage), kept, latest)

    @abstractmethod
    def kept(self, learner: Learner, X: Any, rows: Sequence[LabelledRow], later: NDArray[np.int64]) -> KeptPredictions:
        """What this learner predicted for rows; the number of each is raised by so many, so that all are as late."""

    def new_baselines(self) -> NumberBaselines | None:
        """Of numbers; None where labels are classes."""
        return None

    @property
    @abstractmethod
    def scoring(self) -> Scoring: ...

    def lines(self, name: str, rows: Sequence[LabelledRow]) -> Floats:
        """What a learner had predicted for rows, set against their labels, as `scoring` takes it."""
        return np.array([self.line(row, row.rows.body.predictions.get(name)) for row in rows])

    @abstractmethod
    def line(self, labelled: LabelledRow, own: Predicted | None) -> list[float]:
        """One row of `lines`; NaN for what was not known."""


@cache
def _kinds_for_sparse(task: str) -> tuple[str, ...]:
    """The kinds of models that take sparse rows."""
    return tuple(kind for kind in MODELS[task] if make_model(kind, task=task)._takes_sparse)
