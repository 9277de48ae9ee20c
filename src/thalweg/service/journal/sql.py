"""The journal in a database of SQL: what SQLite and PostgreSQL have in common.

::

    journal     seq, model, kind, time, rows, body, checksum
    label_links which label records speak of a predict record
    responses   by idempotency key, the response
    snapshots   models as files, at a seq
    gaps        how much time passed unseen before a record
    cuts        by model, the snapshot before which records were erased

`label_links` could be found out from the journal; it is there to find the labels of a row quickly. Snapshots save time;
the journal of a model that was cut begins at one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from operator import attrgetter
from typing import Any, Self, get_args

from thalweg.errors import JournalDamaged, JournalError
from thalweg.service.journal.checksums import checksum, checksum_when_erased, require_chained, require_unchanged
from thalweg.service.journal.records import Kind, LabelLink, Part, Record, StoredResponse

PROTOCOL = 1
_COLUMNS = "seq, model, kind, time, rows, body, checksum"
_TABLES = (
    """CREATE TABLE IF NOT EXISTS journal (
        seq {number} PRIMARY KEY, model TEXT NOT NULL, kind TEXT NOT NULL, time {number} NOT NULL,
        rows {number} NOT NULL, body {blob} NOT NULL, checksum {blob} NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS journal_by_kind ON journal (model, kind, seq)",
    "CREATE INDEX IF NOT EXISTS journal_creations ON journal (seq) WHERE kind = 'create'",
    """CREATE TABLE IF NOT EXISTS label_links (
        asked {number}, seq {number}, rows {number} NOT NULL, PRIMARY KEY (asked, seq))""",
    """CREATE TABLE IF NOT EXISTS responses (
        key TEXT PRIMARY KEY, request {blob} NOT NULL, status {number} NOT NULL, media TEXT NOT NULL,
        body {blob} NOT NULL, seq {number})""",
    "CREATE INDEX IF NOT EXISTS responses_by_seq ON responses (seq)",
    """CREATE TABLE IF NOT EXISTS snapshots (
        model TEXT, seq {number}, name TEXT, sha256 {blob} NOT NULL, body {blob} NOT NULL,
        PRIMARY KEY (model, seq, name))""",
    "CREATE TABLE IF NOT EXISTS gaps (seq {number} PRIMARY KEY, microseconds {number} NOT NULL)",
    "CREATE TABLE IF NOT EXISTS cuts (model TEXT PRIMARY KEY, seq {number} NOT NULL)",
    "CREATE TABLE IF NOT EXISTS about (protocol {number} PRIMARY KEY)",
    "INSERT INTO about VALUES ({protocol}) ON CONFLICT DO NOTHING",
)
#: Records read from the database at a time.
_FETCH = 512
#: Rows written by one statement.
_TOGETHER = 256
#: Idempotency keys read from the database at a time.
_MANY_KEYS = 10_000
#: After every record.
_LATEST = 2**62


class SqlJournal(ABC):
    """One connection to the journal, for one thread at a time; statements mark a value by ``?``."""

    #: The database's own names of bytes and of whole numbers with 64 bits.
    blob: str
    number: str

    def __init__(self) -> None:
        self._connection: Any = None
        #: Of the last record of each model that was written by this connection.
        self._checksums: dict[str, bytes] = {}

    @abstractmethod
    def connect(self) -> None:
        """Open the connection; what was open before is given up."""

    @abstractmethod
    def another(self) -> Self:
        """A further connection to the same journal, to read from another thread."""

    @property
    @abstractmethod
    def place(self) -> tuple[str | None, str | None]:
        """Folder or address, by which another process opens the journal."""

    @abstractmethod
    def claim(self) -> None:
        """Be the only writer, or raise `JournalError`."""

    @abstractmethod
    def probe(self) -> None:
        """Raise `JournalError` unless the journal can be written; nothing is."""

    @abstractmethod
    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement; a cursor."""

    @abstractmethod
    def among(self, column: str, values: Sequence[int] | Sequence[str]) -> tuple[str, Any]:
        """A condition that the column has one of the values, and the one value to go with it."""

    @property
    @abstractmethod
    def faults(self) -> tuple[type[Exception], ...]:
        """What the driver raises when the database fails."""

    def was_replaced(self) -> bool:
        """Whether another journal has come to the place of the one that is open, as by copying a file."""
        return False

    @abstractmethod
    def size(self) -> int:
        """Bytes that the database takes, with the space that is free inside."""

    def free(self) -> int | None:
        """Bytes that are free where the database is; None where that is not known."""
        return None

    @abstractmethod
    def used(self) -> int:
        """Bytes of it that are in use; it may take as long as reading the journal."""

    @abstractmethod
    def shrink(self) -> None:
        """Give back the space of what was erased."""

    def overwrite_erased(self) -> bool:
        """From now on, leave nothing behind of what is erased; whether the database can."""
        return False

    def scrub_log(self) -> bool:
        """Empty the log of changes, if nobody reads it at the moment; whether it is ours to empty."""
        return False

    @abstractmethod
    def scrub(self) -> None:
        """Leave nothing behind of all that was erased before; nobody else may use the journal."""

    def fault(self) -> str | None:
        """What the database finds damaged in its own files; None for nothing, as of a server, which looks by itself."""
        return None

    def prepare(self) -> None:
        """Make the tables that are missing; `JournalError` where the journal is newer or has lost its end."""
        with self.transaction():
            for statement in _TABLES:
                self.execute(statement.format(blob=self.blob, number=self.number, protocol=PROTOCOL))
            newest = self.execute("SELECT max(protocol) FROM about").fetchone()[0]
        if newest != PROTOCOL:
            raise JournalError(f"the journal has protocol {newest}; this version of thalweg reads {PROTOCOL}")
        self.require_end()

    def require_end(self) -> None:
        """`JournalDamaged` where something was written after what is the last record now."""
        labelled, kept = (
            self.value(f"SELECT COALESCE(max(seq), 0) FROM {table}") for table in ("label_links", "snapshots")
        )
        last, _ = self.last()
        if max(labelled, kept) > last:
            raise JournalDamaged(
                f"the journal ends at record {last}, but there was a record {max(labelled, kept)}: it lost its end"
            )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written inside is on the disk at the end, or none of it."""
        with self.translated():
            self.execute("BEGIN")
            try:
                yield
                self.execute("COMMIT")
            except BaseException:
                self._checksums.clear()
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
        for record in records:
            if record.model not in self._checksums:
                last = self.last_of(record.model, through=record.seq)
                self._checksums[record.model] = b"" if last is None else last.checksum
            record.checksum = self._checksums[record.model] = checksum(record, self._checksums[record.model])
        self._insert("journal", _COLUMNS, records)
        self._insert("label_links", "asked, seq, rows", links)
        self._insert("responses", "key, request, status, media, body, seq", responses)
        self._insert("snapshots", "model, seq, name, sha256, body", parts, "ON CONFLICT DO NOTHING")

    def _insert(self, table: str, columns: str, rows: Sequence[Any], otherwise: str = "") -> None:
        """Many rows in few statements, of few sizes: each costs a way to the database and back.

        Rows are objects whose attributes have the names of the columns.
        """
        names = columns.split(", ")
        marks, of_row = f"({', '.join('?' * len(names))})", attrgetter(*names)
        begin = 0
        while begin < len(rows):
            size = min(1 << (len(rows) - begin).bit_length() - 1, _TOGETHER)
            values = [value for row in rows[begin : begin + size] for value in of_row(row)]
            self.execute(f"INSERT INTO {table} ({columns}) VALUES {', '.join([marks] * size)} {otherwise}", values)
            begin += size

    def write_gap(self, seq: int, microseconds: int) -> None:
        """Before a record so much time has passed unseen, inside a transaction."""
        self.execute("INSERT INTO gaps (seq, microseconds) VALUES (?, ?)", [seq, microseconds])

    def drop_snapshots(self, model: str, seqs: Iterable[int]) -> None:
        """Forget snapshots, inside a transaction."""
        for seq in seqs:
            self.execute("DELETE FROM snapshots WHERE model = ? AND seq = ?", [model, seq])

    def drop_parts(self, model: str, name: str, since: int = 0) -> None:
        """Forget one part, in all its pieces, of all snapshots from a record on, inside a transaction."""
        statement = "DELETE FROM snapshots WHERE model = ? AND seq >= ? AND (name = ? OR name LIKE ?)"
        self.execute(statement, [model, since, name, f"{name}/%"])

    def set_cut(self, model: str, seq: int) -> None:
        """Note that the journal of a model begins at a snapshot, inside a transaction."""
        self.execute("DELETE FROM cuts WHERE model = ?", [model])
        self.execute("INSERT INTO cuts (model, seq) VALUES (?, ?)", [model, seq])

    def delete_records(self, seqs: Sequence[int]) -> None:
        """Erase records and the links of their rows, inside a transaction."""
        for begin in range(0, len(seqs), _FETCH):
            part = seqs[begin : begin + _FETCH]
            for table, column in (("journal", "seq"), ("label_links", "asked")):
                condition, value = self.among(column, part)
                self.execute(f"DELETE FROM {table} WHERE {condition}", [value])

    def replace_body(self, record: Record, body: bytes) -> None:
        """Put what is left of a record in its place, inside a transaction."""
        record.body = body
        record.checksum = checksum_when_erased(record)
        self.execute("UPDATE journal SET body = ?, checksum = ? WHERE seq = ?", [body, record.checksum, record.seq])

    def erase_replies(self, seqs: Sequence[int], status: int, media: str, body: bytes) -> None:
        """Put another reply in the place of those to these requests, to be given to any request with their keys."""
        condition, value = self.among("seq", seqs)
        statement = f"UPDATE responses SET request = ?, status = ?, media = ?, body = ? WHERE {condition}"
        self.execute(statement, [b"", status, media, body, value])

    def drop_replies(self, through: int, limit: int) -> int:
        """Forget replies to requests up to a record, at most so many, inside a transaction; how many."""
        oldest = "SELECT key FROM responses WHERE seq <= ? ORDER BY seq LIMIT ?"
        return int(self.execute(f"DELETE FROM responses WHERE key IN ({oldest})", [through, limit]).rowcount)

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """All that a statement finds."""
        with self.translated():
            fetched: list[Any] = self.execute(statement, values).fetchall()
        return fetched

    def value(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The only value that a statement finds."""
        return self.rows(statement, values)[0][0]

    def last(self) -> tuple[int, int]:
        """Seq and time of the last record; zeros where there is none."""
        for row in self.rows(f"SELECT {_COLUMNS} FROM journal ORDER BY seq DESC LIMIT 1"):
            record = require_unchanged(_record(row))
            return record.seq, record.time
        return 0, 0

    def last_before(self, time: int) -> int:
        """The last record up to a time; 0 for none."""
        low, high = 0, self.value("SELECT COALESCE(max(seq), 0) FROM journal")
        while low < high:  # times rise with the records
            middle = (low + high + 1) // 2
            nearest = self.rows("SELECT seq, time FROM journal WHERE seq <= ? ORDER BY seq DESC LIMIT 1", [middle])
            if not nearest or nearest[0][1] <= time:
                low = middle
            else:
                high = nearest[0][0] - 1
        return int(self.value("SELECT max(seq) FROM journal WHERE seq <= ?", [low]) or 0)

    def in_order(self, through: int = _LATEST) -> Iterator[Record]:
        """Records of all models up to one, whatever their checksums."""
        statement = f"SELECT {_COLUMNS} FROM journal WHERE seq > ? AND seq <= ? ORDER BY seq"
        return map(_record, self._paged(statement, lambda after: [after, through], 0))

    def _paged(
        self, statement: str, values: Callable[[Any], list[Any]], after: Any, size: int = _FETCH
    ) -> Iterator[Any]:
        """All that a statement finds behind a value of its first column, in the order of that, some at a time."""
        while True:
            rows = self.rows(f"{statement} LIMIT {size}", values(after))
            yield from rows
            if len(rows) < size:
                return
            after = rows[-1][0]

    def models(self) -> list[str]:
        """The names of all models that clients may ask, in the order of their creation."""
        return [row[0] for row in self.rows("SELECT model FROM journal WHERE kind = 'create' ORDER BY seq")]

    def records(
        self, model: str, *, after: int = 0, through: int | None = None, kind: Kind | None = None
    ) -> Iterator[Record]:
        """Records of a model in order, all or those of one kind; all of them must follow one another."""
        end = _LATEST if through is None else through
        kinds = get_args(Kind) if kind is None else (kind,)
        statement = f"{self._of_kinds(len(kinds))} ORDER BY seq"
        rows = self._paged(statement, lambda after: [v for name in kinds for v in (model, name, after, end)], after)
        records = map(_record, rows)
        if kind is not None:
            yield from map(require_unchanged, records)
            return
        before = self.last_of(model, through=after)
        for record in records:
            before = require_chained(record, before)
            yield before

    def last_of(self, model: str, *, through: int | None = None, kind: Kind | None = None) -> Record | None:
        """The last record of a model up to one, of all or of one kind."""
        kinds = get_args(Kind) if kind is None else (kind,)
        end = _LATEST if through is None else through
        values = [value for name in kinds for value in (model, name, 0, end)]
        rows = self.rows(f"{self._of_kinds(len(kinds))} ORDER BY seq DESC LIMIT 1", values)
        return require_unchanged(_record(rows[0])) if rows else None

    def _of_kinds(self, kinds: int) -> str:
        """Records of a model, merged by their kinds from the index over (model, kind, seq).

        Asked for all kinds at once, SQLite would use the index to collect and sort all that remains for every page.
        """
        of_kind = f"SELECT {_COLUMNS} FROM journal WHERE model = ? AND kind = ? AND seq > ? AND seq <= ?"
        return " UNION ALL ".join([of_kind] * kinds)

    def fetch(self, seqs: Sequence[int]) -> list[Record]:
        """These records, in order; those that do not exist are left out."""
        condition, value = self.among("seq", seqs)
        rows = self.rows(f"SELECT {_COLUMNS} FROM journal WHERE {condition} ORDER BY seq", [value])
        return [require_unchanged(_record(row)) for row in rows]

    def links(self, asked: Sequence[int]) -> list[tuple[int, int]]:
        """Which label records, in their order, speak of rows of these predict records."""
        condition, value = self.among("asked", asked)
        rows = self.rows(f"SELECT asked, seq FROM label_links WHERE {condition} ORDER BY seq", [value])
        return [(row[0], row[1]) for row in rows]

    def all_links(self, through: int = _LATEST) -> Iterator[tuple[int, int, int]]:
        """Predict record, label record up to one, and how many rows got their first label there."""
        with self.translated():  # a label comes after its row: the first condition finds the place in the index
            for row in self.execute(
                "SELECT asked, seq, rows FROM label_links WHERE asked <= ? AND seq <= ?", [through] * 2
            ):
                yield row[0], row[1], row[2]

    def cuts(self) -> dict[str, int]:
        """By model, the snapshot before which records were erased."""
        return {row[0]: row[1] for row in self.rows("SELECT model, seq FROM cuts")}

    def gaps(self) -> list[tuple[int, int]]:
        """Records before which time has passed unseen, and how many microseconds."""
        return [(row[0], row[1]) for row in self.rows("SELECT seq, microseconds FROM gaps")]

    def open_rows(self, model: str, after: int) -> Iterator[tuple[int, int, int]]:
        """Predict records in order: seq, time, and how many of their rows have no label."""
        statement = (
            "SELECT j.seq, j.time, j.rows - COALESCE((SELECT SUM(t.rows) FROM label_links t WHERE t.asked = j.seq), 0) "
            "FROM journal j WHERE j.model = ? AND j.kind = 'predict' AND j.seq > ? ORDER BY j.seq"
        )
        for row in self._paged(statement, lambda after: [model, after], after):
            yield row[0], row[1], int(row[2])

    def keys(self) -> Iterator[str]:
        """All idempotency keys."""
        statement = "SELECT key FROM responses WHERE key > ? ORDER BY key"
        return (row[0] for row in self._paged(statement, lambda after: [after], "", _MANY_KEYS))

    def recall(self, keys: Sequence[str]) -> dict[str, StoredResponse]:
        """By key, the responses to requests with these keys."""
        condition, value = self.among("key", keys)
        rows = self.rows(f"SELECT key, request, status, media, body FROM responses WHERE {condition}", [value])
        return {row[0]: StoredResponse(row[0], bytes(row[1]), row[2], row[3], bytes(row[4])) for row in rows}

    def has_replies(self, through: int) -> bool:
        """Whether there are replies to requests up to a record."""
        return bool(self.rows("SELECT 1 FROM responses WHERE seq <= ? LIMIT 1", [through]))

    def snapshots(self, model: str, through: int | None = None) -> list[int]:
        """The seqs of a model's snapshots, rising."""
        statement = "SELECT DISTINCT seq FROM snapshots WHERE model = ? AND seq <= ? ORDER BY seq"
        return [int(row[0]) for row in self.rows(statement, [model, _LATEST if through is None else through])]

    def snapshot(self, model: str, seq: int) -> list[Part]:
        statement = "SELECT name, sha256, body FROM snapshots WHERE model = ? AND seq = ? ORDER BY name"
        rows = self.rows(statement, [model, seq])
        return [Part(model, seq, row[0], bytes(row[1]), bytes(row[2])) for row in rows]

    def close(self) -> None:
        """Close the connection; another one may be opened."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _record(row: Sequence[Any]) -> Record:
    kinds = int, str, str, int, int, bytes | memoryview, bytes | memoryview
    if not all(map(isinstance, row, kinds)):  # SQLite stores any type in any column
        raise JournalDamaged(f"record {row[0]} of the journal is damaged: a column has a value of another type")
    return Record(row[0], row[1], row[2], row[3], row[4], bytes(row[5]), bytes(row[6]))
