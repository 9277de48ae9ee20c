"""Rows of a subject are erased: their values, predictions and labels are gone, and their places stay.

What is left of each record has a checksum of its own and the place in the chain that it had. A replay leaves the rows
out. Replies that held their predictions say that they are gone.
"""

from __future__ import annotations

from collections.abc import Collection

import orjson

from thalweg.service.journal.records import LabelBody, PredictBody, body_of
from thalweg.service.journal.sql import SqlJournal

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
