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
from typing import Any, TypeVar

import numpy as np
from msgspec import convert
from numpy.typing import NDArray

from thalweg.client import column_responses
from thalweg.client.protocol import prepared
from thalweg.container import packed, unpacked
from thalweg.evaluate.block_scores import BLOCK
from thalweg.evaluate.input_drift import Cells, InputDrift, joined_cells
from thalweg.evaluate.stream_watch import EVENTS, StreamWatch, as_seen, watched_names
from thalweg.explain.importance_sampler import ImportanceSampler
from thalweg.saved import Saved
from thalweg.service.journal.compressed_rows import stacked
from thalweg.service.journal.records import LabelledRow, PredictBody, Predicted
from thalweg.service.learning.encoding import Encoded, gaps_together, read_back
from thalweg.service.learning.row_numbers import RowNumbers, stretches
from thalweg.store import dumps, loads
from thalweg.tables.cells import KeptCells
from thalweg.tables.encoder import Encoder
from thalweg.tables.plan import Plan

T = TypeVar("T")
#: Rises that are kept for alerts.
_RISES = 20
#: How often something happened, and the last times of it.
Happened = tuple[int, list[dict[str, Any]]]
_SEED = 0


@dataclass(frozen=True)
class WatchView:
    """How it is at one moment; it never changes."""

    plan: Plan
    stream: StreamWatch
    sampler: ImportanceSampler
    rise_count: int
    rises: list[dict[str, Any]]

    @property
    def drift(self) -> InputDrift:
        return self.stream.columns

    def importance(
        self, name: str, loss: str, changes: Sequence[Mapping[str, Any]]
    ) -> column_responses.ImportanceOverTime:
        """For the model of this name, whose error changed at these labels."""
        rows = [{"row": change["labels"]} for change in changes]
        metrics = self.sampler.metrics(rows, loss)
        if metrics is None:
            return column_responses.ImportanceOverTime(name, loss, None, self.sampler.distance, [], [], 0, [])
        columns = [
            {"name": column["name"], "increases": column["increase"], "effects": column["effect"], **column["recent"]}
            | {"standard_error": column["recent"]["increase_error"]}
            for column in metrics["columns"]
        ]
        changed = [cause | {"labels": cause["row"]} for cause in metrics["causes"]]
        more = {"model": name, "labels": metrics["rows"], "columns": columns, "changes": changed}
        return _response(column_responses.ImportanceOverTime, metrics | more)

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
            return self.rise_count, self.rises
        if metric == "new_category":
            listed = self.drift.new_categories()
            return len(listed), [dict(zip(("column", "what", "row"), category, strict=True)) for category in listed]
        [drift] = [getattr(self.stream, part) for part, event in EVENTS.items() if event == metric]
        return len(drift.changes) + drift.left_out, [as_seen(change) for change in drift.changes]

    def inputs(self, name: str, *, is_champion: bool) -> column_responses.Inputs:
        """What is known of the columns, for a model of this name; causes and predictions are those of the champion."""
        return column_responses.Inputs(
            name,
            self.drift.rows,
            [_response(column_responses.InputColumn, column) for column in self._summary],
            [column_responses.InputChange(**change) for change in self.drift.changes],
            self.drift.left_out,
            self.stream.not_watched(self.plan),
            [_as_cause(cause) for cause in self._causes] if is_champion else [],
            [*(self._outcomes[0] if is_champion else ()), *self._outcomes[1]],
        )

    @cached_property
    def _outcomes(self) -> list[list[column_responses.WatchedOutcome]]:
        """Of predictions and of labels one each; none before the first row."""
        return [_as_outcome(drift) for drift in (self.stream.predictions, self.stream.targets)]

    @cached_property
    def _causes(self) -> list[dict[str, Any]]:
        return self.stream.results()

    @cached_property
    def _summary(self) -> list[dict[str, Any]]:
        return self.stream.summary(self.plan)


def _response(kind: type[T], values: Mapping[str, Any]) -> T:
    """A response, from a mapping that has its fields among others."""
    return convert(values, prepared(kind))


def _as_outcome(drift: InputDrift) -> list[column_responses.WatchedOutcome]:
    more = {"rows": drift.rows, "changes": drift.changes, "changes_left_out": drift.left_out}
    return [_response(column_responses.WatchedOutcome, series | more) for series in drift.summary()]


def _as_cause(cause: Mapping[str, Any]) -> column_responses.ErrorCause:
    shown = {**cause, "labels": cause["row"], "row": cause["at"], "short": "short" in cause}
    return _response(column_responses.ErrorCause, shown)


@dataclass(frozen=True)
class _Labelled:
    """Scored rows that wait to be examined; all came after the columns were first watched."""

    rows: Sequence[LabelledRow]
    numbers: NDArray[np.int64]
    errors: NDArray[Any]
    rises: list[dict[str, Any]]


class ColumnWatch(Saved):
    """Of the champion; its challengers are not sampled. A change of the columns begins it anew."""

    _saved = ("_sampler", "_stream", "_numbers_of", "_rise_count", "_rises")

    def __init__(self, encoder: Encoder) -> None:
        self._plan = encoder.plan
        self._sampler = ImportanceSampler(self._plan, _SEED)
        self._stream = StreamWatch(target="label")
        #: Rows, predictions and labels that are not in it yet.
        self._rows: list[Encoded] = []
        self._outcomes: dict[str, list[Any]] = {"predictions": [], "targets": []}
        self._numbers_of = RowNumbers()
        #: Rises that the scores of the model found: how many, and the last of them; scored rows not examined yet.
        self._rise_count = 0
        self._rises: list[dict[str, Any]] = []
        self._labelled: list[_Labelled] = []
        self._view: WatchView | None = None
        self._seen: tuple[int | bool, ...] | None = None

    def predicted(self, seq: int, predicted: Predicted | None, body: PredictBody, encoded: Encoded) -> None:
        """Rows were predicted, in this record, by the model and its challengers.

        `test_blocks` is due after the last of those that come together.
        """
        if predicted is not None:
            self._outcomes["predictions"].append(cells_of_predictions(predicted, body.erased))
        self._numbers_of.add(seq, len(encoded.X))
        self._rows.append(encoded)

    def test_blocks(self) -> None:
        """Look for changes in whole blocks of rows: many at a time cost a fraction of one after the other."""
        if sum(len(rows.X) for rows in self._rows) >= BLOCK:
            self._settle()
        self._settle_outcomes(BLOCK)

    def _settle(self) -> None:
        waiting, self._rows = [rows for rows in self._rows if len(rows.X)], []
        if waiting and watched_names(self._plan):
            X = stacked([rows.X for rows in waiting])
            kept = {name: joined_cells([rows.cells[name] for rows in waiting]) for name in waiting[0].cells}
            cells = read_back(self._plan, X, gaps_together([(rows.X, rows.gaps) for rows in waiting]), kept)
            self._stream.add_rows(self._stream.as_numbers(self._plan, cells, X))

    def _settle_outcomes(self, least: int = 1) -> None:
        for part, waiting in self._outcomes.items():
            if sum(len(part[0] if isinstance(part, tuple) else part) for part in waiting) >= least:
                self._stream.add_outcomes(part, joined_cells(waiting))
                self._outcomes[part] = []

    def number_of(self, row: LabelledRow) -> int:
        """The number of a row among those that are watched; to be asked when its label comes."""
        return self._numbers_of.of(row.rows.seq, row.row)

    def scored(
        self,
        before: int,
        rows: Sequence[LabelledRow],
        numbers: NDArray[np.int64],
        errors: NDArray[Any],
        rises: Sequence[Mapping[str, Any]],
    ) -> None:
        """Rows were scored.

        Parameters
        ----------
        before : int
            How many rows were scored before these.
        rows, numbers, errors
            The rows, their numbers, and whether or by how much their predictions were wrong.
        rises : sequence
            Changes of the error for the worse that were found among them.
        """
        for rise in rises:
            row = int(numbers[rise["found"] - before - 1])
            self._rises = [*self._rises, {"row": row, "before": rise["before"], "seen": rise["after"]}][-_RISES:]
            self._rise_count += 1
        if not watched_names(self._plan):
            return
        for part, known in stretches(numbers):
            if self._stream.causes is None:
                if not known:
                    continue
                self._settle()
                self._stream.begin(before + part.start)
                if before + part.start:  # with columns that are not known
                    self._stream.forget(errors[:0])
            if not known:
                self._examine()
                self._stream.forget(errors[part])
                continue
            own = [dict(rise) for rise in rises if part.start < rise["found"] - before <= part.stop]
            self._labelled.append(_Labelled(rows[part], numbers[part], errors[part], own))
        if sum(len(part.rows) for part in self._labelled) >= BLOCK:
            self._examine()

    def _examine(self) -> None:
        """Take the labelled rows that wait into what is known of rises."""
        if not self._labelled:
            return
        self._settle()
        waiting, self._labelled = self._labelled, []
        places = [(row.rows.body, row.row) for part in waiting for row in part.rows]
        X = stacked([body.X[row : row + 1] for body, row in places])
        gaps = gaps_together(
            [(body.X[:1], None if body.gaps is None else body.gaps[row : row + 1]) for body, row in places]
        )
        kept = {name: _cells_of(name, places) for name in places[0][0].cells}
        cells = read_back(self._plan, X, gaps, kept)
        inputs = self._stream.as_numbers(self._plan, cells, X, in_order=False)  # the row before is not at hand
        numbers, errors = (np.concatenate([getattr(part, name) for part in waiting]) for name in ("numbers", "errors"))
        self._stream.add_scored(numbers, errors, inputs, [rise for part in waiting for rise in part.rises])

    def learns(self, X: Any, y: NDArray[Any]) -> None:
        """These labels are about to be learned: the first of them may belong to the sample in hand."""
        self._outcomes["targets"].append(cells_of_labels(y))
        if self._sampler.waiting is not None:
            rows = slice(0, self._sampler.lacking)
            self._sampler.go_on(X[rows], y[rows])

    def until_sample(self, learned: int, model: Any, X: Any, y: NDArray[Any], label: str | None) -> int:
        """Take a sample if one is due after so many labels; how many of these rows may be learned before the next."""
        if learned >= self._sampler.due:
            rows = slice(0, self._sampler.lacking)
            self._sampler.begin(learned, model, X[rows], y[rows], label)
        return int(min(len(y), self._sampler.due - learned))

    def view(self) -> WatchView:
        """As it is now, at most 63 rows behind; made anew only where something has changed."""
        stream, scored = self._stream, 0 if self._stream.causes is None else self._stream.causes.rows
        rows = stream.columns.rows, stream.predictions.rows, stream.targets.rows, scored
        now = *rows, self._rise_count, self._sampler.sampled_at, self._sampler.waiting is None
        if self._view is None or self._seen != now:
            frozen = stream.frozen(), self._sampler.frozen()
            self._view, self._seen = WatchView(self._plan, *frozen, self._rise_count, self._rises), now
        return self._view

    def to_bytes(self) -> bytes:
        self._settle()
        self._examine()
        self._settle_outcomes()
        waiting = self._sampler.waiting
        kept = None if waiting is None else [dumps(waiting[0]), *waiting[1:]]
        return packed({**self.state(), "waiting": kept})

    @classmethod
    def from_bytes(cls, content: bytes, encoder: Encoder) -> ColumnWatch:
        """Back from `to_bytes`; a `ModelFileError` where it is damaged."""
        state = unpacked(content)
        watch = cls(encoder)
        watch.restore(state)
        if state["waiting"] is not None:
            model, X, y = state["waiting"]
            watch._sampler.waiting = loads(model), X, y
        return watch


def _cells_of(name: str, places: Sequence[tuple[PredictBody, int]]) -> KeptCells:
    """The cells of single rows of records."""
    pairs = [(body.cells[name], row) for body, row in places]
    if not isinstance(pairs[0][0], tuple):
        return np.array([cells[row] for cells, row in pairs], dtype="datetime64[us]")
    codes: dict[str, int] = {}
    words = [cells[1][at] if (at := int(cells[0][row])) >= 0 else None for cells, row in pairs]
    return np.array([-1 if word is None else codes.setdefault(word, len(codes)) for word in words]), list(codes)


def cells_of_predictions(given: Predicted, without: Sequence[int]) -> Cells:
    """What a model predicted, but for rows that were erased."""
    values = np.delete(given.columns["prediction"], list(without)) if without else given.columns["prediction"]
    return values if given.labels is None else (values.astype(np.int64), given.labels)


def cells_of_labels(labels: NDArray[Any]) -> Cells:
    """Labels as a model learns them."""
    if labels.dtype.kind == "f":
        return labels
    names, places = np.unique(labels, return_inverse=True)
    return places, [str(name) for name in names]
