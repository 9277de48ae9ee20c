"""Checksums of records: each has one of its own content, chained to that of the model's record before.

The first half finds a record that was changed, wherever it is read. The second half, a checksum of the first half and
of the checksum before, finds one that is gone or out of place. A record from which rows were erased keeps both halves,
and has a third one: the checksum of what is left. Cost per record: O(bytes of the record).
"""

from __future__ import annotations

from hashlib import blake2b

import orjson

from thalweg.errors import JournalDamaged
from thalweg.service.journal.records import Record

_HALF = 8


def checksum(record: Record, before: bytes = b"") -> bytes:
    """The checksum of a record, given that of the model's record before, if there is one.

    Examples
    --------
    >>> record = Record(1, "default", "create", 0, 0, b"{}")
    >>> checksum(record).hex()
    'e8c949f58d4c36b01ef019e3b19dd12f'
    """
    return _chained(_own(record), before)


def checksum_when_erased(record: Record) -> bytes:
    """The checksum of a record from whose body something was erased: as it was, so that the chain holds, and one more.

    Examples
    --------
    >>> record = Record(1, "default", "create", 0, 0, b"{}")
    >>> record.checksum = checksum(record)
    >>> record.body = b"  "
    >>> record.checksum = checksum_when_erased(record)
    >>> require_chained(record, None).checksum.hex()[:32]
    'e8c949f58d4c36b01ef019e3b19dd12f'
    """
    return record.checksum[: 2 * _HALF] + _own(record)


def _own(record: Record) -> bytes:
    head = orjson.dumps([record.seq, record.model, record.kind, record.time, record.rows])
    return blake2b(head + record.body, digest_size=_HALF).digest()


def _chained(own: bytes, before: bytes) -> bytes:
    return own + blake2b(before[: 2 * _HALF] + own, digest_size=_HALF).digest()


def require_unchanged(record: Record) -> Record:
    """The record; `JournalDamaged` where its content is not that of its checksum."""
    known = record.checksum
    if (known[2 * _HALF :] or known[:_HALF]) != _own(record):
        raise JournalDamaged(f"record {record.seq} of the journal is damaged: its checksum is that of another content")
    return record


def require_chained(record: Record, before: Record | None) -> Record:
    """The record; `JournalDamaged` where another one of the model came after the one ``before``."""
    previous = b"" if before is None else before.checksum
    require_unchanged(record)
    if record.checksum[: 2 * _HALF] != _chained(record.checksum[:_HALF], previous):
        after = "at the beginning" if before is None else f"after record {before.seq}"
        raise JournalDamaged(
            f"a record of {record.model!r} is gone from the journal, {after}: {record.seq} does not follow it"
        )
    return record
