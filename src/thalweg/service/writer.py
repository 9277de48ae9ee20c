"""The one thread that writes the journal: it takes all that waits, commits it together, and only then says so."""

from __future__ import annotations

import copy
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence

import orjson

from thalweg.errors import JournalError
from thalweg.service.commands import (
    Command,
    Cut,
    Decide,
    DropReplies,
    Expire,
    KeepSnapshot,
    Label,
    OfRows,
    Predict,
    Refused,
    Withdraw,
    require_active,
)
from thalweg.service.journal.erasing import begin_cut, erase_page, erase_rows
from thalweg.service.journal.records import (
    EARLIER_ROWS,
    WATCHED_COLUMNS,
    Decision,
    Event,
    Kind,
    LabelLink,
    LabelsArrived,
    PredictedRows,
    Record,
    StoredResponse,
)
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.ledger import Ledger
from thalweg.service.learning.rebuild import Reach, is_outdated, labels_kept, reach_of, reaches
from thalweg.service.record_clock import RecordClock
from thalweg.service.writer_state import WriterState

_LOG = logging.getLogger("thalweg.service")
#: Commands in one commit at the most.
_MOST_TOGETHER = 4096
#: Records or replies erased in one commit.
_PAGE = 1000
#: Seconds between attempts to start over.
_AGAIN_SECONDS = 0.5
#: Seconds without a command after which the journal is probed, and of one call after which it counts as stuck.
_PROBE_SECONDS, _STUCK_SECONDS = 1.0, 3.0
_FAILED_RECENTLY = "the journal cannot be used: it failed a moment ago"
#: Labels that a model may know, and names of versions that it may have, each of which keeps a snapshot.
MOST_LABELS, MOST_VERSIONS = 1000, 1000


class Writer(threading.Thread):
    """Writes; started once, stopped once. The journal is claimed by this process.

    It calls ``committed`` with the commands that are in the journal now and their events by model, ``failed`` with
    those that are not and the reason, and ``recover`` after a failure, when the connection is there again. It calls
    ``key_written`` with each idempotency key before it is committed.
    """

    def __init__(
        self,
        journal: SqlJournal,
        committed: Callable[[list[Command], list[tuple[str, Event]]], None],
        failed: Callable[[Sequence[Command], Refused], None],
        recover: Callable[[], object],
        key_written: Callable[[str], None] = lambda key: None,
    ) -> None:
        super().__init__(name="thalweg-writer", daemon=True)
        self.journal = journal
        self.states: dict[str, WriterState] = {}
        self.seq, last = journal.last()
        self._clock = RecordClock(last)
        #: Failures so far. Rows that were encoded before the last one must be asked again.
        self.epoch = 0
        self.broken = False
        #: When the call of the journal began that is in progress.
        self._busy_since: float | None = None
        self._tried = 0.0
        #: What was logged since the last commit that succeeded.
        self._logged: set[str] = set()
        self.commits = 0
        #: By model, the snapshot before which records were erased.
        self._cuts = journal.cuts()
        self._ledger = Ledger(journal, self._flush, self._cuts)
        self._queue: queue.SimpleQueue[Sequence[Command] | Callable[[], object] | None] = queue.SimpleQueue()
        self._committed, self._failed, self._recover = committed, failed, recover
        self._key_written = key_written
        #: By model, once it had a revision.
        self._reaches: dict[str, list[Reach]] = {}
        self._records: list[Record] = []
        self._links: list[LabelLink] = []
        self._responses: list[StoredResponse] = []

    def put(self, commands: Sequence[Command]) -> None:
        """Commands that belong together: they are committed together."""
        self._queue.put(commands)

    def after(self, call: Callable[[], object]) -> None:
        """Call something once all that waits now is written."""
        self._queue.put(call)

    def stop(self) -> None:
        """Finish what waits, then end."""
        self._queue.put(None)

    def __len__(self) -> int:
        return self._queue.qsize()

    @property
    def usable(self) -> bool:
        """Whether the journal could be written when it was tried last, at most a few seconds ago."""
        since = self._busy_since
        stuck = since is not None and time.monotonic() - since > _STUCK_SECONDS
        return self.is_alive() and not self.broken and not stuck

    def run(self) -> None:
        going = True
        while going:
            together: list[Command] = []
            try:
                taken = self._queue.get(timeout=_PROBE_SECONDS)
            except queue.Empty:
                taken = ()
            while taken is not None and not callable(taken):
                together += taken
                if len(together) >= _MOST_TOGETHER or self._queue.empty():
                    break
                taken = self._queue.get()
            if together or taken == ():
                self._busy_since = time.monotonic()
                self._do(together)
                self._busy_since = None
            if callable(taken):
                taken()
            going = taken is not None

    def _do(self, together: list[Command]) -> None:
        """Write commands; where there are none, see whether they could be written."""
        done: list[Command] = []
        events: list[tuple[str, Event]] = []
        try:
            if self.broken:
                self._reconnect()
            if together:
                done, events = self._commit(together)
            else:
                self.journal.probe()
        except JournalError as error:
            if str(error) not in self._logged:
                _LOG.error("%s; it is tried again every second", error)
                self._logged |= {str(error), _FAILED_RECENTLY}
            self._fail(together, Refused(503, str(error), retry_after=1))
        except Exception as error:
            if repr(error) not in self._logged:
                _LOG.exception("what came could not be written")
                self._logged.add(repr(error))
            self._fail(together, Refused(500, "internal error: the service failed on this batch of requests"))
        else:
            if self._logged:
                _LOG.warning("the journal is written again")
                self._logged.clear()
            self._committed(done, events)

    def _fail(self, together: Sequence[Command], refusal: Refused) -> None:
        """Nothing of it was committed; what was predicted by what it changed must be asked again."""
        self.epoch += not self.broken
        self.broken = True
        self._ledger.forget()
        self._reaches.clear()
        self._failed(together, refusal)

    def _reconnect(self) -> None:
        if time.monotonic() - self._tried < _AGAIN_SECONDS:
            raise JournalError(_FAILED_RECENTLY)
        self._tried = time.monotonic()
        self.journal.connect()
        self.journal.probe()
        self.seq, self._clock.last = self.journal.last()
        self._cuts.clear()
        self._cuts.update(self.journal.cuts())
        self._recover()
        self.broken = False

    def _commit(self, together: list[Command]) -> tuple[list[Command], list[tuple[str, Event]]]:
        done: list[Command] = []
        events: list[tuple[str, Event]] = []
        seq, clock = self.seq, copy.copy(self._clock)
        self._records, self._links, self._responses = [], [], []
        try:
            with self.journal.transaction():
                for command in together:
                    try:
                        event = self._write(command)
                    except Refused as refusal:
                        self._failed([command], refusal)
                        continue
                    done.append(command)
                    if event is not None:
                        events.append((command.model, event))
                    if command.key is not None:
                        command.reply = reply = command.key.written(command)
                        self._key_written(command.key.key)
                        self._responses.append(
                            StoredResponse(
                                command.key.key, command.key.request, reply.status, reply.media, reply.body, command.seq
                            )
                        )
                self._flush()
        except BaseException:
            self.seq, self._clock = seq, clock
            raise
        self.commits += 1
        return done, events

    def _flush(self) -> None:
        self.journal.write(self._records, self._links, self._responses)
        self._records, self._links, self._responses = [], [], []

    def _append(self, command: Command, kind: Kind, rows: int, body: bytes) -> Record:
        self.seq += 1
        command.seq = self.seq
        now, gap = self._clock.tick()
        if gap:
            self.journal.write_gap(self.seq, gap)
        record = Record(self.seq, command.model, kind, now, rows, body)
        self._records.append(record)
        return record

    def _write(self, command: Command) -> Event | None:
        match command:
            case Predict():
                return self._predict(command)
            case Label():
                return self._label(command)
            case Withdraw():
                return self._withdraw(command)
            case Decide():
                return self._decide(command)
            case Expire():
                return self._expire(command)
            case KeepSnapshot():
                if self._is_outdated(command.model, command.parts[0].seq):
                    return None  # rows in it were withdrawn or erased since it was made
                self._flush()
                self.journal.write([], parts=command.parts)
                now = command.parts[0].seq
                stay = {self._cuts.get(command.model), *self.states[command.model].versions.values()}
                dropped = snapshots_to_drop(self.journal.snapshots(command.model), now)
                self.journal.drop_snapshots(command.model, [seq for seq in dropped if seq not in stay])
            case Cut():
                self._cut(command)
            case DropReplies():
                self._flush()
                if self.journal.drop_replies(command.through, _PAGE) == _PAGE:
                    self.put([command])
        return None

    def _cut(self, command: Cut) -> None:
        """One page of it; the rest waits in the queue, so that requests come in between."""
        model, state, before = command.model, self.states[command.model], self._cuts.get(command.model, 0)
        outdated = is_outdated(command.seq_kept, self._reaches_of(model))
        if command.seq_kept < before or (command.seq_kept > before and outdated):
            return
        self._flush()
        if command.seq_kept > before:
            self.journal.write([], parts=command.parts)
            begin_cut(self.journal, model, command.seq_kept, set(state.versions.values()))
            self._cuts[model] = command.seq_kept
        done = erase_page(self.journal, model, command.seq_kept, state.expired_through, command.page, _PAGE)
        if done.erased:
            self._ledger.forget()
        if done.next is not None:
            command.page = done.next
            self.put([command])

    def _predict(self, command: Predict) -> Event:
        if command.epoch != self.epoch:
            raise Refused(503, "the journal failed while the rows were predicted: send them again", retry_after=1)
        if command.columns != self.states[command.model].columns:
            raise Refused(503, "the columns of the model have just changed: send the rows again", retry_after=1)
        state = self.states[command.model]
        command.body.before = state.rows
        record = self._append(command, "predict", len(command.body.X), command.body.to_bytes())
        rows = PredictedRows(record.seq, record.model, record.time, command.body, {})
        self._ledger.keep(rows)
        state.rows += len(rows)
        state.waiting += len(rows)
        return rows

    def _label(self, command: Label) -> Event | None:
        state = self.states[command.model]
        require_active(command.model, command.model in state.archived)
        outcome = self._ledger.sort(
            command.model,
            command.labels,
            seq=self.seq + 1,
            revise=command.revise,
            expired_through=state.expired_through,
        )
        labels = {row.label for row in (*outcome.learned, *(row for row, _ in outcome.revised))}
        known = None if state.labels is None else state.labels | labels
        if known is not None and len(known) > MOST_LABELS:
            self._ledger.forget()  # it took the labels for the rows' own
            raise Refused(422, f"a model may know at most {MOST_LABELS} different labels, and these would make it more")
        command.outcome = outcome
        if state.labels is not None:
            outcome.new_labels = sorted(str(label) for label in labels - state.labels)
        if not (outcome.learned or outcome.revised or command.key):
            command.seq = self.seq
            return None
        state.labels = known
        if outcome.learned or outcome.revised:
            state.labelled = self.seq + 1
        state.waiting -= len(outcome.learned)
        state.learned += len(outcome.learned)
        return self._append_labels(command, "revise" if outcome.revised else "label")

    def _withdraw(self, command: Withdraw) -> Event | None:
        """With an erasure, what the journal has of the rows is gone, with the snapshots that knew them."""
        model, state = command.model, self.states[command.model]
        if not command.erase:
            require_active(model, model in state.archived)
        outcome = self._ledger.withdraw(model, command.ids, state.expired_through, erase=command.erase)
        command.outcome = outcome
        if not (outcome.voided or outcome.erased or command.key):
            command.seq = self.seq
            return None
        unlabelled = sum(not first for _, first in outcome.voided)
        if outcome.reaches_back:
            state.labelled = self.seq + 1
        state.waiting -= unlabelled
        state.learned -= len(outcome.voided) - unlabelled
        event = self._append_labels(command, "void")
        if outcome.erased:
            self._flush()
            erase_rows(self.journal, outcome.erased)
            self.journal.drop_parts(model, WATCHED_COLUMNS)
            self.journal.drop_parts(model, EARLIER_ROWS, min(seq for seq, _ in outcome.erased))
            outdated = [seq for seq in self.journal.snapshots(model) if self._is_outdated(model, seq)]
            self.journal.drop_snapshots(model, outdated)
            self._ledger.forget()
            self.after(self.journal.scrub_log)
        return event

    def _is_outdated(self, model: str, seq: int) -> bool:
        """Whether a snapshot is no longer true, and is none that stays all the same."""
        stays = seq == self._cuts.get(model) or seq in self.states[model].versions.values()
        return not stays and is_outdated(seq, self._reaches_of(model))

    def _append_labels(self, command: OfRows, kind: Kind) -> LabelsArrived:
        """A record with labels, or with rows that are withdrawn or erased, and what a model makes of it."""
        outcome = command.outcome
        assert outcome is not None
        body = outcome.body()
        record = self._append(command, kind, len(outcome.learned), body.to_bytes())
        self._links += [LabelLink(asked, record.seq, rows) for asked, rows in body.settled().items()]
        back = outcome.reaches_back
        if back:
            command.revises = True
            known = self._reaches_of(command.model)
            known.append(reach_of(record.seq, body, self._cuts.get(command.model, 0)))
            command.replayed = self.states[command.model].learned - labels_kept(self.journal, command.model, known)
        voided = sum(not first for _, first in outcome.voided)  # the others, once their labels are left out
        gone = [*((row.rows.seq, row.row) for row, _ in outcome.voided), *outcome.erased]
        return LabelsArrived(record.seq, record.time, outcome.learned, back, voided, bool(outcome.erased), gone)

    def _reaches_of(self, model: str) -> list[Reach]:
        if model not in self._reaches:
            self._reaches[model] = reaches(self.journal, model)
        return self._reaches[model]

    def _decide(self, command: Decide) -> Event:
        if command.epoch is not None and command.epoch != self.epoch:
            raise Refused(503, "the journal failed while the rows were read: send them again", retry_after=1)
        state = self.states.get(command.model)
        if state is not None:
            self._require_timely(command, state)
        record = self._append(command, command.kind, 0, orjson.dumps(command.body))
        if state is not None and command.kind == "schema":
            state.settle(record.seq)
        elif state is not None and command.kind in ("promote", "rollback"):
            state.promoted = record.seq
        elif state is not None and command.kind == "version":
            state.versions[command.body["version"]] = record.seq
        elif state is not None and command.kind == "archive":
            state.archived.add(command.body["name"])
        elif state is not None and command.kind == "restore":
            state.archived.discard(command.body["name"])
        return Decision(record.seq, record.kind, record.time, command.body)

    def _require_timely(self, command: Decide, state: WriterState) -> None:
        """`Refused` where another decision came first, which was not seen when this one was asked for."""
        if command.kind == "schema" and state.has_columns and state.learned:
            raise Refused(409, f"{command.model!r} has just learned its first label: its columns stay as they are")
        if command.kind == "columns" and command.since is not None:
            if state.labelled > command.since:
                raise Refused(409, f"labels of {command.model!r} came while its columns were changed: ask again")
            return
        if command.since is not None and state.promoted > command.since:
            raise Refused(409, f"{command.model!r} was changed a moment ago: compare the models again")
        name = command.body.get("name")
        if command.kind == "version":
            _require_new_version(command, state)
        if command.kind == "rollback" and not state.learned:
            raise Refused(409, f"{command.model!r} has learned nothing yet: there is nothing to roll back")
        if command.kind in ("promote", "rollback"):
            require_active(str(name), name in state.archived)
        if command.kind in ("archive", "restore") and (command.kind == "archive") == (name in state.archived):
            already = "archived" if command.kind == "archive" else "not archived"
            raise Refused(409, f"the model {name!r} is {already} already")

    def _expire(self, command: Expire) -> Event | None:
        """Move on the mark up to which rows without a label have expired: those asked too early, or too many.

        Rows that were asked together expire together, and not before as many as are to be kept have come after them.
        """
        state = self.states[command.model]
        self._flush()
        rows = 0
        now, gaps = self._clock.now(), self.journal.gaps()
        for seq, asked, unlabelled in self.journal.open_rows(command.model, state.looked_through):
            waited = now - asked - sum(gap for at, gap in gaps if at > seq)
            too_early = command.seconds is not None and waited >= 1_000_000 * command.seconds
            too_many = command.most is not None and state.waiting - rows - unlabelled >= command.most
            if not (too_early or too_many):
                break
            state.looked_through, rows = seq, rows + unlabelled
        if rows == 0:
            return None
        state.expired_through, state.waiting = state.looked_through, state.waiting - rows
        body = {"through": state.expired_through, "rows": rows}
        record = self._append(command, "expire", 0, orjson.dumps(body))
        return Decision(record.seq, record.kind, record.time, body)


def _require_new_version(command: Decide, state: WriterState) -> None:
    version = command.body["version"]
    if version in state.versions:
        at = state.versions[version]
        raise Refused(409, f"{command.model!r} has a version {version!r} already, at record {at}: choose another name")
    if len(state.versions) >= MOST_VERSIONS:
        raise Refused(409, f"a model may have at most {MOST_VERSIONS} versions")


#: Snapshots kept among those whose distance from now is within a factor of two.
EACH_OCTAVE = 4


def snapshots_to_drop(seqs: Sequence[int], now: int) -> list[int]:
    """The snapshots that are not needed: of each octave of age, cut into parts, the oldest of a part stays.

    Examples
    --------
    >>> kept: list[int] = []
    >>> for seq in range(10, 10_000, 10):
    ...     kept = sorted({*kept, seq} - set(snapshots_to_drop([*kept, seq], seq)))
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
