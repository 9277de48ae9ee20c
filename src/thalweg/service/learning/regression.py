"""Models that predict numbers: labels are finite numbers, and predictions have intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.catalogue import ask_of, make_model
from thalweg.evaluate.anytime_comparison import SquaredErrorComparison
from thalweg.evaluate.drift import ResidualChanges
from thalweg.evaluate.metrics import NUMBERS
from thalweg.evaluate.number_baselines import NumberBaselines
from thalweg.evaluate.scoring import Scoring
from thalweg.evaluate.task import Asked, NumberTask
from thalweg.kernels import compiled
from thalweg.learners.base.kept_predictions import OF_NUMBERS, KeptPredictions
from thalweg.learners.base.rows import width_for_core
from thalweg.service.commands import Refused
from thalweg.service.journal.compressed_rows import Features, as_learned
from thalweg.service.journal.records import LabelledRow, LabelValue, Predicted
from thalweg.service.learning.task import Floats, Learner, ModelTask
from thalweg.service.responses import NumberResponse
from thalweg.tables.cells import brief
from thalweg.tables.number_forms import NUMBER
from thalweg.tables.plan import Plan

#: The share of rows whose interval is to hold the target, where nothing is said.
COVERAGE = 0.9
_BASELINES = NumberBaselines().names
#: Of a row: its prediction and the ends of its interval.
_SAID = ("prediction", "lower", "upper")


@dataclass(frozen=True)
class Regression(ModelTask, NumberTask):
    #: The share of rows whose interval is to hold the target.
    coverage: float = COVERAGE
    features: list[str] | None = None
    time_column: str | None = None

    has_classes = False
    comparison = SquaredErrorComparison

    @classmethod
    def of_record(cls, body: dict[str, Any]) -> Regression:
        return cls(body["coverage"], body.get("features"), body.get("time_column"))

    def record(self) -> dict[str, Any]:
        earlier = {} if self.features is None else {"features": self.features, "time_column": self.time_column}
        return {"task": self.name, "coverage": self.coverage, **earlier}

    def make(self, body: dict[str, Any]) -> Any:
        return self._covering(make_model(body["kind"], task=self.name, **body["parameters"]))

    def check(self, model: Any) -> None:
        self._covering(model)._place_of(model._make_core(2), self.coverage)

    def _covering(self, model: Any) -> Any:
        """The model; most track a few coverages side by side, others the one that they are given."""
        return model.set_params(coverage=self.coverage) if "coverage" in model.get_params(deep=False) else model

    def check_columns(self, plan: Plan, kinds: Iterable[str]) -> None:
        super().check_columns(plan, kinds)
        for column in plan.columns:
            if column.rates:  # which only label rates could encode
                raise Refused(
                    422, f"column {column.name!r} has too many categories for a regression model: leave it out"
                )

    def over_columns(self, model: Any, plan: Plan) -> Any:
        return super().over_columns(ask_of(model, dense_features=plan.dense_beside_sparse), plan)

    def read_label(self, value: Any, at: int) -> float:
        """A finite number, also as text.

        Examples
        --------
        >>> task = Regression()
        >>> task.read_label(3, 0), task.read_label(" -1.5e3 ", 0)
        (3.0, -1500.0)
        """
        text = value.strip() if isinstance(value, str) else None
        number = math.nan
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = float(value) if abs(value) <= compiled.largest_value else math.inf
        elif text is not None and NUMBER.fullmatch(text):
            number = float(text)
        if not abs(number) <= compiled.largest_value:
            shown = repr(brief(value)) if isinstance(value, str) else f"{value!r:.40}"
            rule = f"it must be a finite number within ±{compiled.largest_value:g}"
            raise Refused(422, f"label {at}: {rule}, got {shown}")
        return number + 0.0  # 0 and -0 are one number

    def predict(
        self, champion: str, models: Mapping[str, Any], labels: Mapping[str, list[str]], X: Features
    ) -> tuple[dict[str, Predicted], NumberResponse]:
        rows = as_learned(X)
        predictions = {name: self._predicted(model, rows) for name, model in models.items()}
        own = predictions.get(champion) or _unknown(len(X))
        return dict(predictions), NumberResponse(own)

    def _predicted(self, model: Any, X: Any) -> Predicted:
        rows = X.shape[0]
        if not model.__sklearn_is_fitted__():
            return _unknown(rows)
        kept = KeptPredictions.none(rows)
        self.in_turn(model, X, np.zeros(rows), np.arange(rows), Asked(coverage=self.coverage), kept)
        given = kept.of_numbers(1, model._core.n_opinions)
        return Predicted({name: given[name][:, 0].copy() for name in _SAID} | {"kept": kept.values})

    def targets(self, labels: Sequence[LabelValue]) -> Floats:
        return np.array(labels, dtype=np.float64)

    def kept(self, learner: Learner, X: Any, rows: Sequence[LabelledRow], later: NDArray[np.int64]) -> KeptPredictions:
        model, kept = learner.model, KeptPredictions.none(len(rows))
        core = model._core if model.__sklearn_is_fitted__() else model._make_core(width_for_core(X))
        given = kept.of_numbers(1, core.n_opinions)
        for name in OF_NUMBERS[1:]:
            given[name] = np.nan
        for at, row in enumerate(rows):
            own = learner.predicted(row)
            if own is not None and own[row.row] is not None:
                kept.values[at] = own.columns["kept"][row.row]
        given["number"] = later + np.array([row.rows.body.before + row.row + 1 for row in rows])
        return kept

    def new_baselines(self) -> NumberBaselines:
        return NumberBaselines()

    @cached_property
    def scoring(self) -> Scoring:
        return Scoring(
            NUMBERS,
            ("model", *_BASELINES),
            ("lower", "upper"),
            loss="squared",
            error="absolute",
            changes=ResidualChanges,
            coverage=self.coverage,
        )

    def line(self, labelled: LabelledRow, own: Predicted | None) -> list[float]:
        body, row = labelled.rows.body, labelled.row
        value, *interval = [math.nan] * 3
        if own is not None:
            value, *interval = (float(own.columns[name][row]) for name in _SAID)
        return [float(labelled.label), value, *(body.baselines.get(name, math.nan) for name in _BASELINES), *interval]


def _unknown(rows: int) -> Predicted:
    return Predicted(dict.fromkeys(_SAID, np.full(rows, np.nan)))
