"""Models that predict numbers: labels are finite numbers, and predictions have intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.catalogue import ask_of, make_model
from thalweg.evaluate.task import NumberTask
from thalweg.kernels import compiled
from thalweg.learners.base.kept_predictions import OF_NUMBERS, KeptPredictions
from thalweg.learners.base.rows import width_for_core
from thalweg.service.commands import Refused
from thalweg.service.journal.compressed_rows import Features, as_learned
from thalweg.service.journal.records import LabelledRow, LabelValue, Predicted, PredictedNumbers
from thalweg.service.learning.comparison import SquaredErrorComparison
from thalweg.service.learning.regression_progress import RegressionProgress, Residuals
from thalweg.service.learning.task import Floats, Learner, ModelTask
from thalweg.service.responses import NumberResponse
from thalweg.tables.cells import brief
from thalweg.tables.number_forms import NUMBER
from thalweg.tables.plan import Plan

#: The share of rows whose interval is to hold the target, where nothing is said.
COVERAGE = 0.9


@dataclass(frozen=True)
class Regression(ModelTask, NumberTask):
    #: The share of rows whose interval is to hold the target.
    coverage: float = COVERAGE

    has_classes = False
    comparison = SquaredErrorComparison

    @classmethod
    def of_record(cls, body: dict[str, Any]) -> Regression:
        return cls(body["coverage"])

    def record(self) -> dict[str, Any]:
        return {"task": self.name, "coverage": self.coverage}

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
        found = {name: self._predicted(model, rows) for name, model in models.items()}
        own = found.get(champion) or _unknown(len(X))
        return dict(found), NumberResponse(own)

    def _predicted(self, model: Any, X: Any) -> PredictedNumbers:
        if not model.__sklearn_is_fitted__():
            return _unknown(X.shape[0])
        lower, upper = model.predict_interval(X, self.coverage)
        return PredictedNumbers(model.predict(X), lower, upper, model.member_predictions(X))

    def targets(self, labels: Sequence[LabelValue]) -> Floats:
        return np.array(labels, dtype=np.float64)

    def kept(self, learner: Learner, X: Any, rows: Sequence[LabelledRow], later: NDArray[np.int64]) -> KeptPredictions:
        model, found = learner.model, KeptPredictions.none(len(rows))
        core = model._core if model.__sklearn_is_fitted__() else model._make_core(width_for_core(X))
        given = found.of_numbers(1, core.n_opinions)
        given["number"] = later + np.array([row.rows.body.before + row.row + 1 for row in rows])
        for name in OF_NUMBERS[1:]:
            given[name] = np.nan
        for at, row in enumerate(rows):
            own, place = learner.predicted(row), row.row
            if isinstance(own, PredictedNumbers) and own[place] is not None:
                given["prediction"][at], given["lower"][at] = own.values[place], own.lower[place]
                given["upper"][at], given["members"][at] = own.upper[place], own.members[place] - own.values[place]
        return found

    def mean_after(self, mean: float | None, labels: int, y: NDArray[Any]) -> float | None:
        for target in y.tolist():
            labels += 1
            mean = target if mean is None else mean + (target - mean) / labels
        return mean

    def outcome(self, name: str, rows: Sequence[LabelledRow], y: NDArray[Any]) -> Residuals:
        return Residuals(np.array([_residual(name, row) for row in rows]))

    def new_progress(self) -> RegressionProgress:
        return RegressionProgress()

    def progress_from(self, state: dict[str, Any]) -> RegressionProgress:
        return RegressionProgress.from_state(state)


def _unknown(rows: int) -> PredictedNumbers:
    nothing = np.full(rows, np.nan)
    return PredictedNumbers(nothing, nothing, nothing, np.empty((rows, 0)))


def _residual(name: str, labelled: LabelledRow) -> list[float]:
    """One row of `Residuals`."""
    body, row = labelled.rows.body, labelled.row
    own = body.predictions.get(name)
    if not isinstance(own, PredictedNumbers) or body.last is None or body.mean is None:
        return [math.nan] * 6
    return [
        float(labelled.label),
        *(float(each[row]) for each in (own.values, own.lower, own.upper)),
        float(body.last),
        body.mean,
    ]
