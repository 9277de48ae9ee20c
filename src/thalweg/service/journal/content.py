"""How much a journal holds after a record: rows, and bytes."""

from __future__ import annotations

from thalweg.service.journal.sql import SqlJournal

#: Bytes that a record, a reply or a part of a snapshot takes beside its body: its other columns and its links.
_BESIDES = 200
#: Predict records that are read at a time.
_FETCH = 10_000


def rows_after(journal: SqlJournal, model: str, seq: int) -> int:
    """Rows that a model has predicted after a record."""
    statement = "SELECT COALESCE(SUM(rows), 0) FROM journal WHERE model = ? AND kind = 'predict' AND seq > ?"
    return int(journal.value(statement, [model, seq]))


def record_before_rows(journal: SqlJournal, model: str, rows: int) -> int:
    """The last record after which a model has predicted at least so many rows; 0 where it has not predicted as many."""
    statement = (
        "SELECT seq, rows FROM journal WHERE model = ? AND kind = 'predict' AND seq < ? "
        f"ORDER BY seq DESC LIMIT {_FETCH}"
    )
    before, counted = journal.last()[0] + 1, 0
    while counted < rows:
        found = journal.rows(statement, [model, before])
        if not found:
            return 0
        for seq, asked in found:
            before, counted = seq, counted + asked
            if counted >= rows:
                break
    return before - 1


def bytes_after(journal: SqlJournal, seq: int) -> int:
    """Bytes of records, snapshots and replies after a record, about as many as they take in the database."""
    sizes = (
        journal.rows(f"SELECT COALESCE(SUM(length(body)), 0), COUNT(*) FROM {table} WHERE seq > ?", [seq])[0]
        for table in ("journal", "snapshots", "responses")
    )
    return sum(int(size) + _BESIDES * int(number) for size, number in sizes)
