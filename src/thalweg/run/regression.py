"""The part of a run that is about numbers: predictions with intervals, beside baselines that look at no column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidParameter
from thalweg.evaluate.alert_rules import followed
from thalweg.evaluate.drift import ResidualChanges
from thalweg.evaluate.input_drift import Cells
from thalweg.evaluate.metrics import NUMBERS, Rows
from thalweg.evaluate.number_baselines import NumberBaselines
from thalweg.evaluate.task import Asked, NumberTask
from thalweg.option_names import option
from thalweg.pipeline.over_columns import learner_of, over_columns
from thalweg.run.notices import Notices
from thalweg.run.options import RunOptions
from thalweg.run.predictions import NumberPredictions
from thalweg.run.regression_scoreboard import FarTargets, RegressionScoreboard
from thalweg.run.task import KEPT, Predicted, RunTask, Targets
from thalweg.table_model import TableRegressor
from thalweg.tables import Chunk, Encoder, Plan
from thalweg.tables.cells import parsed
from thalweg.tables.clock import Clock
from thalweg.tables.columns.number import NumberColumn
from thalweg.tables.late_labels import Batch, Waiting
from thalweg.tables.sentinels import sentinels_of
from thalweg.tables.target import Target

#: Options that ask something about classes.
_OF_CLASSES = ("positive", "costs", "alerts", "probabilities")
_GIVEN = ("model", "lower", "upper")


class Regression(RunTask, NumberTask):
    _saved = ("baselines", "board", "detector", "far_targets")

    board: RegressionScoreboard
    shown = ("mae", "rmse")

    def __init__(self, options: RunOptions, notices: Notices, model: Any = None) -> None:
        super().__init__(options, notices, model)
        for name in _OF_CLASSES:
            if (given := getattr(options, name)) != getattr(RunOptions, name):
                raise InvalidParameter.of_option(name, "be left out for regression: it is about classes", given)
        self.target = Target(options.target)
        self._column: NumberColumn | None = None
        self.baselines = NumberBaselines(options.season)
        self.board = RegressionScoreboard(self.baselines.names, options.coverage)
        self.detector = ResidualChanges()
        self.far_targets = FarTargets()

    def settle(self, head: Chunk, plan: Plan, clocks: dict[str, Clock]) -> Plan:
        self._column = self.target.number_column(head, self.options.decimal)
        self.notices.odd(self._sentinels(head, self._column))
        columns = tuple(column.for_numbers() for column in plan.columns)
        plan = replace(plan, columns=columns, left_out=plan.left_out | {self.target.name: "the target"})
        self.model = over_columns(self.model, plan)
        return plan

    def _sentinels(self, head: Chunk, column: NumberColumn) -> Iterator[str]:
        """Of numbers in the target that seem to stand for a missing one."""
        values, _ = parsed(column, head.column(column.name))
        for code in sentinels_of(values):
            times = f"{int((values == code).sum()):,} times in the first {len(values):,} rows"
            yield (
                f"the target {column.name!r} has {column.as_written(code)} {times}, far from its other values: if it "
                "stands for a missing one, leave its cells empty"
            )

    def codes(self, head: Chunk) -> NDArray[Any]:
        return self.targets(head).values

    def begin(self, targets: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[Any]:
        self.board.by_size.settle(targets[known])
        self.far_targets.settle(targets[known])
        return np.full(len(targets), "")

    def targets(self, chunk: Chunk) -> Targets:
        assert self._column is not None
        values, wrong = parsed(self._column, chunk.column(self.target.name))
        return Targets(values, ~np.isnan(values), [(at, self.target.name, what) for at, what in wrong])

    def predict(
        self,
        batch: Batch,
        stretches: Iterator[NDArray[np.int64]],
        waiting: Waiting | None,
        now: NDArray[np.int64] | None,
    ) -> Predicted:
        predicted: Predicted = {name: np.full(len(batch.number), np.nan) for name in (*_GIVEN, *self.baselines.names)}
        kept = self._with_waiting(predicted, batch, waiting, ())
        asked = Asked(coverage=self.options.coverage)
        for steps in stretches:
            for part, given in self._steps(batch, batch.labels, steps, asked, kept):
                for name, values in zip(_GIVEN, (given.predictions, given.lower, given.upper), strict=True):
                    predicted[name][part[part >= 0]] = values
        for name, values in self.baselines.follow(self._learned_order(batch), batch.labels, batch.number).items():
            predicted[name][batch.carried :] = values[batch.carried :]
        predicted[KEPT] = kept.values
        return predicted

    def watched(self, values: NDArray[Any]) -> Cells:
        return values.astype(np.float64)

    def _add_scores(self, batch: Batch, predicted: Predicted, plan: Plan) -> tuple[NDArray[Any], Rows]:
        rows = batch.learned
        predictions = {name: predicted[name][rows] for name in self.board.predictors}
        self.far_targets.add(batch.labels[rows], batch.number[rows])
        ends = (predicted[name][rows] for name in ("lower", "upper"))
        return self.board.add_numbers(batch.labels[rows], predictions, *ends)

    def alert_metrics(self) -> tuple[str, ...]:
        return followed(NUMBERS, {"intervals"})

    def known_targets(self, targets: NDArray[Any]) -> NDArray[Any]:
        return targets

    def predictions_file(self, path: Path | None, length: int) -> NumberPredictions:
        return NumberPredictions(path, length=length)

    def write(self, file: Any, batch: Batch, known: NDArray[np.bool_], predicted: Predicted) -> int:
        fresh = slice(batch.carried, None)
        targets = np.where(known, batch.labels[fresh], np.nan)
        file.write(batch.number[fresh], targets, *(predicted[name][fresh] for name in _GIVEN))
        return int(np.isnan(predicted["model"][fresh]).sum())

    def state(self) -> dict[str, Any]:
        assert self._column is not None
        return super().state() | {"decimal": self._column.decimal, "unit": self._column.unit}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        decimal, unit = state["decimal"], state["unit"]
        self._column = NumberColumn(self.target.name, indicator=False, decimal=decimal, unit=unit)

    def metrics(self, course: dict[str, Any], features: tuple[str, ...]) -> dict[str, Any]:
        board = self.board
        return {
            "verdict": board.verdict(),
            "scores": self.scores(),
            "intervals": board.intervals(),
            "curve": board.curve(),
            "predictions": board.predictions(),
            "by_size": board.by_size.groups(),
            "course": course,
            "changes": self.detector.changes(),
            "changes_left_out": self.detector.left_out,
        }

    def warnings(self) -> list[str]:
        warning = self.far_targets.sentence(self.target.name)
        if warning is None:
            return []
        is_robust = getattr(learner_of(self.model), "robust", False)
        return [warning if is_robust else f"{warning}; {option('model', 'robust')} lets such targets count for less"]

    def scores(self) -> dict[str, dict[str, float | None]]:
        return self.board.scores({"intervals", *self.board.predictors})

    def of_table(self, encoder: Encoder, notes: dict[str, Any]) -> TableRegressor:
        table = notes["table"] | {"coverage": self.options.coverage}
        return TableRegressor.of_learned(self.model, encoder, notes=notes | {"table": table})
