"""Rows in chunks of one size, however the files are cut: a run must not depend on how its source was written.

Readers yield blocks: rows of one file as columns, and the rows that could not be read.
"""

from __future__ import annotations

import codecs
import io
import json
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from thalweg.errors import InvalidInput
from thalweg.tables.arrow_types import categories_in, plain

if TYPE_CHECKING:
    import pyarrow as pa


#: Rows that settle what the columns are, before the first is learned.
HEAD_ROWS = 1000


@dataclass(frozen=True)
class BadRow:
    """A row that cannot be used: where it stands, and what is wrong with it.

    Examples
    --------
    >>> print(BadRow("prices.csv", 7, "demand", "'high' is not a number"))
    prices.csv, row 7, column 'demand': 'high' is not a number
    """

    file: str
    #: Counted from 1, without the header.
    row: int
    column: str | None
    what: str
    #: Counted from 1 with comments and empty lines, where rows are lines.
    line: int | None = None

    def __str__(self) -> str:
        column = "" if self.column is None else f", column {self.column!r}"
        place = f"row {self.row:,}" if self.line is None else f"line {self.line:,}"
        return f"{self.file}, {place}{column}: {self.what}"


@dataclass(frozen=True)
class Layout:
    """Where the rows of a CSV file begin, and what their cells are called."""

    delimiter: str
    names: tuple[str, ...]
    #: Bytes before the first row, of the text in UTF-8.
    above: int
    #: Whether the names stand in the file.
    header: bool = True
    #: Columns that the header declares to hold categories, and the one that it declares to be the label.
    nominal: frozenset[str] = frozenset()
    target: str | None = None
    #: By name, why a column is no feature.
    left_out: Mapping[str, str] = field(default_factory=dict)
    #: What was decided, in sentences that begin behind the name of the file.
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """Rows of one file that stand together, less the bad ones among them."""

    table: pa.Table
    file: str
    #: The number of each row in its file, from 1.
    first_row: int
    bad: list[BadRow] = field(default_factory=list)
    #: Whether its columns have types of their own, as those of CSV and JSON have not.
    typed: bool = False
    #: Columns that are declared to hold categories, whatever they look like.
    nominal: frozenset[str] = frozenset()
    #: By column, the values that a header declares.
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Keys of JSON that are no columns, and the file and row in which each stands first.
    ignored: dict[str, tuple[str, int]] = field(default_factory=dict)
    #: How a file of text is laid out.
    layout: Layout | None = None
    #: What was decided of files: the file, and a sentence that begins behind its name. Their first blocks have it.
    notes: tuple[tuple[str, str], ...] = ()
    #: File and number of each row, where rows of several places were sorted into one block.
    origins: list[tuple[str, int]] | None = None

    def file_of(self, at: int) -> str:
        """The file of the row at this place of the table."""
        return self.file if self.origins is None else self.origins[at][0]

    def number_of(self, at: int) -> int:
        """The number in its file of the row at this place of the table."""
        if self.origins is not None:
            return self.origins[at][1]
        return self.first_row + at + bisect_right(self._before_bad, at)

    @cached_property
    def categories(self) -> frozenset[str]:
        """Columns that hold categories, declared so or by their type."""
        return self.nominal | categories_in(self.table.schema)

    @cached_property
    def _before_bad(self) -> list[int]:
        """How many rows of the table stand before each bad one."""
        return [row - self.first_row - place for place, row in enumerate(sorted(bad.row for bad in self.bad))]


#: Beyond this, a float is no longer every whole number.
WHOLE = 2.0**53


def as_text(column: pa.Array | pa.ChunkedArray) -> Any:
    """A column as text: whole numbers without a point, truth values as ``true`` and ``false``, NaN as missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_text(pa.array([1.0, 2.5, None, float("nan")])).to_pylist(), as_text(pa.array([True])).to_pylist()
    (['1', '2.5', None, None], ['true'])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        written = pc.cast(column, pa.string())
        whole = pc.and_(pc.equal(pc.floor(column), column), pc.less(pc.abs(column), WHOLE))
        whole = pc.and_(whole, pc.not_equal(written, "-0"))  # which no whole number is
        texts = pc.if_else(whole, pc.cast(pc.cast(column, pa.int64(), safe=False), pa.string()), written)
        return pc.if_else(pc.is_nan(column), pa.scalar(None, pa.string()), texts)
    return column if pa.types.is_string(column.type) else pc.cast(column, pa.string())


def text_of(value: Any) -> str:
    """One value of JSON, as it would stand in a column of its own kind."""
    import pyarrow as pa

    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return str(as_text(pa.array([value], pa.float64()))[0])
    return json.dumps(value)


@dataclass(frozen=True)
class Piece:
    """Rows of a chunk that come from one block."""

    block: Block
    start: int
    length: int

    def column(self, name: str) -> pa.ChunkedArray:
        """The cells of a column, by their plain values."""
        table = self.block.table
        return plain(table.column(name).slice(self.start, self.length), table.schema.field(name))


@dataclass(frozen=True)
class Chunk:
    """Some rows in order, each of which can be named by file and number."""

    pieces: list[Piece]
    bad: list[BadRow]
    #: By name, columns that were parsed ahead (`Encoder.with_sparse_parsed`).
    parsed: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    #: By name, columns that were made of others: features from earlier rows.
    added: Mapping[str, pa.ChunkedArray] = field(default_factory=dict, compare=False, repr=False)

    def __len__(self) -> int:
        return sum(piece.length for piece in self.pieces)

    @property
    def column_names(self) -> list[str]:
        """The columns of the table, in its order, and those that were added."""
        names: list[str] = self.pieces[0].block.table.column_names
        return [*names, *self.added] if self.added else names

    @property
    def nominal(self) -> frozenset[str]:
        """Columns that the table declares to hold categories."""
        return self.pieces[0].block.categories

    @property
    def values(self) -> Mapping[str, tuple[str, ...]]:
        """By column, the values that the table declares, where it does."""
        return self.pieces[0].block.values

    @property
    def left_out(self) -> Mapping[str, str]:
        """By name, why the table's own header leaves a column out."""
        layout = self.pieces[0].block.layout
        return {} if layout is None else layout.left_out

    @property
    def delimiter(self) -> str | None:
        """Between the cells, of a file of text."""
        layout = self.pieces[0].block.layout
        return None if layout is None else layout.delimiter

    @property
    def has_header(self) -> bool:
        """Whether the names of its columns stand in the first file."""
        layout = self.pieces[0].block.layout if self.pieces else None
        return layout is None or layout.header

    def notes(self) -> Iterator[tuple[str, str]]:
        """What was decided of the files: the file and a sentence that begins behind its name."""
        for piece in self.pieces:
            if piece.start == 0:
                yield from piece.block.notes

    def ignored(self) -> Iterator[tuple[str, str, int]]:
        """Keys that are no columns: each with the file and the row in which it stands first."""
        for block, start, length in ((piece.block, piece.start, piece.length) for piece in self.pieces):
            for key, (file, row) in block.ignored.items():
                if block.origins or block.number_of(start) <= row <= block.number_of(start + length - 1):
                    yield key, file, row

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of all rows; its pieces may differ in type, since JSON has none."""
        import pyarrow as pa

        if name in self.added:
            return self.added[name]
        arrays = [chunk for piece in self.pieces for chunk in piece.column(name).chunks]
        if len({array.type for array in arrays}) > 1:
            kind = next((array.type for array in arrays if pa.types.is_map(array.type)), None)
            arrays = [as_text(array) if kind is None else self._as_map(array, kind, name) for array in arrays]
        return pa.chunked_array(arrays)

    def _as_map(self, array: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
        import pyarrow as pa

        if array.null_count == len(array):
            return pa.nulls(len(array), kind)
        if array.type != kind:
            file = self.pieces[-1].block.file
            raise InvalidInput(f"{file}: column {name!r} must be of one type, got {array.type} and {kind}")
        return array

    def positions(self) -> list[int]:
        """The place of each row among all rows of the chunk, those that could not be read counted too."""
        unread = deque(self.bad)
        positions: list[int] = []
        earlier: set[str] = set()
        passed = 0
        for piece in self.pieces:
            for at in range(piece.start, piece.start + piece.length):
                number = piece.block.number_of(at) if unread else 0
                while unread and (unread[0].file in earlier or unread[0].row < number):
                    unread.popleft()
                    passed += 1
                positions.append(len(positions) + passed)
            earlier.add(piece.block.file)
        return positions

    def complaint(self, at: int, column: str, what: str) -> BadRow:
        """What is wrong with the row at this place."""
        for piece in self.pieces:
            if at < piece.length:
                place = piece.start + at
                return BadRow(piece.block.file_of(place), piece.block.number_of(place), column, what)
            at -= piece.length
        raise IndexError(at)


def chunks(blocks: Iterable[Block], size: int | Callable[[int], int], head: int | None = None) -> Iterator[Chunk]:
    """Chunks of ``size`` rows, which may depend on the rows before; the last may be shorter, the first is the head."""
    size_after = size if callable(size) else lambda done: size
    done = 0
    wanted = head or size_after(0)
    pieces: list[Piece] = []
    bad: list[BadRow] = []
    have = 0
    for block in blocks:
        unread = sorted(block.bad, key=lambda row: row.row)
        start = 0
        while start < len(block.table):
            length = min(wanted - have, len(block.table) - start)
            pieces.append(Piece(block, start, length))
            start, have = start + length, have + length
            last = block.number_of(start - 1)
            bad += [row for row in unread if row.row < last]
            unread = [row for row in unread if row.row > last]
            if have == wanted:
                yield Chunk(pieces, bad)
                done += have
                pieces, bad, have, wanted = [], [], 0, size_after(done)
        bad += unread
    if pieces or bad:
        yield Chunk(pieces, bad)


PIECE_BYTES = 1 << 22
NAME_THE_ENCODING = "name the encoding, as in --encoding latin-1"


def utf8_pieces(stream: io.RawIOBase, name: str, encoding: str, *, as_it_comes: bool) -> Iterator[bytes]:
    """Pieces without a byte order mark; only what was UTF-8 to begin with may hold bytes that are not."""
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError as error:
        raise InvalidInput(f"there is no encoding {encoding!r}: use one that Python has, such as utf-8") from error
    plain = codecs.lookup(encoding).name == "utf-8"
    reader = io.BufferedReader(stream, PIECE_BYTES)
    start = True
    while content := (reader.read1 if as_it_comes else reader.read)(PIECE_BYTES):
        if plain and start and content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise InvalidInput(f"{name} begins as UTF-16 does and not as UTF-8: name the encoding, --encoding utf-16")
        if not plain:
            try:
                content = decoder.decode(content).encode()
            except UnicodeError as error:
                raise InvalidInput(f"{name} is not {encoding.upper()} throughout: {error}") from error
        yield content.removeprefix(codecs.BOM_UTF8) if start else content
        start = False


def is_utf8(content: bytes) -> bool:
    if content.isascii():
        return True
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def whole_lines(pieces: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The lines that end in each piece, without their ends; at last what follows the last end."""
    rest: list[bytes] = []
    for piece in pieces:
        if b"\n" not in piece:  # joined once, however many pieces a line takes
            rest.append(piece)
            continue
        *lines, last = b"".join([*rest, piece]).split(b"\n")
        rest = [last]
        yield lines
    yield [b"".join(rest)]
