"""What is erased from a journal: what came before a snapshot at which it is cut, and rows of a subject.

A cut is decided in one transaction and carried out in many, so that a service runs while its journal is cut. In
between, and after a process that ended on the way, the journal is sound: it holds more than it needs. Predict records
stay that have rows without a label, unless these have expired, or that got a label after the snapshot. The labels of
their rows stay, too, and so does the record of the snapshot, since the next one is chained to it.

Of rows of a subject, values, predictions and labels are gone, and their places stay. What is left of each record has a
checksum of its own and the place in the chain that it had. A model is a function of what is left: the record of an
erasure is a revision that reaches back to where the first of the rows was predicted, and a model that has read further
is learned again from before it. Replies that held their predictions say that they are gone.

How much a journal holds after a record, in rows and bytes, says where it is cut.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice

import orjson

from thalweg.service.journal.records import Kind, LabelBody, PredictBody, Record, body_of
from thalweg.service.journal.sql import SqlJournal

_LABELS: tuple[Kind, ...] = ("label", "revise", "void")
#: Not by a join with GROUP BY: SQLite would group and sort all that remains for every page.
_OPEN = (
    "SELECT j.seq, j.rows - COALESCE((SELECT SUM(t.rows) FROM label_links t WHERE t.asked = j.seq), 0), "
    "COALESCE((SELECT MAX(t.seq) FROM label_links t WHERE t.asked = j.seq), 0) "
    "FROM journal j WHERE j.model = ? AND j.kind = 'predict' AND j.seq > ? AND j.seq <= ? ORDER BY j.seq LIMIT ?"
)


@dataclass(frozen=True)
class Page:
    """How many records a step has erased, and where the next one begins; None at the end."""

    erased: int
    next: tuple[int, int] | None


#: The first page: rows before labels, which are needed for as long as their rows are.
FIRST = (0, 0)


def begin_cut(journal: SqlJournal, model: str, seq: int, versions: Collection[int] = ()) -> int:
    """Let the journal of a model begin at a snapshot, inside a transaction; how many earlier snapshots are dropped.

    Snapshots of ``versions`` stay.
    """
    earlier = [at for at in journal.snapshots(model) if at < seq and at not in versions]
    journal.drop_snapshots(model, earlier)
    journal.set_cut(model, seq)
    return len(earlier)


def erase_page(journal: SqlJournal, model: str, cut: int, expired: int, page: tuple[int, int], limit: int) -> Page:
    """Erase some of the records before a cut, inside a transaction; rows up to ``expired`` wait for no label."""
    phase, after = page
    if phase == 0:
        rows = journal.rows(_OPEN, [model, after, cut, limit])
        gone = [row[0] for row in rows if (row[1] == 0 or row[0] <= expired) and row[2] <= cut and row[0] != cut]
        last = rows[-1][0] if len(rows) == limit else None
    else:
        records = list(islice(journal.records(model, after=after, through=cut, kind=_LABELS[phase - 1]), limit))
        needed = _needed(journal, records)
        gone = [record.seq for record in records if record.seq not in needed and record.seq != cut]
        last = records[-1].seq if len(records) == limit else None
    journal.delete_records(gone)
    if last is not None:
        return Page(len(gone), (phase, last))
    return Page(len(gone), (phase + 1, 0) if phase < len(_LABELS) else None)


def _needed(journal: SqlJournal, records: Collection[Record]) -> set[int]:
    """Those label records that have labels of rows that are still there."""
    asked = {
        asked
        for record in records
        for labelled in [body_of(record, LabelBody)]
        for asked in (*(at for at, _, _ in labelled.learned), *(at for at, _, _, _ in labelled.revised))
    }
    return {seq for _, seq in journal.links(sorted(asked))} if asked else set()


#: What is sent back to a request with an idempotency key whose rows were erased.
_STATUS, _MEDIA = 410, "application/json"
_REPLY = orjson.dumps({"error": "the rows that were sent with this Idempotency-Key have been erased"})


def erase_rows(journal: SqlJournal, places: Collection[tuple[int, int]]) -> None:
    """Erase rows by their predict record and place, inside a transaction."""
    rows = set(places)
    asked = sorted({seq for seq, _ in rows})
    journal.overwrite_erased()
    for record in journal.fetch(asked):
        gone = [row for seq, row in rows if seq == record.seq]
        journal.replace_body(record, body_of(record, PredictBody).without(gone).to_bytes())
    for record in journal.fetch(sorted({seq for _, seq in journal.links(asked)})):
        journal.replace_body(record, body_of(record, LabelBody).without(rows).to_bytes())
    journal.erase_replies(asked, _STATUS, _MEDIA, _REPLY)


#: Bytes that a record, a reply or a part of a snapshot takes beside its body: its other columns and its links.
_BESIDES = 200


def rows_after(journal: SqlJournal, model: str, seq: int) -> int:
    """Rows that a model has predicted after a record."""
    statement = "SELECT COALESCE(SUM(rows), 0) FROM journal WHERE model = ? AND kind = 'predict' AND seq > ?"
    return int(journal.value(statement, [model, seq]))


def bytes_after(journal: SqlJournal, seq: int) -> int:
    """Bytes of records, snapshots and replies after a record, about as many as they take in the database."""
    sizes = (
        journal.rows(f"SELECT COALESCE(SUM(length(body)), 0), COUNT(*) FROM {table} WHERE seq > ?", [seq])[0]
        for table in ("journal", "snapshots", "responses")
    )
    return sum(int(size) + _BESIDES * int(number) for size, number in sizes)
