"""What a run watches beside its error, with the alerts that changes set off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.stream_watch import EVENTS, StreamWatch, as_seen
from thalweg.run.alert_log import AlertLog
from thalweg.tables import Plan

#: Under which the columns of each row are kept with what was predicted for it, until its target comes.
INPUTS = "inputs"
#: Rows that are tested together: few small tests cost less.
_TOGETHER = 2048


class InputWatch(StreamWatch):
    """Of one run."""

    def __init__(self, alerts: AlertLog) -> None:
        super().__init__(at_least=_TOGETHER)
        self.alerts = alerts

    def add_cells(self, plan: Plan, cells: Sequence[Any], X: Any, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Take in the parsed cells and the features of rows, by their numbers; the same as columns of numbers."""
        rows = self.as_numbers(plan, cells, X)
        self.add_rows(rows)
        for named, category, row in self.columns.newest:
            self.alerts.add_event("new_category", row, column=named, what=category)
        places = {name: at for at, name in enumerate(self.columns.names[: rows.shape[1]]) if name in self.alerts.gaps}
        self.alerts.add_gaps(numbers, {name: np.isnan(rows[:, at]) for name, at in places.items()})
        if self.causes is None:
            self.begin()
        return rows

    def add_scored(
        self,
        numbers: NDArray[np.int64],
        errors: NDArray[Any],
        rows: NDArray[np.float64],
        rises: Sequence[Mapping[str, Any]],
    ) -> None:
        for rise in rises:
            assert self.causes is not None
            place = min(max(rise["found"] - self.causes.rows - 1, 0), len(numbers) - 1)
            self.alerts.add_event("error_rise", int(numbers[place]), before=rise["before"], seen=rise["after"])
        super().add_scored(numbers, errors, rows, rises)

    def changed(self, part: str, changes: Sequence[Mapping[str, Any]]) -> None:
        for change in changes:
            self.alerts.add_event(EVENTS[part], **as_seen(change))

    def metrics(self, plan: Plan) -> dict[str, Any]:
        """What was found out, for ``metrics.json``."""
        return {
            "columns": self.summary(plan),
            "changes": self.columns.changes,
            "changes_left_out": self.columns.left_out,
            "not_watched": self.not_watched(plan),
            "predictions": self.predictions.summary()[:1],
            "targets": self.targets.summary()[:1],
            "causes": self.results(),
        }
