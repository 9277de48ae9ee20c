"""What a run looks at between two predictions: snapshots of the model, and samples of the importance of columns."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.model_history import ModelHistory
from thalweg.explain.importance_sampler import ImportanceSampler
from thalweg.run.task import RunTask
from thalweg.saved import Saved
from thalweg.store import dumps, loads
from thalweg.tables import Plan
from thalweg.tables.late_labels import Batch


@dataclass
class RowCounts(Saved):
    """Rows of a run: read, predicted or not, learned, without a target, and skipped."""

    _saved = ("read", "processed", "learned", "unlabelled", "skipped", "unpredicted")

    read: int = 0
    #: Those that can be used.
    processed: int = 0
    learned: int = 0
    unlabelled: int = 0
    skipped: int = 0
    #: Those that came before any target.
    unpredicted: int = 0


class ModelObserver:
    """Of the model that a run's task has."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.history = ModelHistory()
        #: None before the columns are known.
        self.importance: ImportanceSampler | None = None
        #: Processor time of samples, since this process began.
        self.seconds = 0.0

    def begin(self, plan: Plan, X: Any, labels: NDArray[Any]) -> None:
        """The first rows, with the labels by which class means are chosen."""
        self.importance = ImportanceSampler.of_first_rows(plan, self._seed, X)
        self.history.watch.choose(plan.without_cells(X), labels)

    def stretches(self, batch: Batch, task: RunTask, counts: RowCounts) -> Iterator[NDArray[np.int64]]:
        """The steps of the order, cut where a look at the model is due; it is taken when the next part is asked."""
        predictions = np.flatnonzero(batch.order >= 0)
        done = predictions - np.arange(len(predictions))  # rows learned before each prediction
        learned = counts.learned + done
        begin, snapshot = 0, self.history.next_due(counts.processed - len(predictions))
        sample = self._next_sample(learned)
        while (at := min(snapshot, sample)) < len(predictions):
            yield batch.order[begin : predictions[at]]
            begin = int(predictions[at])
            if at == snapshot:
                self.history.add(task.model, int(learned[at]))
                snapshot += self.history.every
            if at == sample:
                self._sample(batch, task, int(done[at]), int(learned[at]))
                sample = self._next_sample(learned)
        yield batch.order[begin:]

    def _next_sample(self, learned: NDArray[np.int64]) -> int:
        """Before which of the coming predictions a sample is due, so many rows being learned before each."""
        return len(learned) if self.importance is None else int(np.searchsorted(learned, self.importance.due))

    def _sample(self, batch: Batch, task: RunTask, done: int, learned: int) -> None:
        """Take a sample of the rows that are learned next, behind so many of the batch and of the run."""
        assert self.importance is not None
        began = time.thread_time()
        rows = batch.learned[done : done + self.importance.lacking]
        targets = task.known_targets(batch.labels[rows])
        self.remember(batch, task, learned - done, done)
        self.importance.begin(learned, task.model, batch.X[rows], targets, task.explained_label(task.model))
        self.seconds += time.thread_time() - began

    def remember(self, batch: Batch, task: RunTask, learned: int, done: int) -> None:
        """Let the samples know the rows of the batch that are learned by now, so many behind those before the batch."""
        if self.importance is not None and learned + done > self.importance.seen:
            begin = max(self.importance.seen - learned, 0)
            rows = batch.learned[begin:done]
            self.importance.remember(learned + begin, batch.X[rows], task.known_targets(batch.labels[rows]))

    def go_on(self, batch: Batch, task: RunTask) -> None:
        """Give the sample that the last chunk left unfinished its further rows."""
        if self.importance is not None and self.importance.waiting is not None and len(batch.learned):
            rows = batch.learned[: self.importance.lacking]
            self.importance.go_on(batch.X[rows], task.known_targets(batch.labels[rows]))

    def state(self) -> dict[str, Any]:
        assert self.importance is not None
        joined, sampled, waiting = self.importance.joined, self.importance.state(), self.importance.waiting
        kept = None if waiting is None else [dumps(waiting[0]), *waiting[1:]]
        return {"history": self.history.state(), "joined": joined, "importance": sampled, "waiting": kept}

    def restore(self, state: Mapping[str, Any], plan: Plan) -> None:
        self.history.restore(state["history"])
        self.importance = ImportanceSampler(plan, self._seed, state["joined"])
        self.importance.restore(state["importance"])
        if state["waiting"] is not None:
            model, X, y = state["waiting"]
            self.importance.waiting = loads(model), X, y
