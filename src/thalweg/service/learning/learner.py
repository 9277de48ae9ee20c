"""A thread for each model, since models do not wait for each other: it learns what is committed, then shows it."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from thalweg.service.commands import Command, Refused
from thalweg.service.journal.records import Decision, Event, LabelsArrived, Part
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.learning.model_state import ModelState
from thalweg.service.learning.revision import Revision

#: Labels and seconds between snapshots; a snapshot is due when either has passed and something was learned.
_EVERY_LABELS, _EVERY_SECONDS = 20_000, 30.0
#: Snapshots take this share of the time at the most: those of a million keys are hundreds of megabytes.
_MOST_TIME = 0.05
#: Seconds that rows may wait to be counted, when nobody waits for it.
_PATIENCE_SECONDS = 0.1

_LOG = logging.getLogger("thalweg.service")


@dataclass(frozen=True, slots=True)
class LearnerCalls:
    """What learning threads call: ``reader`` opens a connection for a revision.

    ``published`` gets a model whenever there is something new to see of it, ``learned`` or ``failed`` the commands that
    waited for their labels to be learned, and ``keep`` a snapshot to be written.
    """

    reader: Callable[[], SqlJournal]
    published: Callable[[LiveModel, ModelState], None]
    learned: Callable[[Sequence[Command]], None]
    failed: Callable[[Sequence[Command], Refused], None]
    keep: Callable[[str, list[Part]], None]


@dataclass(frozen=True, slots=True)
class _Batch:
    events: list[Event]
    waiting: list[Command]


class LearningThread(threading.Thread):
    """Learns; started once, stopped once. The model, as the journal says it is, belongs to it from now on.

    ``revised_at`` is the last record with a revision that it has not learned yet.
    """

    def __init__(self, name: str, model: LiveModel | None, calls: LearnerCalls, revised_at: int = 0) -> None:
        super().__init__(name=f"thalweg-learner-{name}", daemon=True)
        self.model_name = name
        #: None until the record that makes it has come.
        self.model = model
        #: Whether something could not be learned: the model is no longer what the journal says.
        self.broken = False
        self._calls = calls
        #: Committed records, what is to be called in the thread, to which the model belongs, and None to end.
        self._queue: queue.SimpleQueue[_Batch | Callable[[], None] | None] = queue.SimpleQueue()
        self._urgent = threading.Event()
        self._open = 0  # messages that were put and are not done yet
        self._changed = threading.Condition()
        self._made: float | None = None
        self._taken = 0.0  # seconds, by the last snapshot
        #: Of the last snapshot that is true, or of the start, how many labels it had learned, and when one was made.
        self._kept: tuple[int, float] | None = None
        #: In the background now, and the commands that wait for it or for the next one.
        self._revision: Revision | None = None
        self._revising: list[Command] = []
        #: The last record with a revision, and the last one whose revisions the model has learned.
        self._revised_at, self._included = revised_at, 0
        self._ending = False

    def put(self, events: list[Event], waiting: list[Command]) -> None:
        """Committed records, in order, and the commands that wait for them."""
        self._put(_Batch(events, waiting), urgent=bool(waiting))

    def replace(self, model: LiveModel) -> None:
        """Begin anew with a model that has learned all revisions in the journal, once all that was put is learned."""
        self._put(lambda: self._begin_anew(model))

    def show(self, look: Callable[[LiveModel], None], done: threading.Event) -> None:
        """Let somebody look at the model once all that was put is learned."""

        def act() -> None:
            if self.model is not None:
                look(self.model)
            done.set()

        self._put(act)

    def keep(self) -> None:
        """Make a snapshot once all that was put is learned, unless the model is not what the journal says."""
        self._put(lambda: self._guarded(self._keep))

    def let_go(self) -> None:
        """Revisions are acknowledged without being learned from now on: the next start does that."""
        self._ending = True
        self._put(self._abandon)

    def _put(self, message: _Batch | Callable[[], None], *, urgent: bool = True) -> None:
        with self._changed:
            self._open += 1
        self._queue.put(message)
        if urgent:
            self._urgent.set()

    def wait(self) -> None:
        """Until all that was put is learned, except for revisions."""
        self._urgent.set()
        with self._changed:
            self._changed.wait_for(lambda: self._open == 0)

    def stop(self) -> None:
        """Finish what waits, then end."""
        self._queue.put(None)
        self._urgent.set()

    def __len__(self) -> int:
        return self._queue.qsize()

    def run(self) -> None:
        going = True
        self._revise_if_due()
        while going:
            events: list[Event] = []
            waiting: list[Command] = []
            done = 0
            message = self._queue.get()
            if isinstance(message, _Batch) and not message.waiting:
                self._urgent.wait(_PATIENCE_SECONDS)  # rows to be counted: let more of them gather
            self._urgent.clear()
            while isinstance(message, _Batch):
                events += message.events
                waiting += message.waiting
                done += 1
                if self._queue.empty():
                    break
                message = self._queue.get()
            if done:
                self._learn(events, waiting)
            if callable(message):
                message()
                done += 1
            going = message is not None
            with self._changed:
                self._open -= done
                self._changed.notify_all()
        self._abandon()

    def _learn(self, events: Sequence[Event], waiting: Sequence[Command]) -> None:
        self._guarded(lambda: self._take(events))
        if self.broken:
            self._fail(waiting)
            return
        learned: list[Command] = []
        for task in waiting:
            (self._revising if task.revises else learned).append(task)
        self._calls.learned(learned)
        self._revise_if_due()

    def _guarded(self, act: Callable[[], None]) -> None:
        """Where something cannot be learned, nothing is from then on."""
        if self.broken:
            return
        try:
            act()
        except Exception:
            self.broken = True
            _LOG.exception("a model could not learn what is in the journal")

    def _fail(self, waiting: Sequence[Command]) -> None:
        self._calls.failed(waiting, Refused(503, "what came is in the journal, but a model could not learn it"))

    def _take(self, events: Sequence[Event]) -> None:
        if not events:
            return
        if self.model is None:
            first, events = events[0], events[1:]
            assert isinstance(first, Decision)
            self.model = LiveModel(self.model_name, first)
        for event in events:
            if isinstance(event, LabelsArrived) and event.revises:
                self._revised_at = event.seq
        model = self.model
        for part in _up_to_versions(
            [event for event in events if event.seq > model.seq]
        ):  # a revision may have read further
            model.take(part)
            if _names_version(part[-1]):
                self._keep()
        self._calls.published(model, model.publish())
        self._keep_if_due(model)

    @property
    def is_current(self) -> bool:
        """Whether the model is what the journal says, revisions included."""
        return not self.broken and self._revised_at <= self._included

    def _revise_if_due(self) -> None:
        if self._ending:
            self._abandon()
        elif self._revision is None and not self.is_current:
            assert self.model is not None
            name, labels = self.model_name, self.model.labels
            learned = self._calls.reader, lambda revision: self._put(lambda: self._swap(revision))
            self._revision = Revision(name, self._revised_at, labels, *learned)
            self._revision.start()

    def _swap(self, done: Revision) -> None:
        """The model that was learned again takes the place of the old one; later revisions are next."""
        if done is not self._revision:  # it was abandoned
            done.close()
            return
        self._revision = None
        self._guarded(lambda: self._swap_in(done))
        if self.broken:
            self._fail(self._revising)
            self._revising = []
            return
        self._calls.learned([event for event in self._revising if event.seq <= done.through])
        self._revising = [event for event in self._revising if event.seq > done.through]
        self._revise_if_due()

    def _swap_in(self, done: Revision) -> None:
        assert self.model is not None
        self.model = model = done.caught_up(self.model.seq)
        self._included = done.through
        if self._kept is not None:  # later snapshots are no longer true: neither a cut nor a start can use them
            labels, when = self._kept
            self._kept = (min(labels, done.labels_kept), when)
        self._calls.published(model, model.publish())
        self._keep_if_due(model)

    def _abandon(self) -> None:
        """What is committed is done by whoever begins anew."""
        if self._revision is not None:
            self._revision.abandon()
            self._revision = None
        self._calls.learned(self._revising)
        self._revising = []

    def _begin_anew(self, model: LiveModel) -> None:
        self._abandon()
        self.model, self._included = model, model.seq

    def _keep_if_due(self, model: LiveModel) -> None:
        if self._kept is None:
            self._kept = (model.labels, time.monotonic())
        labels, when = self._kept
        new, seconds = model.labels - labels, time.monotonic() - when
        due = new >= _EVERY_LABELS or (new and seconds >= _EVERY_SECONDS)
        if due and seconds * _MOST_TIME >= self._taken:
            self._keep()

    def _keep(self) -> None:
        if not self.is_current or self.model is None:
            return
        began = time.monotonic()
        self._calls.keep(self.model_name, self.model.snapshot())
        self._made = time.monotonic()
        self._taken = self._made - began
        self._kept = (self.model.labels, self._made)

    def snapshot_age(self) -> float | None:
        """Seconds since the last snapshot; None where this process made none yet."""
        return None if self._made is None else time.monotonic() - self._made


def _names_version(event: Event) -> bool:
    return isinstance(event, Decision) and event.kind == "version"


def _up_to_versions(events: Sequence[Event]) -> Iterator[Sequence[Event]]:
    """Events in parts that end with a record that names a version, so that there can be a snapshot of that state."""
    ends = [at + 1 for at, event in enumerate(events) if _names_version(event)]
    for begin, end in pairwise([0, *ends, len(events)]):
        if begin < end:
            yield events[begin:end]
