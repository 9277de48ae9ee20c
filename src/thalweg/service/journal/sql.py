"""The journal in a database of SQL: what SQLite and PostgreSQL have in common.

::

    journal     seq, model, kind, time, rows, body
    told        which label records speak of a predict record
    answers     by idempotency key, what was answered
    snapshots   models as files, at a seq

`told` could be found out from the journal; it is there to find the labels of a row quickly. Snapshots save time only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Self

from thalweg.errors import JournalError
from thalweg.service.journal.records import Kind, LabelLink, Part, Record, StoredResponse

PROTOCOL = 1
_COLUMNS = "seq, model, kind, time, rows, body"
_TABLES = (
    """CREATE TABLE IF NOT EXISTS journal (
        seq {number} PRIMARY KEY, model TEXT NOT NULL, kind TEXT NOT NULL, time {number} NOT NULL,
        rows {number} NOT NULL, body {blob} NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS journal_by_kind ON journal (model, kind, seq)",
    """CREATE TABLE IF NOT EXISTS told (
        asked {number}, seq {number}, rows {number} NOT NULL, PRIMARY KEY (asked, seq))""",
    """CREATE TABLE IF NOT EXISTS answers (
        key TEXT PRIMARY KEY, request {blob} NOT NULL, status {number} NOT NULL, media TEXT NOT NULL,
        body {blob} NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS snapshots (
        model TEXT, seq {number}, name TEXT, sha256 {blob} NOT NULL, body {blob} NOT NULL,
        PRIMARY KEY (model, seq, name))""",
    "CREATE TABLE IF NOT EXISTS about (protocol {number} PRIMARY KEY)",
    "INSERT INTO about VALUES ({protocol}) ON CONFLICT DO NOTHING",
)
#: Records read from the database at a time.
_FETCH = 512
#: Rows written by one statement.
_TOGETHER = 256


class SqlJournal(ABC):
    """One connection to the journal, for one thread at a time; statements mark a value by ``?``."""

    #: The database's own names of bytes and of whole numbers with 64 bits.
    blob: str
    number: str

    def __init__(self) -> None:
        self._connection: Any = None

    # ------------------------------------------------------------------ what databases differ in

    @abstractmethod
    def connect(self) -> None:
        """Open the connection; what was open before is given up."""

    @abstractmethod
    def another(self) -> Self:
        """A further connection to the same journal, to read from another thread."""

    @abstractmethod
    def claim(self) -> None:
        """Be the only writer, or raise `JournalError`."""

    @abstractmethod
    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement; a cursor."""

    @abstractmethod
    def among(self, column: str, numbers: Sequence[int]) -> tuple[str, Any]:
        """A condition that the column is one of the numbers, with one value."""

    @property
    @abstractmethod
    def faults(self) -> tuple[type[Exception], ...]:
        """What the driver raises when the database fails."""

    # ------------------------------------------------------------------ writing

    def prepare(self) -> None:
        with self.translated():
            for statement in _TABLES:
                self.execute(statement.format(blob=self.blob, number=self.number, protocol=PROTOCOL))
            newest = self.execute("SELECT max(protocol) FROM about").fetchone()[0]
        if newest != PROTOCOL:
            raise JournalError(f"the journal has protocol {newest}; this version of thalweg reads {PROTOCOL}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written inside is on the disk at the end, or none of it."""
        with self.translated():
            self.execute("BEGIN")
            try:
                yield
                self.execute("COMMIT")
            except BaseException:
                self.roll_back()
                raise

    def roll_back(self) -> None:
        """Give up what was not committed; the connection may be gone."""
        with suppress(*self.faults):
            self.execute("ROLLBACK")

    @contextmanager
    def translated(self) -> Iterator[None]:
        """The driver's errors as ours."""
        try:
            yield
        except self.faults as error:
            raise JournalError(f"the journal cannot be used: {' '.join(str(error).split())}") from error

    def write(
        self,
        records: Sequence[Record],
        links: Sequence[LabelLink] = (),
        responses: Sequence[StoredResponse] = (),
        parts: Sequence[Part] = (),
    ) -> None:
        """Append, inside a transaction."""
        self._insert(
            "journal",
            _COLUMNS,
            [(each.seq, each.model, each.kind, each.time, each.rows, each.body) for each in records],
        )
        self._insert("told", "asked, seq, rows", [(each.asked, each.seq, each.rows) for each in links])
        self._insert(
            "answers",
            "key, request, status, media, body",
            [(each.key, each.request, each.status, each.media, each.body) for each in responses],
        )
        self._insert(
            "snapshots",
            "model, seq, name, sha256, body",
            [(each.model, each.seq, each.name, each.sha256, each.body) for each in parts],
            "ON CONFLICT DO NOTHING",
        )

    def _insert(self, table: str, columns: str, rows: Sequence[Sequence[Any]], otherwise: str = "") -> None:
        """Many rows in few statements, of few sizes: each costs a way to the database and back."""
        marks = f"({', '.join('?' * (columns.count(',') + 1))})"
        begin = 0
        while begin < len(rows):
            size = min(1 << (len(rows) - begin).bit_length() - 1, _TOGETHER)
            values = [value for row in rows[begin : begin + size] for value in row]
            self.execute(f"INSERT INTO {table} ({columns}) VALUES {', '.join([marks] * size)} {otherwise}", values)
            begin += size

    def drop_snapshots(self, model: str, seqs: Iterable[int]) -> None:
        """Forget snapshots, inside a transaction."""
        for seq in seqs:
            self.execute("DELETE FROM snapshots WHERE model = ? AND seq = ?", [model, seq])

    # ------------------------------------------------------------------ reading

    def last(self) -> tuple[int, int]:
        """Seq and time of the last record; zeros where there is none."""
        with self.translated():
            found = self.execute("SELECT seq, time FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
        return (0, 0) if found is None else (int(found[0]), int(found[1]))

    def models(self) -> list[str]:
        """The names of all models that clients may ask, in the order of their creation."""
        with self.translated():
            rows = self.execute("SELECT model FROM journal WHERE kind = 'create' ORDER BY seq").fetchall()
        return [row[0] for row in rows]

    def records(
        self, model: str, *, after: int = 0, through: int | None = None, kind: Kind | None = None
    ) -> Iterator[Record]:
        limit = f"ORDER BY seq LIMIT {_FETCH}"
        statement = f"SELECT {_COLUMNS} FROM journal WHERE model = ? AND seq > ? AND seq <= ?"
        statement += f" AND kind = ? {limit}" if kind else f" {limit}"
        end = 2**62 if through is None else through
        while True:
            with self.translated():
                values = [model, after, end, *([kind] if kind else [])]
                rows = self.execute(statement, values).fetchall()
            for row in rows:
                yield Record(row[0], row[1], row[2], row[3], row[4], bytes(row[5]))
            if len(rows) < _FETCH:
                return
            after = rows[-1][0]

    def fetch(self, seqs: Sequence[int]) -> list[Record]:
        """These records, in order; those that do not exist are left out."""
        condition, value = self.among("seq", seqs)
        with self.translated():
            rows = self.execute(f"SELECT {_COLUMNS} FROM journal WHERE {condition} ORDER BY seq", [value]).fetchall()
        return [Record(row[0], row[1], row[2], row[3], row[4], bytes(row[5])) for row in rows]

    def links(self, asked: Sequence[int]) -> list[tuple[int, int]]:
        """Which label records, in their order, speak of rows of these predict records."""
        condition, value = self.among("asked", asked)
        with self.translated():
            rows = self.execute(f"SELECT asked, seq FROM told WHERE {condition} ORDER BY seq", [value]).fetchall()
        return [(row[0], row[1]) for row in rows]

    def open_rows(self, model: str, after: int) -> Iterator[tuple[int, int, int]]:
        """Predict records in order: seq, time, and how many of their rows have no label."""
        statement = (
            "SELECT j.seq, j.time, j.rows - COALESCE((SELECT SUM(t.rows) FROM told t WHERE t.asked = j.seq), 0) "
            f"FROM journal j WHERE j.model = ? AND j.kind = 'predict' AND j.seq > ? ORDER BY j.seq LIMIT {_FETCH}"
        )
        while True:
            with self.translated():
                rows = self.execute(statement, [model, after]).fetchall()
            yield from ((row[0], row[1], int(row[2])) for row in rows)
            if len(rows) < _FETCH:
                return
            after = rows[-1][0]

    def labels_after(self, model: str, seq: int) -> int:
        """How many labels came for the first time after a record."""
        with self.translated():
            found = self.execute(
                "SELECT COALESCE(SUM(rows), 0) FROM journal "
                "WHERE model = ? AND kind IN ('label', 'revise') AND seq > ?",
                [model, seq],
            ).fetchone()
        return int(found[0])

    def recall(self, key: str) -> StoredResponse | None:
        """What was answered to a request with this key."""
        with self.translated():
            found = self.execute(
                "SELECT key, request, status, media, body FROM answers WHERE key = ?", [key]
            ).fetchone()
        return None if found is None else StoredResponse(found[0], bytes(found[1]), found[2], found[3], bytes(found[4]))

    def snapshots(self, model: str, through: int | None = None) -> list[int]:
        """The seqs of a model's snapshots, rising."""
        with self.translated():
            rows = self.execute(
                "SELECT DISTINCT seq FROM snapshots WHERE model = ? AND seq <= ? ORDER BY seq",
                [model, 2**62 if through is None else through],
            ).fetchall()
        return [int(row[0]) for row in rows]

    def snapshot(self, model: str, seq: int) -> list[Part]:
        with self.translated():
            rows = self.execute(
                "SELECT name, sha256, body FROM snapshots WHERE model = ? AND seq = ? ORDER BY name", [model, seq]
            ).fetchall()
        return [Part(model, seq, row[0], bytes(row[1]), bytes(row[2])) for row in rows]

    def close(self) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connection, to open another one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
