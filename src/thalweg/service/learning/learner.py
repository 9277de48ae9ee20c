"""The one thread that learns: what is committed, in the order of the journal; then it publishes copies to answer by."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from thalweg.errors import JournalDamaged, JournalError
from thalweg.service.commands import Command, Refused
from thalweg.service.journal.records import Decision, Event, LabelsArrived, Part
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.learning.model_state import ModelState
from thalweg.service.learning.rebuild import rebuild

#: Labels and seconds between snapshots; a snapshot is due when either has passed and something was learned.
_EVERY_LABELS, _EVERY_SECONDS = 20_000, 30.0
#: Seconds between attempts to reach the database.
_AGAIN_SECONDS = 0.5
#: Seconds that rows may wait to be counted, when nobody waits for it.
_PATIENCE_SECONDS = 0.02

_LOG = logging.getLogger("thalweg.service")

Batch = tuple[list[tuple[str, Event]], Sequence[Command]]


class LearningThread(threading.Thread):
    """Learns; started once, stopped once. The models, as the journal says they are, belong to it from now on.

    ``reader`` is a connection of its own, for revisions. It calls ``published`` with a model, by its name, whenever
    there is something new to see of it, ``learned`` or ``failed`` with commands that waited for their labels to be
    learned, and ``keep`` with a snapshot to be written.
    """

    def __init__(
        self,
        models: dict[str, LiveModel],
        reader: SqlJournal,
        published: Callable[[LiveModel, ModelState], None],
        learned: Callable[[Sequence[Command]], None],
        failed: Callable[[Sequence[Command], Refused], None],
        keep: Callable[[str, list[Part]], None],
    ) -> None:
        super().__init__(name="thalweg-learner", daemon=True)
        self.models = models
        self.revisions = 0
        self._reader = reader
        self._published, self._learned, self._failed, self._keep = published, learned, failed, keep
        #: Whether something could not be learned: the models are no longer what the journal says.
        self.broken = False
        self._queue: queue.SimpleQueue[Batch | None] = queue.SimpleQueue()
        self._urgent = threading.Event()
        self._open = 0  # batches that were put and are not learned yet
        self._changed = threading.Condition()
        self._made: dict[str, float] = {}
        #: Of the last snapshot of each model, or of the start, how many labels it had learned, and when it was made.
        self._kept: dict[str, tuple[int, float]] = {}

    def put(self, events: list[tuple[str, Event]], waiting: Sequence[Command]) -> None:
        """Committed records, in order, and the commands that wait for them."""
        with self._changed:
            self._open += 1
        self._queue.put((events, waiting))
        if waiting:
            self._urgent.set()

    def wait(self) -> None:
        """Until all that was put is learned."""
        with self._changed:
            self._changed.wait_for(lambda: self._open == 0)

    def stop(self) -> None:
        """Finish what waits, then end."""
        self._queue.put(None)
        self._urgent.set()

    def close(self) -> None:
        """Let the connection go, once the thread has ended."""
        self._reader.close()

    def __len__(self) -> int:
        return self._queue.qsize()

    def run(self) -> None:
        going = True
        while going:
            events: list[tuple[str, Event]] = []
            waiting: list[Command] = []
            taken_together = 0
            taken = self._queue.get()
            if taken is not None and not taken[1]:
                self._urgent.wait(_PATIENCE_SECONDS)  # rows to be counted: let more of them gather
            self._urgent.clear()
            while True:
                if taken is None:
                    going = False
                    break
                events += taken[0]
                waiting += taken[1]
                taken_together += 1
                if self._queue.empty():
                    break
                taken = self._queue.get()
            if self._has_taken(events):
                self._learned(waiting)
            else:
                self._failed(waiting, Refused(503, "what came is in the journal, but a model could not learn it"))
            with self._changed:
                self._open -= taken_together
                self._changed.notify_all()

    def _has_taken(self, events: Sequence[tuple[str, Event]]) -> bool:
        """Whether all could be learned, now and before."""
        try:
            if not self.broken:
                self._take(events)
        except Exception:
            self.broken = True
            _LOG.exception("a model could not learn what is in the journal")
        return not self.broken

    def _take(self, events: Sequence[tuple[str, Event]]) -> None:
        by_model: dict[str, list[Event]] = {}
        for name, event in events:
            by_model.setdefault(name, []).append(event)
        for name, own in by_model.items():
            model = self._grown(name, own)
            self.models[name] = model
            self._published(model, model.publish())
            self._keep_if_due(model)

    def _grown(self, name: str, own: list[Event]) -> LiveModel:
        if name not in self.models:
            first = own[0]
            assert isinstance(first, Decision)
            self.models[name], own = LiveModel(name, first), own[1:]
        begin = 0
        for at, each in enumerate(own):
            if isinstance(each, LabelsArrived) and each.revises:
                self.revisions += 1
                begin = at + 1
        if begin:
            self.models[name] = self._revised(name, own[begin - 1].seq)
        model = self.models[name]
        model.take(own[begin:])
        return model

    def _revised(self, name: str, seq: int) -> LiveModel:
        """The model as the journal says it is; a lost connection is waited for, since the record is committed."""
        while True:
            try:
                return rebuild(self._reader, name, seq).model
            except JournalDamaged:
                raise
            except JournalError:
                time.sleep(_AGAIN_SECONDS)
                with suppress(JournalError):
                    self._reader.connect()

    # ------------------------------------------------------------------ snapshots

    def _keep_if_due(self, model: LiveModel) -> None:
        labels, when = self._kept.setdefault(model.name, (model.labels, time.monotonic()))
        new = model.labels - labels
        if new >= _EVERY_LABELS or (new and time.monotonic() - when >= _EVERY_SECONDS):
            self.keep(model)

    def keep(self, model: LiveModel) -> None:
        """Make a snapshot now, unless the model is not what the journal says."""
        if self.broken:
            return
        self._kept[model.name] = (model.labels, time.monotonic())
        self._made[model.name] = time.monotonic()
        self._keep(model.name, model.snapshot())

    def snapshot_age(self, name: str) -> float | None:
        """Seconds since the last snapshot of a model; None where this process made none yet."""
        return time.monotonic() - self._made[name] if name in self._made else None
