"""Revisions: a model is learned again in the background, from the nearest snapshot, while the old one serves.

The old model takes in what comes meanwhile. The new one reads the journal to its end, which moves on, and is then given
to the thread of the model, which brings it to the last record and lets it take the place of the old one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from thalweg.client.protocol import prepared
from thalweg.errors import JournalDamaged, JournalError
from thalweg.service.journal.databases import open_journal
from thalweg.service.journal.records import Part
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.learning.rebuild import Abandoned, events_after, labels_kept, reaches, rebuild

T = TypeVar("T")
#: Labels that are worth the second that a process takes to start.
_MANY = 5000
#: Seconds between attempts to reach the database.
_AGAIN_SECONDS = 0.5


class Revision(threading.Thread):
    """Learns a model again with all revisions up to a record, then calls ``done`` with itself.

    ``labels`` is how many labels it has. Where many are to be learned again, a process of its own does it, since a
    thread would slow down the requests. ``reader`` opens a connection to the journal. A lost one is waited for, since
    the revision is committed.
    """

    def __init__(
        self, name: str, through: int, labels: int, reader: Callable[[], SqlJournal], done: Callable[[Revision], None]
    ) -> None:
        super().__init__(name=f"thalweg-revision-{name}", daemon=True)
        self.model_name, self.through = name, through
        self.model: LiveModel | None = None
        #: Why there is no model, unless it was abandoned.
        self.failure: Exception | None = None
        self._reader, self._done = reader, done
        self._labels = labels
        #: Labels of the last snapshot that the revisions leave true.
        self.labels_kept = 0
        self._journal: SqlJournal | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._abandoned = threading.Event()

    def abandon(self) -> None:
        self._abandoned.set()
        if self._process is not None:
            self._process.kill()

    def run(self) -> None:
        try:
            self.model = self._connected(self._rebuilt)
        except Abandoned:
            self.close()
            return
        except Exception as failure:
            self.failure = failure
        self._done(self)

    def _rebuilt(self, journal: SqlJournal) -> LiveModel:
        self.labels_kept = labels_kept(journal, self.model_name, reaches(journal, self.model_name))
        if self._labels - self.labels_kept > _MANY and (model := self._by_a_process(journal)) is not None:
            _catch_up(journal, model)  # what came while it was handed over
            return model
        stopped = self._abandoned.is_set
        return rebuild(journal, self.model_name, revised_through=self.through, stopped=stopped).model

    def _by_a_process(self, journal: SqlJournal) -> LiveModel | None:
        self._process = _start(_Order(*journal.place, self.model_name, self.through))
        if self._abandoned.is_set():
            self._process.kill()
        result = _result_of(self._process)
        if self._abandoned.is_set():
            raise Abandoned
        return result

    def caught_up(self, seq: int) -> LiveModel:
        """The model after this record, or a later one where it had read further; from the thread of the model."""
        model = self.model
        if model is None:
            raise self.failure or Abandoned
        self._connected(lambda journal: _catch_up(journal, model, seq))
        self.close()
        return model

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _connected(self, act: Callable[[SqlJournal], T]) -> T:
        while True:
            if self._abandoned.is_set():
                raise Abandoned
            try:
                if self._journal is None:
                    self._journal = self._reader()
                return act(self._journal)
            except JournalDamaged:
                raise
            except JournalError:
                self.close()
                time.sleep(_AGAIN_SECONDS)


def _catch_up(journal: SqlJournal, model: LiveModel, through: int | None = None) -> None:
    """Take in the records after the model's last; revisions among them are left out."""
    for events in events_after(journal, model.name, model.seq, through):
        model.take(events)


#: The process yields to everything else on the machine.
_NICE = 10


class _Order(msgspec.Struct):
    """For a process that learns a model again: where the journal is, the model, and the last record that counts."""

    folder: str | None
    database: str | None
    model: str
    revised_through: int


def _start(order: _Order) -> subprocess.Popen[bytes]:
    """Start the process, which is this module; `_result_of` waits for its end."""
    process = subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0),  # on Windows, which has no `nice`
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(order))
    process.stdin.close()
    return process


def _result_of(process: subprocess.Popen[bytes]) -> LiveModel | None:
    """The model; None where the process failed or was killed."""
    assert process.stdout is not None
    with process.stdout:
        written = process.stdout.read()
    if process.wait() != 0:
        return None
    return LiveModel.from_snapshot(msgspec.msgpack.decode(written, type=prepared(list[Part])))


def main() -> None:
    """Read an order from standard input, and write a snapshot of the model to standard output."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=_Order)
    if hasattr(os, "nice"):
        os.nice(_NICE)
    folder = None if order.folder is None else Path(order.folder)
    journal = open_journal(folder, order.database, read_only=True)
    rebuilt = rebuild(journal, order.model, revised_through=order.revised_through)
    sys.stdout.buffer.write(msgspec.msgpack.encode(rebuilt.model.snapshot()))


if __name__ == "__main__":
    main()
