"""A replica: it follows the journal of another service, predicts by the same models, and records nothing.

In a replica `JournalFollower` takes the place of the writer. It reads what the other service has committed and hands it
to the threads that learn, so each model is what it is there. Cost of a look without news: two queries.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from thalweg.errors import JournalError
from thalweg.service.commands import Command, Predict, Refused
from thalweg.service.journal.records import Event
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.rebuild import events_after
from thalweg.service.writer_state import WriterState

_LOG = logging.getLogger("thalweg.service")
#: Seconds between looks at the journal, and without one after which the replica counts as behind.
_EVERY_SECONDS, _LATE_SECONDS = 0.2, 5.0


def read_only() -> Refused:
    return Refused(403, "this service is a replica and changes nothing: ask the one that writes the journal")


class JournalFollower(threading.Thread):
    """Reads; started once, stopped once. ``seqs`` has the last record that each model has taken in.

    It calls ``committed`` with new records by model, ``failed`` with commands that only a writer could do, and
    ``recover``, which gives the last records anew, when the journal is another one than it was.
    """

    def __init__(
        self,
        journal: SqlJournal,
        seqs: Mapping[str, int],
        committed: Callable[[list[Command], list[tuple[str, Event]]], None],
        failed: Callable[[Sequence[Command], Refused], None],
        recover: Callable[[], Mapping[str, int]],
    ) -> None:
        super().__init__(name="thalweg-follower", daemon=True)
        self.journal = journal
        self.states: dict[str, WriterState] = {}
        self.epoch = self.commits = 0
        self._seqs = dict(seqs)
        self._committed, self._failed, self._recover = committed, failed, recover
        #: The last record of the journal, and when it was written, in microseconds since 1970.
        self.seq, self.record_time = journal.last()
        self._broken = False
        self._read_at = time.monotonic()
        self._ending = threading.Event()

    def put(self, commands: Sequence[Command]) -> None:
        """Predictions are given out as they are; what would change a model is refused."""
        predicted: list[Command] = []
        for command in commands:
            if isinstance(command, Predict):
                command.recorded = False
                predicted.append(command)
        self._committed(predicted, [])
        self._failed([command for command in commands if not isinstance(command, Predict)], read_only())

    def after(self, call: Callable[[], object]) -> None:
        call()

    def stop(self) -> None:
        self._ending.set()

    def __len__(self) -> int:
        return 0

    @property
    def read_age(self) -> float:
        """Seconds since all that the journal holds was read."""
        return time.monotonic() - self._read_at

    @property
    def usable(self) -> bool:
        """Whether the journal could be read a moment ago."""
        return self.is_alive() and not self._broken and self.read_age < _LATE_SECONDS

    def run(self) -> None:
        while not self._ending.wait(_EVERY_SECONDS):
            try:
                self._read()
            except JournalError as error:
                if not self._broken:
                    _LOG.error("%s; the models stay as they are until it can be read", error)
                self._broken = True
            else:
                if self._broken:
                    _LOG.warning("the journal is read again")
                self._broken = False
                self._read_at = time.monotonic()

    def _read(self) -> None:
        if self._broken or self.journal.was_replaced():
            self.journal.connect()
        last, written = self.journal.last()
        if self._broken or last < self.seq:
            self._seqs = dict(self._recover())
        for name in self.journal.models():
            for events in events_after(self.journal, name, self._seqs.get(name, 0)):
                if events:
                    self._seqs[name] = events[-1].seq
                    self._committed([], [(name, event) for event in events])
        self.seq, self.record_time = last, written
