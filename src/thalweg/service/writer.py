"""The one thread that writes the journal: it takes all that waits, commits it together, and only then says so.

It also decides which snapshots to keep: many of the last hours, few of last year.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import orjson

from thalweg.errors import JournalError
from thalweg.service.commands import Decide, Expire, Keep, Label, Predict, Refused, Work
from thalweg.service.events import AskedRows, Decision, Happening, LabelsCame
from thalweg.service.journal.records import Kept, Kind, Record, Told
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.ledger import Ledger, Sorted
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.learning.rebuild import cost

#: Snapshots kept among those whose distance from now is within a factor of two.
EACH_OCTAVE = 4


def to_drop(seqs: Sequence[int], now: int) -> list[int]:
    """The snapshots that are not needed: of each octave of age, cut into parts, the oldest of a part stays.

    Examples
    --------
    >>> kept: list[int] = []
    >>> for seq in range(10, 10_000, 10):
    ...     kept = sorted({*kept, seq} - set(to_drop([*kept, seq], seq)))
    >>> len(kept), kept[-3:]
    (31, [9970, 9980, 9990])
    """
    kept: set[tuple[int, int]] = set()
    dropped = []
    for seq in seqs:
        age = now - seq
        octave = age.bit_length()
        part = 2 * age * EACH_OCTAVE >> octave
        if (octave, part) in kept:
            dropped.append(seq)
        kept.add((octave, part))
    return dropped


_LOG = logging.getLogger("thalweg.service")
#: Pieces of work that one commit takes at the most.
_MOST_TOGETHER = 4096
#: Seconds between attempts to begin anew.
_AGAIN_SECONDS = 0.5
_FAILED_LATELY = "the journal cannot be used: it failed a moment ago"
#: Labels that a model may know.
MOST_LABELS = 1000


@dataclass
class Book:
    """What the writer knows of a model."""

    expired_through: int
    #: Predict records up to this one have no row that waits.
    looked_through: int
    waiting: int
    labels: set[str]
    archived: bool
    #: No promotion came after this record.
    promoted: int

    @classmethod
    def of(cls, model: LiveModel) -> Book:
        """As the model is."""
        labels = {str(label) for each in model.learners.values() for label in getattr(each.model, "classes_", ())}
        compared = [each.comparison.since for each in model.learners.values() if each.comparison is not None]
        return cls(
            model.expired_through,
            model.expired_through,
            model.waiting,
            labels,
            model.archived[model.name],
            min(compared, default=0),
        )


class Writer(threading.Thread):
    """Writes; started once, stopped once.

    Parameters
    ----------
    journal : SqlJournal
        Claimed by this process.
    committed : callable
        Called with the work that is in the journal now and with its happenings by model.
    failed : callable
        Called with work that is not, and the reason.
    mend : callable
        Called after a failure, before more is written, when the connection is there again.
    """

    def __init__(
        self,
        journal: SqlJournal,
        committed: Callable[[list[Work], list[tuple[str, Happening]]], None],
        failed: Callable[[Sequence[Work], Refused], None],
        mend: Callable[[], None],
    ) -> None:
        super().__init__(name="thalweg-writer", daemon=True)
        self.journal = journal
        self.books: dict[str, Book] = {}
        self.seq, self._time = journal.last()
        #: Failures so far. Rows that were encoded before the last one must be asked again.
        self.epoch = 0
        self.broken = False
        self._tried = 0.0
        #: What the log was told since the last commit that succeeded.
        self._logged: set[str] = set()
        self.commits = 0
        self._ledger = Ledger(journal, self._flush)
        self._queue: queue.SimpleQueue[Sequence[Work] | Callable[[], None] | None] = queue.SimpleQueue()
        self._committed, self._failed, self._mend = committed, failed, mend
        self._records: list[Record] = []
        self._told: list[Told] = []
        self._kept: list[Kept] = []

    # ------------------------------------------------------------------ from other threads

    def put(self, work: Sequence[Work]) -> None:
        """Work that belongs together: it is committed together."""
        self._queue.put(work)

    def after(self, call: Callable[[], None]) -> None:
        """Call something once all that waits now is written."""
        self._queue.put(call)

    def stop(self) -> None:
        """Finish what waits, then end."""
        self._queue.put(None)

    def __len__(self) -> int:
        return self._queue.qsize()

    # ------------------------------------------------------------------ the thread

    def run(self) -> None:
        """Until `stop`."""
        going = True
        while going:
            together: list[Work] = []
            taken = self._queue.get()
            while taken is not None and not callable(taken):
                together += taken
                if len(together) >= _MOST_TOGETHER or self._queue.empty():
                    break
                taken = self._queue.get()
            if together:
                self._do(together)
            if callable(taken):
                taken()
            going = taken is not None

    def _do(self, together: list[Work]) -> None:
        try:
            if self.broken:
                self._begin_anew()
            done, happenings = self._commit(together)
        except JournalError as error:
            if str(error) not in self._logged:
                _LOG.error("%s; it is tried again with what comes next", error)
                self._logged |= {str(error), _FAILED_LATELY}
            self._fail(together, Refused(503, str(error), retry_after=1))
        except Exception:
            _LOG.exception("what came could not be written")
            self._fail(together, Refused(500, "the service failed at what came together, which is a bug"))
        else:
            if self._logged:
                _LOG.warning("the journal is written again")
                self._logged.clear()
            self._committed(done, happenings)

    def _fail(self, together: Sequence[Work], refusal: Refused) -> None:
        """Nothing of it was committed; what was answered by what it changed must be asked again."""
        self.epoch += not self.broken
        self.broken = True
        self._ledger.forget()
        self._failed(together, refusal)

    def _begin_anew(self) -> None:
        if time.monotonic() - self._tried < _AGAIN_SECONDS:
            raise JournalError(_FAILED_LATELY)
        self._tried = time.monotonic()
        self.journal.connect()
        self.seq, self._time = self.journal.last()
        self._mend()
        self.broken = False

    def _commit(self, together: list[Work]) -> tuple[list[Work], list[tuple[str, Happening]]]:
        done: list[Work] = []
        happenings: list[tuple[str, Happening]] = []
        seq, before = self.seq, self._time
        self._records, self._told, self._kept = [], [], []
        try:
            with self.journal.transaction():
                for work in together:
                    try:
                        happening = self._write(work)
                    except Refused as refusal:
                        self._failed([work], refusal)
                        continue
                    done.append(work)
                    if happening is not None:
                        happenings.append((work.model, happening))
                    if work.key is not None:
                        answer = work.key.written(work)
                        self._kept.append(
                            Kept(work.key.key, work.key.request, answer.status, answer.media, answer.body)
                        )
                self._flush()
        except BaseException:
            self.seq, self._time = seq, before
            raise
        self.commits += 1
        return done, happenings

    def _flush(self) -> None:
        self.journal.write(self._records, self._told, self._kept)
        self._records, self._told, self._kept = [], [], []

    def _append(self, work: Work, kind: Kind, rows: int, body: bytes) -> Record:
        self.seq += 1
        self._time = max(self._time, time.time_ns() // 1000)
        work.seq = self.seq
        record = Record(self.seq, work.model, kind, self._time, rows, body)
        self._records.append(record)
        return record

    # ------------------------------------------------------------------ one piece of work

    def _write(self, work: Work) -> Happening | None:
        match work:
            case Predict():
                return self._predict(work)
            case Label():
                return self._label(work)
            case Decide():
                return self._decide(work)
            case Expire():
                return self._expire(work)
            case Keep():
                self._flush()
                self.journal.write([], parts=work.parts)
                now = work.parts[0].seq
                self.journal.drop_snapshots(work.model, to_drop(self.journal.snapshots(work.model), now))
        return None

    def _predict(self, work: Predict) -> Happening:
        if work.epoch != self.epoch:
            raise Refused(503, "the journal failed while the rows were answered: ask again", retry_after=1)
        record = self._append(work, "predict", len(work.asked.X), work.asked.to_bytes())
        rows = AskedRows(record.seq, record.model, record.time, work.asked, {})
        self._ledger.keep(rows)
        self.books[work.model].waiting += len(rows)
        return rows

    def _label(self, work: Label) -> Happening | None:
        book = self.books[work.model]
        if book.archived:
            raise Refused(409, f"the model {work.model!r} is archived: restore it first")
        found = self._ledger.sort(
            work.model,
            work.labels,
            seq=self.seq + 1,
            revise=work.revise,
            expired_through=book.expired_through,
        )
        told = {lesson.label for lesson in (*found.learned, *(lesson for lesson, _ in found.revised))}
        known = book.labels | told
        if len(known) > MOST_LABELS:
            self._ledger.forget()  # it took the labels for the rows' own
            raise Refused(422, f"a model may know at most {MOST_LABELS} different labels, and these would make it more")
        work.outcome = found
        if not (found.learned or found.revised or work.key):
            work.seq = self.seq
            return None
        book.labels = known
        book.waiting -= len(found.learned)
        record = self._append(work, "revise" if found.revised else "label", len(found.learned), found.body().to_bytes())
        self._told += _told(found, record.seq)
        if found.revised:
            self._flush()
            work.replayed = cost(self.journal, work.model, min(first for _, first in found.revised))
        return LabelsCame(record.seq, record.time, found.learned, bool(found.revised))

    def _decide(self, work: Decide) -> Happening:
        if work.epoch is not None and work.epoch != self.epoch:
            raise Refused(503, "the journal failed while the rows were read: ask again", retry_after=1)
        if work.since is not None and self.books[work.model].promoted > work.since:
            raise Refused(409, f"{work.model!r} was given another model a moment ago: look at the comparison again")
        record = self._append(work, work.kind, 0, orjson.dumps(work.body))
        if work.kind == "promote":
            self.books[work.model].promoted = record.seq
        if work.kind in ("archive", "restore") and work.body["name"] == work.model:
            self.books[work.model].archived = work.kind == "archive"
        return Decision(record.seq, record.kind, record.time, work.body)

    def _expire(self, work: Expire) -> Happening | None:
        """Move on the mark up to which rows without a label have expired: those asked too early, or too many.

        Rows that were asked together expire together, and not before as many as are to be kept have come after them.
        """
        book = self.books[work.model]
        self._flush()
        rows = 0
        for seq, asked, unlabelled in self.journal.open_rows(work.model, book.looked_through):
            too_early = work.before is not None and asked <= work.before
            too_many = work.most is not None and book.waiting - rows - unlabelled >= work.most
            if not (too_early or too_many):
                break
            book.looked_through, rows = seq, rows + unlabelled
        if rows == 0:
            return None
        book.expired_through, book.waiting = book.looked_through, book.waiting - rows
        body = {"through": book.expired_through, "rows": rows}
        record = self._append(work, "expire", 0, orjson.dumps(body))
        return Decision(record.seq, record.kind, record.time, body)


def _told(found: Sorted, seq: int) -> list[Told]:
    counts: dict[int, int] = {}
    for lesson in found.learned:
        counts[lesson.rows.seq] = counts.get(lesson.rows.seq, 0) + 1
    for lesson, _ in found.revised:
        counts.setdefault(lesson.rows.seq, 0)
    return [Told(asked, seq, rows) for asked, rows in counts.items()]
