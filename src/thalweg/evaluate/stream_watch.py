"""What is watched of a stream beside the error: its columns, predictions and targets, and why the error rose.

A run and a service watch the parsed cells of rows by it, so that both find the same. Nothing depends on how rows come
together. Cost: O(p) a row and a scored row. Memory: the last 1,024 rows and 2,048 scored ones.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.block_scores import BLOCK
from thalweg.evaluate.error_causes import ErrorCauses
from thalweg.evaluate.input_drift import WIDEST, Cells, InputDrift
from thalweg.evaluate.short_rises import ShortRises
from thalweg.saved import Saved
from thalweg.tables.columns.column import Column
from thalweg.tables.plan import Plan

Floats = NDArray[np.float64]
#: The parts that change, and the events of alert rules that their changes are.
EVENTS = {"columns": "input_drift", "predictions": "prediction_drift", "targets": "label_drift"}
_DAY = 86_400.0


class StreamWatch(Saved):
    """Rows are counted as they are predicted, targets as they come.

    Parameters
    ----------
    at_least : int
        Rows that are tested together: few small tests cost less, and find the same.
    target : str
        What a target is called in changes.
    """

    _saved = ("columns", "predictions", "targets", "short", "causes", "_clocks", "_since")
    _made = (("causes", ErrorCauses),)

    def __init__(self, at_least: int = BLOCK, target: str = "target") -> None:
        self.columns, self.predictions, self.targets = InputDrift(), InputDrift(["prediction"]), InputDrift([target])
        for part in EVENTS:
            getattr(self, part).at_least = at_least
        #: None before the first row that may be scored.
        self.causes: ErrorCauses | None = None
        self.short = ShortRises()
        #: Scored rows up to the last one whose columns are not known: rises that began before are not examined.
        self._since = 0
        #: The last time of each column of times.
        self._clocks: dict[str, float] = {}

    def as_numbers(self, plan: Plan, cells: Sequence[Any], X: Any, *, in_order: bool = True) -> Floats:
        """Parsed cells and features of rows as `add_rows` takes them; the steps of rows out of order are not known."""
        counts = entry_counts(plan, X) if plan.sparse_columns else {}
        numbers: dict[str, Cells] = {}
        for column, parsed in zip(plan.columns, cells, strict=True):
            if column.watched == "steps":
                numbers[column.name] = self._steps(column, parsed) if in_order else np.full(len(parsed), np.nan)
            elif column.watched == "entries":
                numbers[column.name] = counts[column.name]
            elif column.watched == "cells":
                numbers[column.name] = parsed
        return self.columns.as_numbers(list(numbers), list(numbers.values()))

    def _steps(self, column: Column, times: NDArray[np.datetime64]) -> Floats:
        """Seconds since the time before, of the rows whose times are known."""
        known = ~np.isnat(times)
        moments = times[known].astype("datetime64[us]").astype(np.int64) / 1e6
        steps = np.full(len(times), np.nan)
        if len(moments):
            steps[known] = np.diff(moments, prepend=self._clocks.get(column.name, np.nan))
            self._clocks[column.name] = float(moments[-1])
        return steps % _DAY if column.clock(times) is None else steps

    def add_rows(self, rows: Floats) -> None:
        """Take in rows, in order."""
        self.changed("columns", self.columns.add_rows(rows))

    def add_outcomes(self, part: str, cells: Cells) -> None:
        """Take in predictions, or targets."""
        drift: InputDrift = getattr(self, part)
        self.changed(part, drift.add_rows(drift.as_numbers(drift.names, [cells])))

    def begin(self, scored: int = 0) -> None:
        """Rows are scored from here on, so many were before."""
        self.causes = ErrorCauses(self.columns.is_category)
        self.skip(scored)
        self._since = scored

    def skip(self, unpredicted: int) -> None:
        """Count rows that have no prediction."""
        assert self.causes is not None
        self.causes.skip(unpredicted)
        self.short.skip(unpredicted)

    def forget(self, errors: NDArray[Any]) -> None:
        """Scored rows whose columns are not known; rows before and after them are not compared."""
        assert self.causes is not None
        self.short.add(errors)
        self.causes.forget(len(errors))
        self._since = self.causes.rows

    def add_scored(
        self, numbers: NDArray[np.int64], errors: NDArray[Any], rows: Floats, rises: Sequence[Mapping[str, Any]]
    ) -> None:
        """Take in scored rows by their numbers, and the rises of the error that were found among them."""
        assert self.causes is not None
        self.short.whole = errors.dtype == np.bool_
        new_rises = [*rises, *(rise | {"short": True} for rise in self.short.add(errors))]
        new_rises = [rise for rise in new_rises if rise["row"] > self._since]
        if new_rises or self.causes.is_waiting:
            self.changed("columns", self.columns.flush())
        self.causes.add(numbers, errors, rows, new_rises, self.columns.changes, self.columns.names)

    def flush(self) -> None:
        """Test the rows that wait for it."""
        for part in EVENTS:
            self.changed(part, getattr(self, part).flush())

    def changed(self, part: str, changes: Sequence[Mapping[str, Any]]) -> None:
        """Changes were found: for those who are to hear of them at once."""

    def summary(self, plan: Plan) -> list[dict[str, Any]]:
        """`InputDrift.summary` of the columns, with what is measured of them where that is not their values."""
        measures = {column.name: column.measure for column in plan.columns if column.measure is not None}
        lines = self.columns.summary()
        return [line | ({"measure": measures[line["name"]]} if line["name"] in measures else {}) for line in lines]

    def not_watched(self, plan: Plan) -> list[str]:
        kept = (self.columns.names or watched_names(plan))[:WIDEST]
        return [column.name for column in plan.columns if column.name not in kept]

    def results(self) -> list[dict[str, Any]]:
        """Why the error rose, each time."""
        return [] if self.causes is None else self.causes.results(self.columns.changes, self.columns.names)

    def frozen(self) -> Self:
        """For another thread to read while rows are added here."""
        frozen = copy.copy(self)
        frozen.causes = None if self.causes is None else self.causes.frozen()
        for part in EVENTS:
            setattr(frozen, part, getattr(self, part).frozen())
        return frozen


def watched_names(plan: Plan) -> list[str]:
    """The columns that can be watched, in the order of the table."""
    return [column.name for column in plan.columns if column.watched is not None][:WIDEST]


def entry_counts(plan: Plan, X: Any) -> dict[str, Floats]:
    """By sparse column, how many entries each row has; NaN for a row without any, which counts as missing.

    ``X`` holds compressed rows, as a `scipy.sparse.csr_array` does: ``indptr`` and ``indices``.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from thalweg.tables.columns.map import MapColumn
    >>> plan = Plan((MapColumn("words", keys="name", hash_bits=3),), {}, ("words",), marks_gaps=False)
    >>> entry_counts(plan, csr_array([[0, 1, 0, 2, 0, 0, 0, 0], [0] * 8]))["words"]
    array([ 2., nan])
    """
    by_column: dict[str, Floats] = {}
    begin = len(plan.feature_names)
    for column in plan.sparse_columns:
        counts = np.diff(X.indptr).astype(np.float64)
        if begin or column.width < plan.width:  # other features than those of this column
            inside = (X.indices >= begin) & (X.indices < begin + column.width)
            counts = np.diff(np.append(0, np.cumsum(inside))[X.indptr]).astype(np.float64)
        by_column[column.name] = np.where(counts > 0.0, counts, np.nan)
        begin += column.width
    return by_column


def as_seen(change: Mapping[str, Any]) -> dict[str, Any]:
    """A change as an alert has it, with what was seen by then: ``after`` is of more rows, which are still to come."""
    return {("seen" if key == "after" else key): value for key, value in change.items()}
