"""How much a journal holds after a record: rows, and bytes."""

from __future__ import annotations

from thalweg.service.journal.sql import SqlJournal

#: Bytes that a record, a reply or a part of a snapshot takes beside its body: its other columns and its links.
_BESIDES = 200


def rows_after(journal: SqlJournal, model: str, seq: int) -> int:
    """Rows that a model has predicted after a record."""
    statement = "SELECT COALESCE(SUM(rows), 0) FROM journal WHERE model = ? AND kind = 'predict' AND seq > ?"
    with journal.translated():
        return int(journal.execute(statement, [model, seq]).fetchone()[0])


def bytes_after(journal: SqlJournal, seq: int) -> int:
    """Bytes of records, snapshots and replies after a record, about as many as they take in the database."""
    with journal.translated():
        sizes = [
            journal.execute(
                f"SELECT COALESCE(SUM(length(body)), 0), COUNT(*) FROM {table} WHERE seq > ?", [seq]
            ).fetchone()
            for table in ("journal", "snapshots", "answers")
        ]
    return sum(int(size) + _BESIDES * int(number) for size, number in sizes)
