"""The journal in a file of SQLite: the default, with nothing to install or to run beside it."""

from __future__ import annotations

import fcntl
import json
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

from thalweg.errors import JournalError
from thalweg.serve.journal.sql import SqlJournal

FILE, LOCK = "journal.sqlite3", "lock"


class SqliteJournal(SqlJournal):
    """A journal in a folder.

    Parameters
    ----------
    folder : Path
        Holds the database and its write-ahead log.
    read_only : bool
        For a look at a journal that another process may be writing.
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
        """Run a statement."""
        return self._connection.execute(statement, values)

    def among(self, column: str, numbers: Sequence[int]) -> tuple[str, Any]:
        """By a list of JSON, which may be as long as it likes."""
        return f"{column} IN (SELECT value FROM json_each(?))", json.dumps(list(numbers))
