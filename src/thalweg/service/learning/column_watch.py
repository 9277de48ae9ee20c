"""What a service watches of the columns of a model: their importance to it, and whether they change.

Both are functions of the records, like the model: rows are watched as they are in the journal, and samples are due
after so many labels. So a replay, a snapshot or another portion of records gives the same bytes.

Cost: less than a tenth of that of learning for importance, O(p) a row for p columns. Memory: the last 1,024 rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.client import column_responses
from thalweg.evaluate.block_scores import BLOCK
from thalweg.evaluate.input_drift import InputDrift
from thalweg.run.checkpoint import packed, unpacked
from thalweg.run.importance import WAITING, ImportanceSampler
from thalweg.service.journal.compressed_rows import Features, stacked
from thalweg.service.journal.records import PredictBody
from thalweg.service.learning.watched_values import watched_columns, watched_values
from thalweg.store import dumps, loads
from thalweg.tables.encoder import Encoder
from thalweg.tables.kinds import CategoryColumn, NumberColumn
from thalweg.tables.plan import Plan

_SEED = 0


@dataclass(frozen=True)
class WatchView:
    """How it is at one moment; it never changes."""

    plan: Plan
    drift: InputDrift
    sampler: ImportanceSampler

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

    def inputs(self, name: str) -> column_responses.Inputs:
        watched = set(watched_columns(self.plan))
        return column_responses.Inputs(
            name,
            self.drift.rows,
            [
                column_responses.InputColumn(each["name"], each["kind"], each["then"], each["now"])
                for each in self._summary
            ],
            [column_responses.InputChange(**change) for change in self.drift.changes],
            self.drift.left_out,
            [column.name for column in self.plan.columns if column.name not in watched],
        )

    @cached_property
    def _summary(self) -> list[dict[str, Any]]:
        return self.drift.summary()


def _as_change(cause: Mapping[str, Any]) -> dict[str, Any]:
    return {("labels" if key == "row" else key): value for key, value in cause.items()}


class ColumnWatch:
    """Of the model that answers; its challengers are not sampled. A change of the columns begins it anew."""

    def __init__(self, encoder: Encoder) -> None:
        self._plan = encoder.plan
        self._names = watched_columns(self._plan)
        self._sampler = ImportanceSampler(self._plan, _SEED)
        self._drift = InputDrift()
        columns = self._plan.columns
        self._numbers = sum(isinstance(column, NumberColumn) for column in columns)
        self._categories = {each.name: list(each.categories) for each in columns if isinstance(each, CategoryColumn)}
        #: Rows that are not in the drift yet.
        self._waiting: list[tuple[Features, NDArray[np.bool_] | None]] = []
        self._count = 0
        self._view: WatchView | None = None
        self._seen: tuple[int, int, bool] | None = None

    # ------------------------------------------------------------------ what happens

    def predicted(self, body: PredictBody) -> None:
        """Rows were predicted; `test_blocks` is due after the last of those that come together."""
        for name, new in (body.categories or {}).items():
            self._categories[name] += new
        X, gaps = body.X, body.gaps
        if body.erased:
            kept = [row for row in range(len(X)) if row not in body.erased]
            X = stacked([X[row : row + 1] for row in kept]) if kept else X[:0]
            gaps = None if gaps is None else gaps[kept]
        self._waiting.append((X, gaps))
        self._count += len(X)

    def test_blocks(self) -> None:
        """Look for changes in whole blocks of rows: many at a time cost a fraction of one after the other."""
        if self._count >= BLOCK:
            self._settle()

    def _settle(self) -> None:
        if self._count and self._names:
            gaps = [
                np.zeros((len(X), self._numbers), dtype=np.bool_) if missing is None else missing
                for X, missing in self._waiting
            ]
            X = stacked([X for X, _ in self._waiting])
            cells = watched_values(self._plan, X, np.concatenate(gaps), self._categories)
            self._drift.add_rows(self._drift.as_numbers(self._names, cells))
        self._waiting, self._count = [], 0

    def learns(self, X: Any, y: NDArray[Any]) -> None:
        """These labels are about to be learned: the first of them may belong to the sample in hand."""
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
        now = self._drift.rows, self._sampler.sampled_at, self._sampler.waiting is None
        if self._view is None or self._seen != now:
            self._view, self._seen = WatchView(self._plan, self._drift.frozen(), self._sampler.frozen()), now
        return self._view

    def to_bytes(self) -> bytes:
        self._settle()
        sampled, arrays = self._sampler.state()
        arrays |= {f"inputs {name}": values for name, values in self._drift.arrays().items()}
        models = {} if self._sampler.waiting is None else {WAITING: dumps(self._sampler.waiting[0])}
        return packed({"importance": sampled, "inputs": self._drift.state()}, arrays, models)

    @classmethod
    def from_bytes(cls, content: bytes, encoder: Encoder) -> ColumnWatch:
        """Back from `to_bytes`; a `ModelFileError` where it is damaged."""
        plain, arrays, models = unpacked(content)
        found = cls(encoder)
        found._sampler.restore(plain["importance"], arrays, {name: loads(each) for name, each in models.items()})
        own = {name.removeprefix("inputs "): each for name, each in arrays.items() if name.startswith("inputs ")}
        found._drift.restore(plain["inputs"], own)
        return found
