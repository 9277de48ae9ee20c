"""A model as it was after any record, from the last snapshot that is still true and the journal after it.

A revision changes what was learned at the place of the first label, and an erasure also what the rows themselves had
changed. A snapshot from between the two is what the model was then, and a model of later must not begin from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import orjson

from thalweg.errors import InvalidParameter, JournalDamaged, ModelFileError
from thalweg.service.journal.records import (
    Decision,
    Event,
    LabelBody,
    LabelledRow,
    LabelsArrived,
    LabelValue,
    PredictedRows,
    Record,
    body_of,
)
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.ledger import predicted_rows
from thalweg.service.learning.live_model import LiveModel, number_in

#: Records that are taken in at a time.
_TOGETHER = 512


@dataclass(frozen=True)
class Rebuilt:
    model: LiveModel
    #: The snapshot from which it was built; 0 for none.
    base: int
    #: Labels learned again.
    replayed: int
    #: The last record with a revision that it has not learned, 0 for none; and labels that such revisions withdraw.
    revised_at: int = 0
    withdrawn: int = 0


class Abandoned(Exception):
    """A model need not be built after all."""


def rebuild(
    journal: SqlJournal,
    name: str,
    through: int | None = None,
    *,
    from_snapshots: bool = True,
    revised_through: int | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Rebuilt:
    """A model as it was after the record ``through``, or as it is.

    Without ``from_snapshots`` it begins at the first record, which takes longer and gives the same bytes. Revisions
    after ``revised_through`` are left out, though not the first labels that came with them. Once ``stopped`` says so,
    `Abandoned` is raised.
    """
    last = through if revised_through is None else revised_through
    cut, every = journal.cuts().get(name, 0), _revisions(journal, name)
    revisions = [revision for revision in every if last is None or revision[0].seq <= last]
    # What was erased is gone, whatever the last record that counts.
    reach = [reach_of(r.seq, body, cut) for r, body in every if body.erased or last is None or r.seq <= last]
    if through is not None and through < cut:
        if through in journal.snapshots(name):  # a named version
            return Rebuilt(LiveModel.from_snapshot(journal.snapshot(name, through)), through, 0)
        raise InvalidParameter(f"the journal of {name!r} was compacted: it begins at record {cut}, got {through}")
    model = _base(journal, name, through if from_snapshots else cut, reach) if from_snapshots or cut else None
    if cut and (model is None or model.seq < cut):
        raise JournalDamaged(f"the journal of {name!r} was compacted, and no snapshot since record {cut} can be read")
    base = 0 if model is None else model.seq
    records = journal.records(name, after=base, through=through)
    if model is None:
        first = next(records, None)
        if first is None:
            raise InvalidParameter(f"the journal knows no model {name!r} at record {through}")
        model = LiveModel(name, decision(first))
    before = model.labels
    for events in _events(journal, records, _right(revisions, base)):
        if stopped():
            raise Abandoned
        model.take(events)
    return Rebuilt(model, base, model.labels - before)


def rebuild_for_start(journal: SqlJournal, name: str) -> Rebuilt:
    """A model to begin with, without waiting for revisions that the last snapshot has not learned."""
    seqs, revisions = journal.snapshots(name), reaches(journal, name)
    if not seqs or not is_outdated(seqs[-1], revisions):
        return rebuild(journal, name)
    later = [body for record, body in _revisions(journal, name) if record.kind == "void" and record.seq > seqs[-1]]
    withdrawn = sum(first > 0 and label is not None for body in later for _, _, label, first in body.revised)
    model = rebuild(journal, name, revised_through=seqs[-1])
    return replace(model, revised_at=revisions[-1][0], withdrawn=withdrawn)


def events_after(journal: SqlJournal, name: str, seq: int, through: int | None = None) -> Iterator[list[Event]]:
    """Records of a model after one, as they came: labels are those of the records, whatever was revised later."""
    return _events(journal, journal.records(name, after=seq, through=through), {})


def learned_rows(journal: SqlJournal, name: str, through: int) -> Iterator[list[LabelledRow]]:
    """Rows that the journal keeps, with the labels that they have by a record, in the order in which these came."""
    begin = journal.cuts().get(name, 0)
    right = _right([revision for revision in _revisions(journal, name) if revision[0].seq <= through], begin)
    for events in _events(journal, journal.records(name, after=begin, through=through), right):
        rows = [row for event in events if isinstance(event, LabelsArrived) for row in event.labelled]
        if rows:
            yield rows


#: Of a record with revisions, its seq and the first record that it changes: of labels, or of rows that were erased.
Reach = tuple[int, int]


def reach_of(seq: int, labelled: LabelBody, cut: int) -> Reach:
    """How far a record reaches back, in a journal that begins at a snapshot, which stays as it is."""
    changed = [first for _, _, _, first in labelled.revised if first] + [asked for asked, _ in labelled.erased]
    return seq, max(min(changed, default=seq), cut + 1)


def reaches(journal: SqlJournal, name: str) -> list[Reach]:
    cut = journal.cuts().get(name, 0)
    return [reach_of(record.seq, labelled, cut) for record, labelled in _revisions(journal, name)]


def _revisions(journal: SqlJournal, name: str) -> list[tuple[Record, LabelBody]]:
    """Records that change or withdraw labels, or erase rows, in order."""
    revisions = [*journal.records(name, kind="revise"), *journal.records(name, kind="void")]
    return [(record, body_of(record, LabelBody)) for record in sorted(revisions, key=lambda record: record.seq)]


def _right(revisions: Sequence[tuple[Record, LabelBody]], base: int) -> dict[tuple[int, int], LabelValue | None]:
    """By predict record and place, the label that a revision after a record gave a row; None where it was withdrawn."""
    return {
        (asked, row): None if record.kind == "void" else label
        for record, labelled in revisions
        if record.seq > base
        for asked, row, label, _ in labelled.revised
    }


def true_snapshots(journal: SqlJournal, name: str) -> list[int]:
    """Snapshots from which a model can be built as it is now."""
    revisions = reaches(journal, name)
    return [seq for seq in journal.snapshots(name) if not is_outdated(seq, revisions)]


def labels_kept(journal: SqlJournal, name: str, revisions: Sequence[Reach]) -> int:
    """How many labels need not be learned again by a model with these revisions: those of the snapshot it begins at."""
    for seq in reversed(journal.snapshots(name)):
        if not is_outdated(seq, revisions):
            try:
                return number_in(journal.snapshot(name, seq), "labels")
            except ModelFileError:
                continue
    return 0


def decision(record: Record) -> Decision:
    """A record that is neither rows nor labels."""
    return Decision(record.seq, record.kind, record.time, orjson.loads(record.body))


def _base(journal: SqlJournal, name: str, through: int | None, revisions: Sequence[Reach]) -> LiveModel | None:
    """The last snapshot before which nothing was revised after it; one that is damaged is passed over.

    Of the very record that is asked for, it is a named version: it stays as it was.
    """
    for seq in reversed(journal.snapshots(name, through)):
        if seq == through or not is_outdated(seq, revisions):
            try:
                return LiveModel.from_snapshot(journal.snapshot(name, seq))
            except ModelFileError:
                continue
    return None


def is_outdated(seq: int, revisions: Sequence[Reach]) -> bool:
    """Whether a label that the snapshot had learned was revised after it."""
    return any(first <= seq < at for at, first in revisions)


def _events(
    journal: SqlJournal, records: Iterable[Record], right: dict[tuple[int, int], LabelValue | None]
) -> Iterator[list[Event]]:
    """Records in hand, some hundred at a time, with revised labels in the place of the first ones.

    Rows whose label is None there were withdrawn.
    """
    together: list[Record] = []
    for record in records:
        together.append(record)
        if len(together) == _TOGETHER:
            yield _in_hand(journal, together, right)
            together = []
    yield _in_hand(journal, together, right)


def _in_hand(
    journal: SqlJournal, records: list[Record], right: dict[tuple[int, int], LabelValue | None]
) -> list[Event]:
    rows: dict[int, PredictedRows] = {
        record.seq: predicted_rows(record) for record in records if record.kind == "predict"
    }
    bodies = {r.seq: body_of(r, LabelBody) for r in records if r.kind in ("label", "revise", "void")}
    elsewhere = {asked for body in bodies.values() for asked, _, _ in body.learned} - rows.keys()
    if elsewhere:
        rows |= {record.seq: predicted_rows(record) for record in journal.fetch(sorted(elsewhere))}
    events: list[Event] = []
    for record in records:
        if record.kind == "predict":
            events.append(rows[record.seq])
        elif record.seq in bodies:
            body = bodies[record.seq]
            learned, changed = body.learned, body.revised
            if not all(asked in rows and 0 <= row < len(rows[asked]) for asked, row, _ in learned):
                raise JournalDamaged(f"record {record.seq} of the journal is damaged: it has a label of no row")
            labelled = [
                LabelledRow(rows[asked], row, now)
                for asked, row, label in learned
                if (now := right.get((asked, row), label)) is not None
            ]
            # A label that was erased is None. Its row counts as withdrawn here, and not again where it was. A row whose
            # label is learned here all the same, since the revision comes later, does not count yet.
            voided, gone = sum(label is None for _, _, label in learned), body.erased
            if record.kind == "void":
                gone = [*((at, row) for at, row, *_ in changed), *gone]
                voided += sum(
                    label is not None and (not first or right.get((at, row), label) is None)
                    for at, row, label, first in changed
                )
            revises = bool(body.erased) or any(first for *_, first in changed)
            events.append(LabelsArrived(record.seq, record.time, labelled, revises, voided, bool(body.erased), gone))
        else:
            events.append(decision(record))
    return events
