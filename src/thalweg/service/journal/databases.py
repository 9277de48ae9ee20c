"""The journal by its address: a file of SQLite (the default), or a PostgreSQL database."""

from __future__ import annotations

import fcntl
import json
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

from thalweg.errors import InvalidParameter, JournalError, MissingExtra
from thalweg.service.journal.sql import SqlJournal


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
        pass

        return PostgresJournal(database)
    pass

    assert folder is not None
    if not read_only:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise JournalError(f"{folder} cannot be made: {error.strerror or error}") from error
    return SqliteJournal(folder, read_only=read_only)


#: An advisory lock of this number is held by the one writer of a database.
_LOCK = 0x7468616C776567
_CONNECT_SECONDS = 5


class PostgresJournal(SqlJournal):
    """A journal in a database that a server keeps, at an address as in ``postgresql://user@host/database``."""

    blob = "BYTEA"
    number = "BIGINT"

    def __init__(self, address: str) -> None:
        super().__init__()
        self._driver = MissingExtra.import_module("psycopg", "postgres", "a journal in PostgreSQL")
        self.address = address
        self._claimed = False
        self.connect()

    @property
    def faults(self) -> tuple[type[Exception], ...]:
        return (self._driver.Error,)

    def connect(self) -> None:
        """Connect, with every commit on the server's disk before it counts, and be the writer again if we were."""
        with suppress(self._driver.Error):
            self.disconnect()
        with self.translated():
            self._connection = self._driver.connect(
                self.address, autocommit=True, connect_timeout=_CONNECT_SECONDS, application_name="thalweg"
            )
            self.execute("SET synchronous_commit = on")
        if self._claimed:
            self.claim()

    def another(self) -> Self:
        return type(self)(self.address)

    def claim(self) -> None:
        """Hold an advisory lock, which the server gives up with the connection."""
        with self.translated():
            held = self.execute("SELECT pg_try_advisory_lock(?)", [_LOCK]).fetchone()[0]
        if not held:
            raise JournalError("the database is in use by another `thalweg serve`")
        self._claimed = True

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement; without values it goes as it is."""
        if self._connection is None:
            raise JournalError("the journal cannot be used: there is no connection to the database")
        return self._connection.execute(statement.replace("?", "%s"), values or None)

    def among(self, column: str, numbers: Sequence[int]) -> tuple[str, Any]:
        """By an array."""
        return f"{column} = ANY(?)", list(numbers)


FILE, LOCK = "journal.sqlite3", "lock"


class SqliteJournal(SqlJournal):
    """A journal in a folder: the database and its write-ahead log.

    ``read_only`` is for a look at a journal that another process may be writing.
    """

    blob = "BLOB"
    number = "INTEGER"
    faults = (sqlite3.Error,)

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        super().__init__()
        self.folder = folder
        self.read_only = read_only
        self._lock: IO[str] | None = None
        self.connect()

    def connect(self) -> None:
        """Open the file, with every commit on the disk before it counts."""
        self.disconnect()
        path = self.folder / FILE
        if self.read_only and not path.exists():
            raise JournalError(f"{self.folder} holds no journal of `thalweg serve`")
        with self.translated():
            mode = "ro" if self.read_only else "rwc"
            self._connection = sqlite3.connect(
                f"{path.resolve().as_uri()}?mode={mode}",
                uri=True,
                isolation_level=None,
                check_same_thread=False,
                timeout=30,
            )
            if not self.read_only:
                self.execute("PRAGMA journal_mode = WAL")
            self.execute("PRAGMA synchronous = FULL")
            self.execute("PRAGMA cache_size = -16384")

    def another(self) -> Self:
        """A further connection, which only reads."""
        return type(self)(self.folder, read_only=True)

    def claim(self) -> None:
        """Hold a lock on a file beside the database, which is gone with the process."""
        lock = open(self.folder / LOCK, "w")  # noqa: SIM115 - held for as long as the process lives
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise JournalError(f"{self.folder} is in use by another `thalweg serve`") from error
        self._lock = lock

    def close(self) -> None:
        """Close the file and let the lock go; the last one to write leaves all of it in the one file."""
        if self._lock is not None and self._connection is not None:
            with suppress(*self.faults):  # the log is read at the next start, too
                self.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        super().close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(statement, values)

    def among(self, column: str, numbers: Sequence[int]) -> tuple[str, Any]:
        """By a list of JSON, which may be as long as it likes."""
        return f"{column} IN (SELECT value FROM json_each(?))", json.dumps(list(numbers))
