"""The journal by its address: a file of SQLite (the default), or a PostgreSQL database."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

from thalweg.errors import InvalidParameter, JournalDamaged, JournalError, MissingExtra
from thalweg.files import hold
from thalweg.service.journal.erasing import bytes_after
from thalweg.service.journal.sql import SqlJournal


def open_journal(
    folder: Path | None, database: str | None, *, read_only: bool = False, new: bool = False, silence: float = 10.0
) -> SqlJournal:
    """A journal in a folder, or in a database by its address.

    A call of the database fails once nothing has come from it for ``silence`` seconds. Where a folder has held a
    journal that is empty or gone by now, only ``new`` makes another one.

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
        return PostgresJournal(database, silence)
    assert folder is not None
    if not read_only:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise JournalError(f"{folder} cannot be made: {error.strerror or error}") from error
    if not new:
        _require_journal(folder)
    return SqliteJournal(folder, read_only=read_only)


def _require_journal(folder: Path) -> None:
    """`JournalDamaged` where there was a journal, by what is beside it, and there is none."""
    path = folder / FILE
    advice = "put back a copy, or begin a new journal with --new-journal"
    if path.exists():
        if path.stat().st_size == 0:
            raise JournalDamaged(f"{path} is empty, and a journal never is: {advice}")
    elif left := [name for name in (f"{FILE}-wal", LOCK) if (folder / name).exists()]:
        raise JournalDamaged(f"{path} is gone, but {left[0]} is there: {advice}")


#: An advisory lock of this number is held by the one writer of a database.
_LOCK = 0x7468616C776567
_CONNECT_SECONDS = 3
_LARGE_TABLES = ("journal", "label_links", "responses", "snapshots")
#: Seconds that a table may take to be shrunk.
_PATIENCE_SECONDS = 86_400.0


def _until_silent(steps: Generator[Any, Any, Any], seconds: float, error: Exception) -> Generator[Any, Any, Any]:
    """The steps of a call of the driver, which raises the error once nothing has come for so many seconds.

    The server cannot be asked to keep this limit: it may be the one that is stopped.
    """
    until = time.monotonic() + seconds
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if ready:
                until = time.monotonic() + seconds
            elif time.monotonic() > until:
                raise error
            wanted = steps.send(ready)
    except StopIteration as done:
        return done.value


class PostgresJournal(SqlJournal):
    """A journal in a database that a server keeps, at an address as in ``postgresql://user@host/database``."""

    blob = "BYTEA"
    number = "BIGINT"

    def __init__(self, address: str, silence: float) -> None:
        super().__init__()
        self._driver = driver = MissingExtra.import_module("psycopg", "postgres", "a journal in PostgreSQL")
        self.address, self.silence = address, silence

        class Connection(driver.Connection):  # type: ignore[name-defined]
            def wait(self, gen: Generator[Any, Any, Any], *arguments: Any, **more: Any) -> Any:
                message = f"the database was silent for {silence:g} seconds (--database-timeout)"
                error = driver.OperationalError(message)
                try:
                    return super().wait(_until_silent(gen, silence, error), *arguments, **more)
                except driver.OperationalError as raised:
                    if raised is error:
                        self.close()  # half of a reply may come yet
                    raise

        self._connection_class = Connection
        self._claimed = False
        self.connect()

    @property
    def faults(self) -> tuple[type[Exception], ...]:
        return (self._driver.Error,)

    def connect(self) -> None:
        """Connect, with every commit on the server's disk before it counts, and be the writer again if we were."""
        with suppress(self._driver.Error):
            self.close()
        with self.translated():
            self._connection = self._connection_class.connect(
                self.address, autocommit=True, connect_timeout=_CONNECT_SECONDS, application_name="thalweg"
            )
            self.execute("SET synchronous_commit = on")
            # A call that was given up here ends there, too, and lets go of the writer's lock.
            self.execute(f"SET statement_timeout = {int(1000 * self.silence)}")
        if self._claimed:
            self.claim()

    def another(self) -> Self:
        return type(self)(self.address, self.silence)

    @property
    def place(self) -> tuple[str | None, str | None]:
        return None, self.address

    def claim(self) -> None:
        """Hold an advisory lock, which the server gives up with the connection."""
        if not self.value("SELECT pg_try_advisory_lock(?)", [_LOCK]):
            raise JournalError("the database is in use by another `thalweg serve`")
        self._claimed = True

    def probe(self) -> None:
        """Ask the server whether it takes changes."""
        if self.value("SHOW transaction_read_only") != "off":
            raise JournalError("the journal cannot be used: the database is read-only")

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement; without values it goes as it is."""
        if self._connection is None:
            raise JournalError("the journal cannot be used: there is no connection to the database")
        return self._connection.execute(statement.replace("?", "%s"), values or None)

    def size(self) -> int:
        sizes = ", ".join(f"pg_total_relation_size('{table}')" for table in _LARGE_TABLES)
        return int(sum(self.rows(f"SELECT {sizes}")[0]))

    def used(self) -> int:
        """By what is in it, since the server does not say how much of its files is free."""
        return bytes_after(self, 0)

    def shrink(self) -> None:
        self._vacuum("VACUUM")

    def scrub(self) -> None:
        """The server keeps old versions of rows until a table is written anew."""
        self._vacuum("VACUUM FULL")

    def _vacuum(self, command: str) -> None:
        """Over a connection of its own, since a table may take longer than any call of a service."""
        patient = type(self)(self.address, _PATIENCE_SECONDS)
        try:
            with patient.translated():
                for table in _LARGE_TABLES:
                    patient.execute(f"{command} {table}")
        finally:
            patient.close()

    def among(self, column: str, values: Sequence[int] | Sequence[str]) -> tuple[str, Any]:
        """By an array."""
        return f"{column} = ANY(?)", list(values)


FILE, LOCK, PROBE = "journal.sqlite3", "lock", "probe"
#: Bytes that must be free on the disk.
_LEAST_FREE = 64 << 10
#: Bytes of the log that stay after all of it is in the file: it grows while somebody reads.
_LOG_BYTES = 4 << 20
#: Seconds that a call waits for a lock.
_BUSY_SECONDS = 30


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
        self._file = 0
        self.connect()

    def was_replaced(self) -> bool:
        try:
            return (self.folder / FILE).stat().st_ino != self._file
        except OSError:  # it is about to be
            return False

    def connect(self) -> None:
        """Open the file, with every commit on the disk before it counts."""
        super().close()
        path = self.folder / FILE
        if self.read_only and not path.exists():
            hint = ": name its folder" if self.folder.is_file() else ""
            raise JournalError(f"{self.folder} holds no journal of `thalweg serve`{hint}")
        if not self.read_only:
            with suppress(OSError):  # SQLite says what is wrong
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))  # its log and index get the same mode
        with suppress(OSError):
            self._file = path.stat().st_ino
        with self.translated():
            mode = "ro" if self.read_only else "rwc"
            self._connection = sqlite3.connect(
                f"{path.resolve().as_uri()}?mode={mode}",
                uri=True,
                isolation_level=None,
                check_same_thread=False,
                timeout=_BUSY_SECONDS,
            )
            if not self.read_only:
                self.execute("PRAGMA journal_mode = WAL")
                self.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
            self.execute("PRAGMA synchronous = FULL")
            self.execute("PRAGMA cache_size = -16384")

    def another(self) -> Self:
        """A further connection, which only reads."""
        return type(self)(self.folder, read_only=True)

    @property
    def place(self) -> tuple[str | None, str | None]:
        return str(self.folder.resolve()), None

    def claim(self) -> None:
        """Hold a lock on a file beside the database, which is gone with the process."""
        file = os.open(self.folder / LOCK, os.O_CREAT | os.O_WRONLY, 0o600)
        lock = os.fdopen(file, "w")  # held for as long as the process lives
        try:
            hold(lock)
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

    def probe(self) -> None:
        """Take up room on the disk, and give it back."""
        path = self.folder / PROBE
        try:
            try:
                with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
                    file.write(bytes(_LEAST_FREE))
            finally:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise JournalError(f"the journal cannot be used: {error.strerror or error}") from error
        self.rows("SELECT protocol FROM about")

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(statement, values)

    def size(self) -> int:
        total = 0
        for name in (FILE, f"{FILE}-wal"):
            with suppress(OSError):
                total += (self.folder / name).stat().st_size
        return total

    def free(self) -> int | None:
        with suppress(OSError):
            return shutil.disk_usage(self.folder).free
        return None

    def used(self) -> int:
        pages, free, size = (self.value(f"PRAGMA {name}") for name in ("page_count", "freelist_count", "page_size"))
        return int((pages - free) * size)

    def shrink(self) -> None:
        with self.translated():
            self.execute("VACUUM")

    def overwrite_erased(self) -> bool:
        self.rows("PRAGMA secure_delete = ON")
        return True

    def scrub_log(self) -> bool:
        with self.translated():
            self.execute("PRAGMA busy_timeout = 0")
            try:
                self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # says whether somebody was in the way
            finally:
                self.execute(f"PRAGMA busy_timeout = {1000 * _BUSY_SECONDS}")
        return True

    def scrub(self) -> None:
        self.shrink()
        self.scrub_log()

    def fault(self) -> str | None:
        """By the check of pages and indexes that SQLite has."""
        verdict = self.value("PRAGMA integrity_check(1)")
        return None if verdict == "ok" else " ".join(verdict.split())

    def among(self, column: str, values: Sequence[int] | Sequence[str]) -> tuple[str, Any]:
        """By a list of JSON, which may be as long as it likes."""
        return f"{column} IN (SELECT value FROM json_each(?))", json.dumps(list(values))
