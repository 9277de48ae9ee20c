"""The journal by where it is."""

from __future__ import annotations

from pathlib import Path

from thalweg.errors import InvalidParameter, JournalError
from thalweg.serve.journal.sql import SqlJournal


def open_journal(folder: Path | None, database: str | None, *, read_only: bool = False) -> SqlJournal:
    """A journal in a folder, or in a database by its address.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = open_journal(Path(folder), None)
    ...     journal.prepare()
    ...     print(journal.last(), journal.models())
    ...     journal.close()
    (0, 0) []
    """
    if database is not None:
        if not database.startswith(("postgresql://", "postgres://")):
            raise InvalidParameter.of_option("database", "begin with postgresql://", database)
        from thalweg.serve.journal.postgres import PostgresJournal

        return PostgresJournal(database)
    from thalweg.serve.journal.sqlite import SqliteJournal

    assert folder is not None
    if not read_only:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise JournalError(f"{folder} cannot be made: {error.strerror or error}") from error
    return SqliteJournal(folder, read_only=read_only)
