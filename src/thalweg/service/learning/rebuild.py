"""A model as it was after any record, from the last snapshot that is still true and the journal after it.

A revision changes what was learned at the place of the first label. A snapshot from between the two is what the model
was then, and a model of later must not begin from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

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
from thalweg.service.learning.live_model import LiveModel

#: Records that are taken in at a time.
_TOGETHER = 512


@dataclass(frozen=True)
class Rebuilt:
    model: LiveModel
    #: The snapshot from which it was built; 0 for none.
    base: int
    #: Labels learned again.
    replayed: int


def rebuild(journal: SqlJournal, name: str, through: int | None = None, *, from_snapshots: bool = True) -> Rebuilt:
    """A model as it was after the record ``through``, or as it is.

    Without ``from_snapshots`` it begins at the first record, which takes longer and gives the same bytes.
    """
    revisions = [
        (record.seq, body_of(record, LabelBody)) for record in journal.records(name, through=through, kind="revise")
    ]
    model = _base(journal, name, through, revisions) if from_snapshots else None
    base = 0 if model is None else model.seq
    records = journal.records(name, after=base, through=through)
    if model is None:
        first = next(records, None)
        if first is None:
            raise InvalidParameter(f"the journal knows no model {name!r} at record {through}")
        model = LiveModel(name, decision(first))
    before = model.labels
    right = {
        (asked, row): label for seq, labelled in revisions if seq > base for asked, row, label, _ in labelled.revised
    }
    for events in _events(journal, records, right):
        model.take(events)
    return Rebuilt(model, base, model.labels - before)


def champion_of(journal: SqlJournal, name: str) -> str:
    """The model under whose name a learner is kept: its own, or the one that it challenges."""
    names = journal.models()
    if name in names:
        return name
    for each in names:
        for record in journal.records(each, kind="challenge"):
            if orjson.loads(record.body)["name"] == name:
                return each
    raise InvalidParameter(f"the journal knows no model {name!r}; it knows {', '.join(names) or 'none'}")


def cost(journal: SqlJournal, name: str, first: int) -> int:
    """How many labels are learned again when one of the record ``first`` is revised now."""
    revisions = [(record.seq, body_of(record, LabelBody)) for record in journal.records(name, kind="revise")]
    true = [seq for seq in journal.snapshots(name, first - 1) if not _outdated(seq, revisions)]
    return journal.labels_after(name, max(true, default=0))


def decision(record: Record) -> Decision:
    """A record that is neither rows nor labels."""
    return Decision(record.seq, record.kind, record.time, orjson.loads(record.body))


def _base(
    journal: SqlJournal, name: str, through: int | None, revisions: list[tuple[int, LabelBody]]
) -> LiveModel | None:
    """The last snapshot before which no label was revised after it; one that is damaged is passed over."""
    for seq in reversed(journal.snapshots(name, through)):
        if not _outdated(seq, revisions):
            try:
                return LiveModel.from_snapshot(journal.snapshot(name, seq))
            except ModelFileError:
                continue
    return None


def _outdated(seq: int, revisions: list[tuple[int, LabelBody]]) -> bool:
    """Whether a label that the snapshot had learned was revised after it."""
    return any(at > seq and any(first <= seq for _, _, _, first in labelled.revised) for at, labelled in revisions)


def _events(
    journal: SqlJournal, records: Iterable[Record], right: dict[tuple[int, int], LabelValue]
) -> Iterator[list[Event]]:
    """Records in hand, some hundred at a time, with revised labels in the place of the first ones."""
    together: list[Record] = []
    for record in records:
        together.append(record)
        if len(together) == _TOGETHER:
            yield _in_hand(journal, together, right)
            together = []
    yield _in_hand(journal, together, right)


def _in_hand(journal: SqlJournal, records: list[Record], right: dict[tuple[int, int], LabelValue]) -> list[Event]:
    rows: dict[int, PredictedRows] = {
        record.seq: predicted_rows(record) for record in records if record.kind == "predict"
    }
    bodies = {r.seq: body_of(r, LabelBody) for r in records if r.kind in ("label", "revise")}
    elsewhere = {asked for each in bodies.values() for asked, _, _ in each.learned} - rows.keys()
    if elsewhere:
        rows |= {record.seq: predicted_rows(record) for record in journal.fetch(sorted(elsewhere))}
    found: list[Event] = []
    for record in records:
        if record.kind == "predict":
            found.append(rows[record.seq])
        elif record.seq in bodies:
            learned = bodies[record.seq].learned
            if not all(asked in rows and 0 <= row < len(rows[asked]) for asked, row, _ in learned):
                raise JournalDamaged(f"record {record.seq} of the journal is damaged: it has a label of no row")
            labelled = [LabelledRow(rows[asked], row, right.get((asked, row), label)) for asked, row, label in learned]
            found.append(LabelsArrived(record.seq, record.time, labelled, record.kind == "revise"))
        else:
            found.append(decision(record))
    return found
