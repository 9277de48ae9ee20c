"""What a service watches of a model: the importance of its columns, what changes, and why its error rises.

Both are functions of the records, like the model: rows are watched as they are in the journal, and samples are due
after so many labels. So a replay, a snapshot or another portion of records gives the same bytes.

Cost: less than a tenth of that of learning for importance, O(p) a row and a label for p columns. Memory: the last 1,024
rows and 2,048 labelled rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.client import column_responses
from thalweg.container import packed, unpacked
from thalweg.evaluate.block_scores import BLOCK
from thalweg.evaluate.input_drift import InputDrift
from thalweg.run.importance import ImportanceSampler
from thalweg.run.input_watch import MEASURES
from thalweg.service.journal.compressed_rows import Features, stacked
from thalweg.service.journal.records import LabelledRow, PredictBody
from thalweg.service.learning.outcome_watch import (
    Happened,
    OutcomeWatch,
    cells_of_labels,
    cells_of_predictions,
    changes_of,
)
from thalweg.service.learning.progress import Outcome
from thalweg.service.learning.rise_watch import RiseWatch, RowNumbers, stretches
from thalweg.service.learning.watched_values import steps, watched_columns, watched_values
from thalweg.tables.columns.category import CategoryColumn
from thalweg.tables.columns.number import NumberColumn
from thalweg.tables.columns.time import TimeColumn
from thalweg.tables.encoder import Encoder
from thalweg.tables.plan import Plan

_SEED = 0


@dataclass(frozen=True)
class WatchView:
    """How it is at one moment; it never changes."""

    plan: Plan
    drift: InputDrift
    sampler: ImportanceSampler
    rises: RiseWatch
    predictions: InputDrift
    labels: InputDrift

    def importance(
        self, name: str, loss: str, changes: Sequence[Mapping[str, Any]]
    ) -> column_responses.ImportanceOverTime:
        """For the model of this name, whose error changed at these labels."""
        rows = [{"row": change["labels"]} for change in changes]
        found = self.sampler.metrics(rows, loss)
        if found is None:
            return column_responses.ImportanceOverTime(name, loss, None, self.sampler.distance, [], [], 0, [])
        columns = [
            column_responses.ColumnImportance(
                each["name"],
                each["recent"]["increase"],
                each["recent"]["increase_error"],
                each["recent"]["effect"],
                each["increase"],
                each["effect"],
            )
            for each in found["columns"]
        ]
        causes = [column_responses.ImportanceChange(**_as_change(each)) for each in found["causes"]]
        left_out = found["columns_left_out"]
        return column_responses.ImportanceOverTime(
            name, loss, found["label"], found["every"], found["rows"], columns, left_out, causes
        )

    @cached_property
    def ranking(self) -> dict[str, float]:
        """The most important columns over the last labels, with their importance."""
        return dict(self.sampler.ranking())

    @property
    def changes(self) -> int:
        """How many changes of columns were found."""
        return len(self.drift.changes) + self.drift.left_out

    def happened(self, metric: str) -> Happened:
        """How often an event of alert rules happened, and the last times of it."""
        if metric == "error_rise":
            return self.rises.count, self.rises.found
        if metric == "new_category":
            listed = self.drift.new_categories()
            return len(listed), [dict(zip(("column", "what", "row"), each, strict=True)) for each in listed]
        drifts = {"input_drift": self.drift, "prediction_drift": self.predictions, "label_drift": self.labels}
        return changes_of(drifts[metric])

    def inputs(self, name: str, *, is_champion: bool) -> column_responses.Inputs:
        """What is known of the columns, for a model of this name; causes and predictions are those of the champion."""
        watched = set(self.drift.names or watched_columns(self.plan))
        measures = {column.name: MEASURES[column.kind] for column in self.plan.columns if column.kind in MEASURES}
        return column_responses.Inputs(
            name,
            self.drift.rows,
            [
                column_responses.InputColumn(
                    each["name"], each["kind"], each["then"], each["now"], measures.get(each["name"])
                )
                for each in self._summary
            ],
            [column_responses.InputChange(**change) for change in self.drift.changes],
            self.drift.left_out,
            [column.name for column in self.plan.columns if column.name not in watched],
            [_as_cause(each) for each in self._causes] if is_champion else [],
            [*(self._predictions if is_champion else ()), *self._labels],
        )

    @cached_property
    def _predictions(self) -> list[column_responses.WatchedOutcome]:
        return _as_outcome(self.predictions)

    @cached_property
    def _labels(self) -> list[column_responses.WatchedOutcome]:
        return _as_outcome(self.labels)

    @cached_property
    def _causes(self) -> list[dict[str, Any]]:
        return self.rises.results(self.drift)

    @cached_property
    def _summary(self) -> list[dict[str, Any]]:
        return self.drift.summary()


def _as_change(cause: Mapping[str, Any]) -> dict[str, Any]:
    return {("labels" if key == "row" else key): value for key, value in cause.items()}


def _as_outcome(drift: InputDrift) -> list[column_responses.WatchedOutcome]:
    """One; none before the first row."""
    changes = [column_responses.InputChange(**change) for change in drift.changes]
    return [
        column_responses.WatchedOutcome(
            each["name"], each["kind"], drift.rows, each["then"], each["now"], changes, drift.left_out
        )
        for each in drift.summary()
    ]


def _as_cause(found: Mapping[str, Any]) -> column_responses.ErrorCause:
    alike = column_responses.AlikeRows(**found["alike"]) if "alike" in found else None
    changed = [column_responses.NearChange(**each) for each in found["changed"]]
    return column_responses.ErrorCause(
        found["row"], found["at"], found["cause"], found["columns"], "short" in found, alike, changed
    )


@dataclass(frozen=True)
class _Labelled:
    """Scored rows that wait to be examined; all came after the columns were first watched."""

    rows: Sequence[LabelledRow]
    numbers: NDArray[np.int64]
    errors: NDArray[Any]
    rises: list[dict[str, Any]]


class ColumnWatch:
    """Of the champion; its challengers are not sampled. A change of the columns begins it anew."""

    def __init__(self, encoder: Encoder) -> None:
        self._plan = encoder.plan
        self._names = watched_columns(self._plan)
        self._sampler = ImportanceSampler(self._plan, _SEED)
        self._drift = InputDrift()
        columns = self._plan.columns
        self._times = [column for column in columns if isinstance(column, TimeColumn) and column.name in self._names]
        #: The last time of each of them.
        self._clocks: dict[str, float] = {}
        self._numbers = sum(isinstance(column, NumberColumn) for column in columns)
        self._categories = {each.name: list(each.categories) for each in columns if isinstance(each, CategoryColumn)}
        #: Rows that are not in the drift yet.
        self._waiting: list[tuple[Features, NDArray[np.bool_] | None]] = []
        self._count = 0
        #: Why the error rose, and scored rows that are not in it yet.
        self._rises = RiseWatch()
        self._numbers_of = RowNumbers()
        self._predictions, self._targets = OutcomeWatch("prediction"), OutcomeWatch("label")
        self._labelled: list[_Labelled] = []
        self._labels = 0
        self._view: WatchView | None = None
        self._seen: tuple[int | bool, ...] | None = None

    # ------------------------------------------------------------------ what happens

    def predicted(self, seq: int, name: str, body: PredictBody) -> None:
        """Rows were predicted, in this record, by the model of this name and its challengers.

        `test_blocks` is due after the last of those that come together.
        """
        if (given := body.predictions.get(name)) is not None:
            self._predictions.add(cells_of_predictions(given, body.erased))
        for name, new in (body.categories or {}).items():
            self._categories[name] += new
        X, gaps = body.X, body.gaps
        if body.erased:
            kept = [row for row in range(len(X)) if row not in body.erased]
            X = stacked([X[row : row + 1] for row in kept]) if kept else X[:0]
            gaps = None if gaps is None else gaps[kept]
        self._numbers_of.add(seq, len(X))
        self._waiting.append((X, gaps))
        self._count += len(X)

    def test_blocks(self) -> None:
        """Look for changes in whole blocks of rows: many at a time cost a fraction of one after the other."""
        if self._count >= BLOCK:
            self._settle()
        self._predictions.test_blocks()
        self._targets.test_blocks()

    def _settle(self) -> None:
        if self._count and self._names:
            gaps = [
                np.zeros((len(X), self._numbers), dtype=np.bool_) if missing is None else missing
                for X, missing in self._waiting
            ]
            X = stacked([X for X, _ in self._waiting])
            cells = watched_values(self._plan, X, np.concatenate(gaps), self._categories)
            for column in self._times:
                times = np.asarray(cells[column.name], dtype=np.float64)
                cells[column.name] = steps(column, times, self._clocks.get(column.name, np.nan))
                if (known := times[~np.isnan(times)]).size:
                    self._clocks[column.name] = float(known[-1])
            self._drift.add_rows(self._drift.as_numbers(self._names, [cells[name] for name in self._names]))
        self._waiting, self._count = [], 0

    def number_of(self, row: LabelledRow) -> int:
        """The number of a row among those that are watched; to be asked when its label comes."""
        return self._numbers_of.of(row.rows.seq, row.row)

    def scored(
        self,
        before: int,
        rows: Sequence[LabelledRow],
        numbers: NDArray[np.int64],
        outcome: Outcome,
        rises: Sequence[Mapping[str, Any]],
    ) -> None:
        """Rows were scored.

        Parameters
        ----------
        before : int
            How many rows were scored before these.
        rows, numbers, outcome
            The rows, their numbers and what was predicted for them.
        rises : sequence
            Changes of the error for the worse that were found among them.
        """
        self._rises.note(rises, lambda row: int(numbers[row - before - 1]))
        if not self._names:
            return
        if self._rises.causes is None:
            if not numbers.any():
                return
            self._settle()
            self._rises.begin(before, outcome.errors.dtype == np.bool_, self._drift.is_category)
        for part, known in stretches(numbers):
            if not known:
                self._examine()
                self._rises.skip(outcome.errors[part])
                continue
            own = [dict(rise) for rise in rises if part.start < rise["found"] - before <= part.stop]
            self._labelled.append(_Labelled(rows[part], numbers[part], outcome.errors[part], own))
            self._labels += part.stop - part.start
        if self._labels >= BLOCK:
            self._examine()

    def _examine(self) -> None:
        """Take the labelled rows that wait into what is known of rises."""
        if not self._labelled:
            return
        self._settle()
        waiting, self._labelled, self._labels = self._labelled, [], 0
        places = [(row.rows.body, row.row) for each in waiting for row in each.rows]
        X = stacked([body.X[row : row + 1] for body, row in places])
        gaps = np.zeros((len(places), self._numbers), dtype=np.bool_)
        for at, (body, row) in enumerate(places):
            if body.gaps is not None:
                gaps[at] = body.gaps[row]
        # No category is new: all of them came with the rows.
        cells = watched_values(self._plan, X, gaps, self._categories)
        # The row before each of them is not at hand, and so its time is not.
        cells |= {column.name: np.full(len(places), np.nan) for column in self._times}
        inputs = self._drift.as_numbers(self._names, [cells[name] for name in self._names])
        numbers, errors = (np.concatenate([getattr(each, name) for each in waiting]) for name in ("numbers", "errors"))
        self._rises.add(numbers, errors, inputs, [rise for each in waiting for rise in each.rises], self._drift)

    def learns(self, X: Any, y: NDArray[Any]) -> None:
        """These labels are about to be learned: the first of them may belong to the sample in hand."""
        self._targets.add(cells_of_labels(y))
        if self._sampler.waiting is not None:
            rows = slice(0, self._sampler.lacking)
            self._sampler.go_on(X[rows], y[rows])

    def until_sample(self, learned: int, model: Any, X: Any, y: NDArray[Any], label: str | None) -> int:
        """Take a sample if one is due after so many labels; how many of these rows may be learned before the next."""
        if learned >= self._sampler.due:
            rows = slice(0, self._sampler.lacking)
            self._sampler.begin(learned, model, X[rows], y[rows], label)
        return int(min(len(y), self._sampler.due - learned))

    # ------------------------------------------------------------------ what others see, and what is kept

    def view(self) -> WatchView:
        """As it is now, at most 63 rows behind; made anew only where something has changed."""
        rows = self._drift.rows, self._predictions.drift.rows, self._targets.drift.rows, self._rises.rows
        now = *rows, self._rises.count, self._sampler.sampled_at, self._sampler.waiting is None
        if self._view is None or self._seen != now:
            parts = self._drift.frozen(), self._sampler.frozen(), self._rises.frozen()
            outcomes = self._predictions.drift.frozen(), self._targets.drift.frozen()
            self._view, self._seen = WatchView(self._plan, *parts, *outcomes), now
        return self._view

    def to_bytes(self) -> bytes:
        self._settle()
        self._examine()
        self._predictions.settle()
        self._targets.settle()
        parts = {"inputs": self._drift, **self._parts()}
        own = {name: [each.state(), each.arrays()] for name, each in parts.items()}
        return packed({"importance": self._sampler.state(), "clocks": self._clocks, **own})

    @classmethod
    def from_bytes(cls, content: bytes, encoder: Encoder) -> ColumnWatch:
        """Back from `to_bytes`; a `ModelFileError` where it is damaged."""
        state = unpacked(content)
        found = cls(encoder)
        found._sampler.restore(state["importance"])
        found._drift.restore(*state["inputs"])
        found._clocks, found._numbers_of.rows = dict(state["clocks"]), found._drift.rows
        for part, own in found._parts().items():
            own.restore(*state[part])
        return found

    def _parts(self) -> dict[str, Any]:
        """What is saved beside the drift of the columns."""
        outcomes = {"predictions": self._predictions, "labels": self._targets}
        return {"rises": self._rises, "numbers": self._numbers_of, **outcomes}
