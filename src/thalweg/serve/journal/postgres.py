"""The journal in a database of PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Self

from thalweg.errors import JournalError, MissingExtra
from thalweg.serve.journal.sql import SqlJournal

#: An advisory lock of this number is held by the one writer of a database.
_LOCK = 0x7468616C776567
_CONNECT_SECONDS = 5


class PostgresJournal(SqlJournal):
    """A journal in a database that a server keeps.

    Parameters
    ----------
    address : str
        As in ``postgresql://user@host/database``.
    """

    blob = "BYTEA"
    number = "BIGINT"

    def __init__(self, address: str) -> None:
        super().__init__()
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtra.of("psycopg", "postgres", "a journal in PostgreSQL") from error
        self._driver = psycopg
        self.address = address
        self._claimed = False
        self.connect()

    @property
    def faults(self) -> tuple[type[Exception], ...]:
        """All that the driver raises."""
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
        """A further connection."""
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
