"""Where rows come from: one file, a folder of files in the order of their names, or standard input.

The format is detected from the first bytes: file names lie, and a pipe has none.
"""

from __future__ import annotations

import codecs
import io
import re
import sys
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Literal

from thalweg.errors import DataUnavailable, InvalidInput, MissingExtra
from thalweg.tables import arff_rows, csv_rows, ndjson_rows, sparse_rows
from thalweg.tables.arrow_types import categories_in
from thalweg.tables.rows import HEAD_ROWS, Block
from thalweg.tables.unread_formats import unread_format

Format = Literal["csv", "ndjson", "arff", "svmlight", "vowpal-wabbit", "parquet", "arrow-file", "arrow-stream"]

_GZIP, _ZSTD, _BZ2 = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh"
_MAGIC: dict[bytes, Format] = {b"PAR1": "parquet", b"ARROW1": "arrow-file"}
#: What follows where such letters begin the name of a column.
_TEXT = tuple(bytes([byte]) for byte in (9, 10, 13, *range(32, 127)))
_DELIMITERS = b",;\t|"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: How many lines, of how many bytes at the most, are looked at.
_LINES, _HEAD_BYTES = 20, 1 << 16


def compression_of(head: bytes) -> str | None:
    """How the bytes are compressed.

    Examples
    --------
    >>> compression_of(b"a,b"), compression_of(bytes([0x1F, 0x8B, 8]))
    (None, 'gzip')
    """
    for magic, name in ((_GZIP, "gzip"), (_ZSTD, "zstd"), (_BZ2, "bz2")):
        if head.startswith(magic):
            return name
    return None


def as_utf8(head: bytes, encoding: str) -> bytes:
    """The first bytes as they are in UTF-8; as they are where they are no such text.

    Examples
    --------
    >>> as_utf8("{ä".encode("utf-16"), "utf-16").decode()
    '{ä'
    """
    try:
        return codecs.getincrementaldecoder(encoding)().decode(head).encode()
    except (LookupError, UnicodeError):
        return head


def format_of(head: bytes, text: Format = "csv") -> Format:
    """What kind of file begins with these bytes; ``text`` where they could be any text.

    Examples
    --------
    >>> format_of(b'{"price": 3}'), format_of(b"price,class")
    ('ndjson', 'csv')
    """
    for magic, kind in _MAGIC.items():
        if head.startswith(magic) and head[len(magic) : len(magic) + 1] not in _TEXT:
            return kind
    if head.startswith(b"\xff\xff\xff\xff"):
        return "arrow-stream"
    if head.removeprefix(_BYTE_ORDER_MARK).lstrip()[:1] == b"{":
        return "ndjson"
    return "arff" if arff_rows.is_arff(head) else sparse_rows.sparse_format(head) or text


def delimiter_of(head: bytes) -> str:
    r"""The delimiter that splits the first lines into the same number of cells, and into the most of them.

    Examples
    --------
    >>> delimiter_of(b"when;price\n3;4,5\n4;4,7\n")
    ';'
    """
    lines = [line for line in head.splitlines()[:_LINES] if line.strip()]
    if len(head.splitlines()) > 1 and not head.endswith((b"\n", b"\r")):
        lines = lines[:-1] or lines  # the last one may be cut
    best, cells = ",", 0
    for byte in _DELIMITERS:
        counts = [_outside_quotes(line).count(byte) for line in lines]
        if counts and min(counts) == max(counts) and counts[0] > cells:
            best, cells = chr(byte), counts[0]
    if cells == 0 and lines:  # ragged rows: then the header decides
        best = chr(max(_DELIMITERS, key=_outside_quotes(lines[0]).count))
    return best


def _outside_quotes(line: bytes) -> bytes:
    return b"".join(line.split(b'"')[::2])


class Peeked(io.RawIOBase):
    """A stream whose first bytes were looked at and are there still."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._read = getattr(stream, "read1", stream.read)  # what is there, without waiting for more
        self.head = self._first_lines()
        self._left = memoryview(self.head)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """The head first, then the rest."""
        if len(self._left):
            count = min(len(buffer), len(self._left))
            buffer[:count] = self._left[:count]
            self._left = self._left[count:]
            return count
        content = self._read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def _first_lines(self) -> bytes:
        """As many lines as are looked at, however slowly they come; less where they are long or the stream is short."""
        head = b""
        while len(head) < _HEAD_BYTES and head.count(b"\n") <= _LINES and (part := self._read(_HEAD_BYTES - len(head))):
            head += part
        return head


_ROWS = 1 << 16


def read(path: Path | None, stream: io.RawIOBase, name: str, kind: Format) -> Iterator[Block]:
    """The rows of a file; Parquet and Arrow's file format begin at their end, so they cannot come through a pipe."""
    import pyarrow as pa

    if kind != "arrow-stream" and path is None:
        raise InvalidInput(f"{name} is a {kind} file, which cannot come through a pipe: name the file itself")
    try:
        first = 1
        nominal = _written_categories(path) if kind == "parquet" else frozenset[str]()
        for batch in _batches(path, stream, kind):
            batch.validate(full=True)  # damaged text would end in an error of Arrow's much later
            yield Block(pa.Table.from_batches([batch]), name, first, typed=True, nominal=nominal)
            first += len(batch)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InvalidInput(f"{name} cannot be read as {kind}: {error}") from error


def _written_categories(path: Path | None) -> frozenset[str]:
    """Columns of a Parquet file that were categories when it was written: those of numbers are read as numbers."""
    import pyarrow as pa
    from pyarrow import parquet

    written = (parquet.read_metadata(path).metadata or {}).get(b"ARROW:schema")
    return frozenset() if written is None else categories_in(pa.ipc.read_schema(pa.py_buffer(b64decode(written))))


def _batches(path: Path | None, stream: IO[bytes] | io.RawIOBase, kind: Format) -> Iterator[Any]:
    import pyarrow as pa

    if kind == "parquet":
        from pyarrow import parquet

        with parquet.ParquetFile(path, pre_buffer=False) as file:  # which would read the whole file ahead
            yield from file.iter_batches(batch_size=_ROWS)
    elif kind == "arrow-file":
        with pa.memory_map(str(path)) as mapped, pa.ipc.open_file(mapped) as reader:
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)
    else:
        whole = io.BufferedReader(stream)  # type: ignore[type-var]  # Arrow asks once, and takes less for the end
        with pa.ipc.open_stream(pa.PythonFile(whole, mode="r")) as reader:
            yield from reader


STANDARD_INPUT = "-"
#: How people write a tab on a command line.
_TABS = ("tab", "\\t")


@dataclass(frozen=True)
class Source:
    """Rows in files, read from the beginning each time `blocks` is called; a pipe can be read once."""

    #: As it was given: a path, or "-".
    given: str
    files: tuple[Path, ...]
    delimiter: str | None = None
    encoding: str = "utf-8"
    #: Rows of NDJSON whose keys are the columns.
    head: int = HEAD_ROWS
    #: The keys that are columns, where they are known beforehand.
    json_columns: tuple[str, ...] = ()
    #: Those of them that hold objects of numbers.
    json_maps: tuple[str, ...] = ()
    #: What text is where its first lines do not say so: that of lines to predict may have no label.
    text_format: Format = "csv"
    #: How many files and folders of a folder are left out: hidden ones, and folders in it.
    left_out: int = 0
    _position: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def is_pipe(self) -> bool:
        """Whether rows come as someone writes them."""
        return not all(path.is_file() for path in self.files) or not self.files

    def describe(self) -> str | None:
        """Which files of a folder are read, in words; `None` for a single file or a pipe."""
        if not self.files or str(self.files[0]) == str(Path(self.given)):
            return None
        first, last, count = self.files[0].name, self.files[-1].name, len(self.files)
        told = (
            f"1 file, {first}" if count == 1 else f"{count:,} files in the order of their names, from {first} to {last}"
        )
        if self.left_out:
            told += f"; {self.left_out:,} other{'s' if self.left_out > 1 else ''} left out, hidden or a folder"
        return f"{self.given}: {told}"

    @property
    def share(self) -> float | None:
        """How much of the bytes was read, for a guess at the time left; None where it is not known."""
        if not self.files or "read" not in self._position:
            return None
        return self._position["read"] / max(1, sum(path.stat().st_size for path in self.files))

    def blocks(self) -> Iterator[Block]:
        """The rows, block by block; all files must have the columns of the first."""
        columns: list[str] = []
        maps = list(self.json_maps)
        for block in self._all(columns, maps):
            if not columns:
                columns += block.table.column_names
                maps += ndjson_rows.maps_among(block.table)
            elif sorted(block.table.column_names) != sorted(columns):
                raise InvalidInput(_other_columns(block, columns))
            yield replace(block, table=block.table.select(columns))

    def _all(self, columns: list[str], maps: list[str]) -> Iterator[Block]:
        if not self.files:
            with _pipe(None) as file:
                yield from self._read(file, "standard input", None, columns, maps)
        before = 0
        for path in self.files:
            try:
                if not path.is_file():  # a named pipe, or the end of one that a shell makes of <(command)
                    with _pipe(path) as file:
                        yield from self._read(file, str(path), None, columns, maps)
                    continue
                with path.open("rb") as file:
                    for block in self._read(file, str(path), path, columns, maps):
                        self._position["read"] = before + file.tell()
                        yield block
                before += path.stat().st_size
            except OSError as error:
                raise DataUnavailable(f"{path} cannot be read: {error.strerror or error}") from error

    def _read(
        self, file: IO[bytes], name: str, path: Path | None, columns: list[str], maps: list[str]
    ) -> Iterator[Block]:
        try:
            stream, packed = _peeked(file)
            path = None if packed else path
            if complaint := unread_format(stream.head, name):
                raise InvalidInput(complaint)
            head = as_utf8(stream.head, self.encoding)
            kind = format_of(head, self.text_format if head.strip() else "csv")
            if kind == "csv":
                delimiter = self.delimiter or delimiter_of(head)
                yield from csv_rows.read(stream, name, delimiter, self.encoding, as_it_comes=self.is_pipe)
            elif kind == "arff":
                yield from arff_rows.read(stream, name, self.encoding)
            elif kind == "ndjson":
                settings: dict[str, Any] = {
                    "head": self.head,
                    "columns": columns or self.json_columns,
                    "maps": maps,
                    "as_it_comes": self.is_pipe,
                }
                yield from ndjson_rows.read(stream, name, self.encoding, **settings)
            elif kind in ("svmlight", "vowpal-wabbit"):
                yield from sparse_rows.read(stream, name, self.encoding, kind, as_it_comes=self.is_pipe)
            else:
                yield from read(path, stream, name, kind)
        except (EOFError, OSError) as error:
            raise InvalidInput(f"{name} cannot be read to its end: {error}") from error


def open_source(
    given: str | Path, *, delimiter: str | None = None, encoding: str = "utf-8", head: int = HEAD_ROWS
) -> Source:
    """The rows behind a path, a folder, or "-" for standard input.

    Parameters
    ----------
    given : str or Path
        Formats and compression are detected from the content, not from the name. The files of a folder are read in the
        natural order of their names (part-2 before part-10); hidden ones are left out.
    delimiter : str, optional
        Between the cells of a CSV file (default: detected). ``tab`` means a tab.
    encoding : str, default "utf-8"
        Of CSV, NDJSON, ARFF, svmlight and Vowpal Wabbit.
    head : int, default 1000
        Rows of NDJSON whose keys are the columns. A key that is absent from a row is a missing value there; one that
        comes later is ignored.
    """
    MissingExtra.import_module("pyarrow", "files", "reading files")
    if delimiter in _TABS:
        delimiter = "\t"
    if delimiter is not None and len(delimiter.encode()) != 1:
        raise InvalidInput(f"a delimiter must be one ASCII character, got {delimiter!r}")
    if str(given) == STANDARD_INPUT:
        return Source(STANDARD_INPUT, (), delimiter, encoding, head)
    path = Path(given)
    if path.is_dir():
        entries = list(path.iterdir())
        files = sorted((each for each in entries if each.is_file() and not each.name.startswith(".")), key=_in_order)
        if not files:
            raise DataUnavailable(f"the folder {path} holds no file")
        return Source(str(given), tuple(files), delimiter, encoding, head, left_out=len(entries) - len(files))
    if not path.exists():
        raise DataUnavailable(f"there is no file {path}")
    return Source(str(given), (path,), delimiter, encoding, head)


def natural_order(text: str) -> tuple[list[tuple[int, str]], str]:
    """A key by which names are sorted as people count: numbers in them by their value.

    Examples
    --------
    >>> sorted(["part-10", "part-2", "part-1"], key=natural_order)
    ['part-1', 'part-2', 'part-10']
    """
    parts = re.split(r"0*([0-9]+)", text)
    return [(len(part) if at % 2 else 0, part) for at, part in enumerate(parts)], text


def _in_order(path: Path) -> Any:
    return natural_order(path.name)


def holds_text(path: Path) -> bool:
    """Whether the cells of a file, packed or not, have no types; `InvalidInput` where it holds nothing."""
    with path.open("rb") as file:
        try:
            head = _peeked(file)[0].head
        except (EOFError, OSError) as error:
            raise InvalidInput(f"{path} cannot be read to its end: {error}") from error
    if not head:
        raise InvalidInput(f"{path} is empty")
    return format_of(head) in ("csv", "ndjson", "arff")


def label_column(given: str, encoding: str = "utf-8") -> str | None:
    """The column of labels where the format of the first lines has one; None where it has none."""
    head = _head_of(given)
    has_one = head is not None and format_of(as_utf8(head, encoding)) in ("svmlight", "vowpal-wabbit")
    return sparse_rows.LABEL if has_one else None


def last_attribute(given: str) -> str | None:
    """The last column of an ARFF file, by custom its label; None where that cannot be said."""
    head = _head_of(given)
    if head is None or format_of(head) != "arff":
        return None
    try:
        return arff_rows.attributes_of(iter(head.decode(errors="replace").splitlines()), given)[-1].name
    except InvalidInput:
        return None


#: Pipes whose first lines were looked at before they are read, by path, or by the stream of standard input.
_LOOKED_AT: dict[Any, tuple[IO[bytes], Peeked]] = {}


@contextmanager
def _pipe(path: Path | None) -> Iterator[Any]:
    """A pipe, or standard input; from its beginning, even where the first lines were looked at."""
    file, looked_at = _LOOKED_AT.pop(path or sys.stdin.buffer, (None, None))
    file = file or _opened_pipe(path)
    try:
        yield looked_at or file
    finally:
        if path is not None:
            file.close()


def _opened_pipe(path: Path | None) -> IO[bytes]:
    return sys.stdin.buffer if path is None else path.open("rb")


def _head_of(given: str) -> bytes | None:
    """The first lines of a file, of a pipe, or of the first file of a folder; None where they cannot be read."""
    try:
        source = open_source(given)
        if not source.is_pipe:
            with source.files[0].open("rb") as file:
                return _peeked(file)[0].head
        path = source.files[0] if source.files else None
        key = path or sys.stdin.buffer
        if key not in _LOOKED_AT:
            pipe = _opened_pipe(path)
            _LOOKED_AT[key] = pipe, _peeked(pipe)[0]
        return _LOOKED_AT[key][1].head
    except (DataUnavailable, EOFError, OSError):
        return None


def _peeked(file: IO[bytes]) -> tuple[Peeked, bool]:
    """The bytes unpacked, and whether they were packed."""
    stream = Peeked(file)
    packing = compression_of(stream.head)
    return (stream, False) if packing is None else (Peeked(_unpacked(stream, packing)), True)


def _unpacked(stream: io.RawIOBase, packing: str) -> IO[bytes]:
    if packing == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=io.BufferedReader(stream, 1 << 20))  # type: ignore[return-value]
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), packing)  # type: ignore[no-any-return]


def _other_columns(block: Block, columns: list[str]) -> str:
    theirs = block.table.column_names
    missing = [name for name in columns if name not in theirs]
    further = [name for name in theirs if name not in columns]
    told = [f"lacks {', '.join(map(repr, missing))}"] if missing else []
    told += [f"has {', '.join(map(repr, further))} besides"] if further else []
    return f"{block.file} {' and '.join(told)}: all files must have the columns of the first"
