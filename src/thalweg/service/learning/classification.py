"""Classification: labels are text, and a prediction is right or wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.catalogue import ask_of, make_model
from thalweg.client.protocol import MOST_TEXT
from thalweg.evaluate.anytime_comparison import MistakeComparison
from thalweg.evaluate.drift import ChangeDetector
from thalweg.evaluate.metrics import LABELS
from thalweg.evaluate.scoring import Scoring, label_number
from thalweg.evaluate.task import LabelTask
from thalweg.fleet.keyed_classifier import KeyedClassifier
from thalweg.learners.base.kept_predictions import KeptPredictions
from thalweg.pipeline.over_columns import over_columns, require_keys_taken
from thalweg.service.commands import Refused
from thalweg.service.journal.compressed_rows import Features, as_learned
from thalweg.service.journal.records import NO_PREDICTION, LabelledRow, LabelValue, Predicted
from thalweg.service.learning.task import Learner, ModelTask
from thalweg.service.responses import LabelResponse
from thalweg.tables.plan import Plan
from thalweg.tables.rows import text_of
from thalweg.tables.target import plain_label


@dataclass(frozen=True)
class Classification(ModelTask, LabelTask):
    #: The label of interest, and what mistakes about it cost.
    positive: str | None = None
    costs: dict[str, float] | None = None
    #: The column of keys, and bytes of memory for them; None for one model of all rows, and for no limit.
    key: str | None = None
    key_memory: int | None = None
    features: list[str] | None = None
    time_column: str | None = None

    has_classes = True
    comparison = MistakeComparison

    @classmethod
    def of_record(cls, body: dict[str, Any]) -> Classification:
        return cls(*(body.get(field.name) for field in fields(cls)))

    def record(self) -> dict[str, Any]:
        given = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in given if value is not None}

    @property
    def key_column(self) -> str | None:
        return self.key

    def make(self, body: dict[str, Any]) -> Any:
        return ask_of(make_model(body["kind"], **body["parameters"]), costs=self.costs, positive=self.positive)

    def check(self, model: Any) -> None:
        if self.key is not None:
            require_keys_taken(model, self.key)
            model = KeyedClassifier(model, max_bytes=self.key_memory)
        model._make_core(2)  # where parameters are looked at

    def check_columns(self, plan: Plan, kinds: Iterable[str]) -> None:
        if self.key is None:
            super().check_columns(plan, kinds)
        for column in plan.sparse_columns if self.key is not None else ():
            raise Refused(422, f"column {column.name!r} is sparse, which a model with keys does not take: leave it out")

    def over_columns(self, model: Any, plan: Plan) -> Any:
        return over_columns(model, plan, key_bytes=self.key_memory)

    def read_label(self, value: Any, at: int) -> str:
        """A label as text, by the rules of a column of labels: 1 and 1.0 are one class.

        Examples
        --------
        >>> task = Classification()
        >>> task.read_label(" up ", 0), task.read_label(1.0, 0), task.read_label(True, 0)
        ('up', '1', 'true')
        """
        if value is None or isinstance(value, list | dict) or value != value:
            raise Refused(422, f"label {at}: it must be a text, a number, true or false")
        text = plain_label(text_of(value).strip())
        if not 0 < len(text) <= MOST_TEXT:
            raise Refused(422, f"label {at}: it must have 1 to {MOST_TEXT} letters")
        return text

    def predict(
        self, champion: str, models: Mapping[str, Any], labels: Mapping[str, list[str]], X: Features
    ) -> tuple[dict[str, Predicted], LabelResponse]:
        """What every learner predicts for the rows; of the champion, the probabilities and sets of its labels, too."""
        predictions: dict[str, Predicted] = {}
        unknown = Predicted({"prediction": np.full(len(X), NO_PREDICTION, dtype=np.int16)}, [])
        response = LabelResponse(unknown, [], None, None)
        rows = as_learned(X)
        for name, model in models.items():
            known = labels[name]
            if not known:
                predictions[name] = unknown
                continue
            members = KeptPredictions.none(len(X))
            codes, likely = model._codes_and_proba(rows, members)
            columns: dict[str, NDArray[Any]] = {"prediction": codes.astype(np.int16)}
            if self.positive is not None and likely is not None:
                has_it = self.positive in known
                of_positive = likely[:, known.index(self.positive)].copy() if has_it else np.zeros(len(X))
                columns["of_positive"] = of_positive
            if members.values.shape[1]:
                columns["kept"] = members.values
            own = predictions[name] = Predicted(columns, known)
            if name == champion:
                sets = model.predict_set(rows) if hasattr(model, "predict_set") else None
                response = LabelResponse(own, known, likely, sets)
        return predictions, response

    def targets(self, labels: Sequence[LabelValue]) -> NDArray[Any]:
        return np.array(labels)

    def kept(self, learner: Learner, X: Any, rows: Sequence[LabelledRow], later: NDArray[np.int64]) -> KeptPredictions:
        kept, core = KeptPredictions.none(len(rows)), getattr(learner.model, "_core", None)
        known = [str(label) for label in getattr(learner.model, "classes_", ())]
        if core is None or kept.of(core, known) is None:
            return kept
        for at, row in enumerate(rows):
            given = learner.predicted(row)
            if given is not None and "kept" in given.columns:
                own = KeptPredictions(given.columns["kept"][row.row : row.row + 1], given.labels or ())
                own.of(core, known)
                kept.put(slice(at, at + 1), own)
        return kept

    @cached_property
    def scoring(self) -> Scoring:
        return Scoring(
            LABELS,
            ("model", "no_change"),
            () if self.positive is None else ("of_positive",),
            loss="mistake",
            error="mistake",
            changes=ChangeDetector,
            positive=self.positive,
            costs=self.costs,
        )

    def line(self, labelled: LabelledRow, own: Predicted | None) -> list[float]:
        """Before any label no-change is wrong."""
        body, row = labelled.rows.body, labelled.row
        given = None if own is None else own[row]
        likely = None if own is None else own.columns.get("of_positive")
        line = [
            label_number(str(labelled.label)),
            math.nan if given is None else label_number(str(given)),
            -1.0 if body.last is None else label_number(str(body.last)),
            math.nan if likely is None else float(likely[row]),
        ]
        return line[: self.scoring.width]
