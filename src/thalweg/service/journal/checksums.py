"""Checksums of records: each has one of its own content, chained to that of the model's record before.

The first half finds a record that was changed, wherever it is read. The second half, a checksum of the first half and
of the checksum before, finds one that is gone or out of place. Records of versions without checksums have none; they
come before all others. Cost per record: O(bytes of the record).
"""

from __future__ import annotations

from hashlib import blake2b

import orjson

from thalweg.errors import JournalDamaged
from thalweg.service.journal.records import Record

_HALF = 8


def checksum(record: Record, before: bytes | None) -> bytes:
    """The checksum of a record, given that of the model's record before; None for the first one that has any.

    Examples
    --------
    >>> record = Record(1, "default", "create", 0, 0, b"{}")
    >>> checksum(record, None).hex()
    'e8c949f58d4c36b01ef019e3b19dd12f'
    """
    own = _own(record)
    return own + blake2b((before or b"") + own, digest_size=_HALF).digest()


def _own(record: Record) -> bytes:
    head = orjson.dumps([record.seq, record.model, record.kind, record.time, record.rows])
    return blake2b(head + record.body, digest_size=_HALF).digest()


def require_unchanged(record: Record) -> Record:
    """The record; `JournalDamaged` where its content is not that of its checksum."""
    if record.checksum is not None and record.checksum[:_HALF] != _own(record):
        raise JournalDamaged(f"record {record.seq} of the journal is damaged: its checksum is that of another content")
    return record


def require_chained(record: Record, before: Record | None) -> Record:
    """The record; `JournalDamaged` where another one of the model came after the one ``before``."""
    previous = None if before is None else before.checksum
    require_unchanged(record)
    if record.checksum is None and previous is not None:
        raise JournalDamaged(f"record {record.seq} of the journal is damaged: it has lost its checksum")
    if record.checksum is not None and record.checksum != checksum(record, previous):
        after = "at the beginning" if before is None else f"after record {before.seq}"
        raise JournalDamaged(
            f"a record of {record.model!r} is gone from the journal, {after}: {record.seq} does not follow it"
        )
    return record
