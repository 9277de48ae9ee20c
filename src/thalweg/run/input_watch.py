"""What a run watches beside its error: the table's columns, the predictions and the targets, and why the error rose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.error_causes import ErrorCauses
from thalweg.evaluate.input_drift import WIDEST, Cells, InputDrift
from thalweg.evaluate.short_rises import ShortRises
from thalweg.run.alert_log import AlertLog
from thalweg.tables import Plan
from thalweg.tables.columns.category import NamesColumn
from thalweg.tables.columns.number import NumberColumn
from thalweg.tables.columns.time import TimeColumn
from thalweg.tables.entry_counts import entry_counts

#: Under which the columns of each row are kept with what was predicted for it, until its target comes.
INPUTS = "inputs"
#: The parts, and the events of alert rules that their changes are.
_PARTS = {"columns": "input_drift", "predictions": "prediction_drift", "targets": "label_drift"}
#: By kind of column, what is measured of it where that is not its values.
MEASURES = {"time": "seconds since the row before", "text": "different words", "map": "entries"}
_DAY = 86_400.0
#: Rows that are tested together: few small tests cost less.
_TOGETHER = 2048


class InputWatch:
    """Of one run; rows are counted as they are predicted, targets as they come."""

    def __init__(self, alerts: AlertLog) -> None:
        self.alerts = alerts
        self.short = ShortRises()
        self.columns, self.predictions, self.targets = InputDrift(), InputDrift(), InputDrift()
        for part in _PARTS:
            getattr(self, part).at_least = _TOGETHER
        self.causes: ErrorCauses | None = None
        #: The last time of each column of times.
        self._clocks: dict[str, float] = {}

    def add_cells(self, plan: Plan, cells: Sequence[Any], X: Any, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Take in the parsed cells and the features of rows, by their numbers; the same as columns of numbers."""
        counts = entry_counts(plan, X) if plan.sparse_columns else {}
        pairs: list[tuple[str, Any]] = []
        for column, parsed in zip(plan.columns, cells, strict=True):
            if isinstance(column, TimeColumn):
                pairs.append((column.name, self._steps(column, parsed)))
            elif isinstance(column, NumberColumn | NamesColumn):
                pairs.append((column.name, parsed))
            elif column.sparse:
                pairs.append((column.name, counts[column.name]))
        if not pairs:
            return np.empty((len(numbers), 0))
        rows = self.columns.as_numbers([name for name, _ in pairs], [parsed for _, parsed in pairs])
        self._tell("columns", self.columns.add_rows(rows))
        for named, category, row in self.columns.newest:
            self.alerts.add_event("new_category", row, column=named, what=category)
        asked = self.alerts.metrics
        missing = {f"missing({name})": at for at, name in enumerate(self.columns.names[: rows.shape[1]])}
        gaps = {name: np.isnan(rows[:, at]).astype(np.float64) for name, at in missing.items() if name in asked}
        self.alerts.add_values(numbers, {name: (each, np.ones(len(rows))) for name, each in gaps.items()})
        if self.causes is None:
            self.causes = ErrorCauses(self.columns.is_category)
        return rows

    def _steps(self, column: TimeColumn, times: NDArray[np.datetime64]) -> NDArray[np.float64]:
        """Seconds since the time before, of the rows whose times are known."""
        known = ~np.isnat(times)
        moments = times[known].astype("datetime64[us]").astype(np.int64) / 1e6
        steps = np.full(len(times), np.nan)
        if len(moments):
            steps[known] = np.diff(moments, prepend=self._clocks.get(column.name, np.nan))
            self._clocks[column.name] = float(moments[-1])
        return steps % _DAY if column.form == "hour:minute" else steps

    def add_predictions(self, cells: Cells) -> None:
        self._tell("predictions", self.predictions.add_rows(self.predictions.as_numbers(["prediction"], [cells])))

    def add_scored(
        self,
        cells: Cells,
        numbers: NDArray[np.int64],
        errors: NDArray[Any],
        rows: NDArray[np.float64],
        rises: Sequence[Mapping[str, Any]],
        unpredicted: int,
    ) -> None:
        """Take in rows whose target has come, by their numbers and columns; so many before them had no prediction."""
        self._tell("targets", self.targets.add_rows(self.targets.as_numbers(["target"], [cells])))
        if self.causes is not None:
            self.causes.skip(unpredicted)
            for rise in rises:
                place = min(max(rise["found"] - self.causes.rows - 1, 0), len(numbers) - 1)
                self.alerts.add_event("error_rise", int(numbers[place]), before=rise["before"], seen=rise["after"])
            rises = [*rises, *self._short_rises(cells, errors, unpredicted)]
            if rises or self.causes.is_waiting:
                self._tell("columns", self.columns.flush())
            self.causes.add(numbers, errors, rows, rises, self.columns.changes, self.columns.names)

    def _short_rises(self, cells: Cells, errors: NDArray[Any], unpredicted: int) -> list[dict[str, Any]]:
        self.short.whole = isinstance(cells, tuple)
        self.short.skip(unpredicted)
        return [rise | {"short": True} for rise in self.short.add(errors)]

    def _tell(self, part: str, changes: Sequence[Mapping[str, Any]]) -> None:
        for change in changes:  # what was seen by then: `after` is of more rows, which are still to come
            told = {("seen" if key == "after" else key): value for key, value in change.items()}
            self.alerts.add_event(_PARTS[part], **told)

    def flush(self) -> None:
        """Test the rows that wait for it."""
        for part in _PARTS:
            self._tell(part, getattr(self, part).flush())

    def metrics(self, plan: Plan) -> dict[str, Any]:
        """What was found out, for ``metrics.json``."""
        kept = self.columns.names[:WIDEST]
        measures = {column.name: MEASURES[column.kind] for column in plan.columns if column.kind in MEASURES}
        lines = self.columns.summary()
        for line in lines:
            if line["name"] in measures:
                line["measure"] = measures[line["name"]]
        return {
            "columns": lines,
            "changes": self.columns.changes,
            "changes_left_out": self.columns.left_out,
            "not_watched": [column.name for column in plan.columns if column.name not in kept],
            "predictions": self.predictions.summary()[:1],
            "targets": self.targets.summary()[:1],
            "causes": [] if self.causes is None else self.causes.results(self.columns.changes, self.columns.names),
        }

    # ------------------------------------------------------------------ checkpoints

    def state(self) -> dict[str, Any]:
        return {part: getattr(self, part).state() for part in self._parts()} | {"clocks": self._clocks}

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            f"{INPUTS} {part} {name}": values
            for part in self._parts()
            for name, values in getattr(self, part).arrays().items()
        }

    def _parts(self) -> list[str]:
        """Those that there are."""
        return [*_PARTS, "short", *(("causes",) if self.causes is not None else ())]

    def restore(self, state: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        if "causes" in state:
            self.causes = ErrorCauses()
        self._clocks = dict(state["clocks"])
        for part in self._parts():
            begins = f"{INPUTS} {part} "
            own = {name.removeprefix(begins): values for name, values in arrays.items() if name.startswith(begins)}
            getattr(self, part).restore(state[part], own)


def watched_names(plan: Plan) -> list[str]:
    """The columns that a run watches."""
    return [column.name for column in plan.columns][:WIDEST]
