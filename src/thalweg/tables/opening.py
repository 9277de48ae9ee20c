"""Where rows come from: one file, a folder of files in the order of their names, or standard input.

The format is detected from the first bytes: file names lie, and a pipe has none.
"""

from __future__ import annotations

import codecs
import io
import lzma
import re
import sys
import zipfile
import zlib
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Literal

from thalweg.errors import DataUnavailable, InvalidInput, MissingExtra
from thalweg.option_names import option
from thalweg.tables import arff_rows, csv_rows, ndjson_rows, sparse_rows
from thalweg.tables.arrow_types import categories_in
from thalweg.tables.layout import BLANKS, LINES, LayoutOptions, layout_of
from thalweg.tables.rows import HEAD_ROWS, Block, Layout
from thalweg.tables.unread_formats import unread_format

Format = Literal["csv", "ndjson", "json", "arff", "svmlight", "vowpal-wabbit", "parquet", "arrow-file", "arrow-stream"]

_PACKINGS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz"}
_ZIP = b"PK\x03\x04"
_MAGIC: dict[bytes, Format] = {b"PAR1": "parquet", b"ARROW1": "arrow-file"}
#: What follows where such letters begin the name of a column.
_TEXT = tuple(bytes([byte]) for byte in (9, 10, 13, *range(32, 127)))
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: How many bytes of the first lines are looked at; more where there are fewer lines than so many.
_HEAD_BYTES, _MOST_HEAD_BYTES, _LEAST_LINES = 1 << 16, 1 << 24, 3
#: Bytes that stand for nothing in the Western encoding of Windows.
_NOT_WESTERN = bytes((0x00, 0x81, 0x8D, 0x8F, 0x90, 0x9D))
#: Endings of tables in an archive that also has other files.
_TABLES = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat", ".arff", ".json", ".ndjson", ".jsonl", ".svm", ".vw")


def compression_of(head: bytes) -> str | None:
    """How the bytes are compressed.

    Examples
    --------
    >>> compression_of(b"a,b"), compression_of(bytes([0x1F, 0x8B, 8]))
    (None, 'gzip')
    """
    return next((name for magic, name in _PACKINGS.items() if head.startswith(magic)), None)


def encoding_of(head: bytes, given: str = "utf-8") -> tuple[str, str | None]:
    """The encoding of a text with this beginning, and a sentence about it where it is not the one that was given.

    Only what was to be UTF-8 may be something else: UTF-16 by its byte order mark, or, if its first lines have no
    character that takes several bytes in UTF-8 but others beyond ASCII, Windows-1252, which includes Latin-1.

    Examples
    --------
    >>> encoding_of("prix;région".encode("latin-1"))[0], encoding_of("prix;région".encode())[0]
    ('cp1252', 'utf-8')
    """
    try:
        plain = codecs.lookup(given).name == "utf-8"
    except LookupError:
        plain = False
    if not plain:
        return given, None
    for marks, name in (
        ((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32"),
        ((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
    ):
        if head.startswith(marks):
            return name, None
    lines = b"".join(head.splitlines(keepends=True)[:LINES])
    if lines.isascii() or any(byte in lines for byte in _NOT_WESTERN):
        return given, None
    beyond = [sign for sign in lines.decode(errors="surrogateescape") if not sign.isascii()]
    if not all("\udc80" <= sign <= "\udcff" for sign in beyond):
        return given, None
    return "cp1252", f"is not UTF-8 and is read as Windows-1252; {option('encoding')} names another encoding"


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
    start = head.removeprefix(_BYTE_ORDER_MARK).lstrip()[:100]
    if start[:1] == b"{":
        return "ndjson"
    if start[:1] == b"[" and start[1:].lstrip()[:1] == b"{":
        return "json"
    return "arff" if arff_rows.is_arff(head) else sparse_rows.sparse_format(head) or text


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
        parts: list[bytes] = []
        size = lines = 0
        while size < _HEAD_BYTES and lines <= LINES and (part := self._read(_HEAD_BYTES - size)):
            parts.append(part)
            size += len(part)
            lines += part.count(b"\n") - part.count(b"\n#")
        while lines < _LEAST_LINES and _HEAD_BYTES <= size < _MOST_HEAD_BYTES and (part := self._read(_HEAD_BYTES)):
            parts.append(part)
            size += len(part)
            lines += part.count(b"\n")
        return b"".join(parts)


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
#: How people write a tab, and blanks, on a command line.
_WORDS = {"tab": "\t", "\\t": "\t", "space": BLANKS, "whitespace": BLANKS, "\\s+": BLANKS}


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
    #: Whether CSV has a header; None to detect it.
    header: bool | None = None
    #: Names of the columns of CSV without a header, where there are as many.
    names: tuple[str, ...] = ()
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
        note = (
            f"1 file, {first}" if count == 1 else f"{count:,} files in the order of their names, from {first} to {last}"
        )
        if self.left_out:
            note += f"; {self.left_out:,} other{'s' if self.left_out > 1 else ''} left out, hidden or a folder"
        return f"{self.given}: {note}"

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
        layouts: list[Layout] = []
        for block in self._all(columns, maps, layouts):
            if not columns:
                columns += block.table.column_names
                maps += ndjson_rows.maps_among(block.table)
            elif sorted(block.table.column_names) != sorted(columns):
                raise InvalidInput(_other_columns(block, columns))
            yield replace(block, table=block.table.select(columns))

    def _all(self, columns: list[str], maps: list[str], layouts: list[Layout]) -> Iterator[Block]:
        if not self.files:
            with _pipe(None) as file:
                yield from self._read(file, "standard input", None, columns, maps, layouts)
        before = 0
        for path in self.files:
            try:
                if not path.is_file():  # a named pipe, or the end of one that a shell makes of <(command)
                    with _pipe(path) as file:
                        yield from self._read(file, str(path), None, columns, maps, layouts)
                    continue
                with path.open("rb") as file:
                    for block in self._read(file, str(path), path, columns, maps, layouts):
                        self._position["read"] = before + file.tell()
                        yield block
                before += path.stat().st_size
            except OSError as error:
                raise DataUnavailable(f"{path} cannot be read: {error.strerror or error}") from error

    def _read(
        self, file: IO[bytes], name: str, path: Path | None, columns: list[str], maps: list[str], layouts: list[Layout]
    ) -> Iterator[Block]:
        try:
            for table in tables_in(file, name, path):
                notes = table.notes
                for block in self._read_table(table, columns, maps, layouts):
                    yield replace(block, notes=(*notes, *block.notes)) if notes else block
                    notes = ()
        except (EOFError, OSError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
            raise InvalidInput(f"{name} cannot be read to its end: {error}") from error

    def _read_table(
        self, table: TableStream, columns: list[str], maps: list[str], layouts: list[Layout]
    ) -> Iterator[Block]:
        stream, name = table.stream, table.name
        if complaint := unread_format(stream.head, name):
            raise InvalidInput(complaint)
        encoding, note = encoding_of(stream.head, self.encoding)
        notes: tuple[tuple[str, str], ...] = () if note is None else ((name, note),)
        head = as_utf8(stream.head, encoding)
        kind = format_of(head, self.text_format if head.strip() else "csv")
        if kind == "csv":
            known = LayoutOptions(self.delimiter, self.header, layouts[0] if layouts else None, self.names)
            layouts.append(layout_of(head.removeprefix(_BYTE_ORDER_MARK), name, known))
            notes += tuple((name, note) for note in layouts[-1].notes)
            blocks = csv_rows.read(stream, name, layouts[-1], encoding, as_it_comes=self.is_pipe)
        elif kind == "arff":
            blocks = arff_rows.read(stream, name, encoding)
        elif kind in ("ndjson", "json"):
            settings: dict[str, Any] = {
                "head": self.head,
                "columns": columns or self.json_columns,
                "maps": maps,
                "as_it_comes": self.is_pipe,
            }
            blocks = ndjson_rows.read(stream, name, encoding, array=kind == "json", **settings)
        elif kind in ("svmlight", "vowpal-wabbit"):
            blocks = sparse_rows.read(stream, name, encoding, kind, as_it_comes=self.is_pipe)
        else:
            blocks = read(table.path, stream, name, kind)
        for block in blocks:
            yield replace(block, notes=notes) if notes else block
            notes = ()


@dataclass(frozen=True)
class TableStream:
    """The unpacked bytes of a table."""

    stream: Peeked
    name: str
    #: Of the file, where it is the table itself.
    path: Path | None
    notes: tuple[tuple[str, str], ...] = ()


def tables_in(file: IO[bytes], name: str, path: Path | None = None) -> Iterator[TableStream]:
    """The table of a file; of a ZIP archive all tables, in the natural order of their names."""
    stream = Peeked(file)
    if stream.head.startswith(_ZIP) and unread_format(stream.head, name) is None:
        if path is None:
            raise InvalidInput(f"{name} is a ZIP archive, which cannot come through a pipe: name the file itself")
        yield from _members(file, name)
        return
    packing = compression_of(stream.head)
    if packing is None:
        yield TableStream(stream, name, path)
    else:
        yield from tables_in(_unpacked(stream, packing), name)


def _members(file: IO[bytes], name: str) -> Iterator[TableStream]:
    with zipfile.ZipFile(file) as archive:
        files = [info for info in archive.infolist() if not info.is_dir() and not _is_hidden(info.filename)]
        files = [info for info in files if info.filename.lower().endswith(_TABLES)] or files
        files.sort(key=lambda info: natural_order(info.filename))
        if not files:
            raise InvalidInput(f"{name} is a ZIP archive without a file")
        which = f"its file {files[0].filename} is read"
        if len(files) > 1:
            ends = f"from {files[0].filename} to {files[-1].filename}"
            which = f"its {len(files):,} files are read in the order of their names, {ends}"
        notes: tuple[tuple[str, str], ...] = ((name, f"is a ZIP archive: {which}"),)
        for info in files:
            inside = f"{name}/{info.filename}"
            if info.flag_bits & 1:
                raise InvalidInput(f"{inside} is encrypted: unpack it first")
            with archive.open(info) as member:
                for table in tables_in(member, inside):
                    yield replace(table, notes=notes)
                    notes = ()


def _is_hidden(name: str) -> bool:
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")


def open_source(
    given: str | Path,
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    head: int = HEAD_ROWS,
    header: bool | None = None,
) -> Source:
    """The rows behind a path, a folder, or "-" for standard input.

    Parameters
    ----------
    given : str or Path
        Formats and compression are detected from the content, not from the name. The files of a folder are read in the
        natural order of their names (part-2 before part-10); hidden ones are left out.
    delimiter : str, optional
        Between the cells of a CSV file (default: detected). ``tab`` means a tab, ``space`` any number of blanks.
    encoding : str, default "utf-8"
        Of CSV, JSON, ARFF, svmlight and Vowpal Wabbit. UTF-16 with a byte order mark, and Windows-1252 in the first
        lines, are detected.
    head : int, default 1000
        Rows of NDJSON whose keys are the columns. A key that is absent from a row is a missing value there; one that
        comes later is ignored.
    header : bool, optional
        Whether the first row of CSV has the names of the columns (default: detected). Without, they are 1, 2, 3 ….
    """
    MissingExtra.import_module("pyarrow", "files", "reading files")
    delimiter = _WORDS.get(delimiter, delimiter) if delimiter else delimiter
    if delimiter is not None and len(delimiter.encode()) != 1:
        raise InvalidInput(f"a delimiter must be one ASCII character, got {delimiter!r}")
    if str(given) == STANDARD_INPUT:
        return Source(STANDARD_INPUT, (), delimiter, encoding, head, header)
    path = Path(given)
    if path.is_dir():
        entries = list(path.iterdir())
        shown = [entry for entry in entries if entry.is_file() and not entry.name.startswith(".")]
        files = sorted(shown, key=lambda file: natural_order(file.name))
        if not files:
            raise DataUnavailable(f"the folder {path} holds no file")
        return Source(str(given), tuple(files), delimiter, encoding, head, header, left_out=len(entries) - len(files))
    if not path.exists():
        raise DataUnavailable(f"there is no file {path}")
    return Source(str(given), (path,), delimiter, encoding, head, header)


def natural_order(text: str) -> tuple[list[tuple[int, str]], str]:
    """A key by which names are sorted as people count: numbers in them by their value.

    Examples
    --------
    >>> sorted(["part-10", "part-2", "part-1"], key=natural_order)
    ['part-1', 'part-2', 'part-10']
    """
    parts = re.split(r"0*([0-9]+)", text)
    return [(len(part) if at % 2 else 0, part) for at, part in enumerate(parts)], text


def holds_text(path: Path) -> bool:
    """Whether the cells of a file, packed or not, have no types; `InvalidInput` where it holds nothing."""
    with path.open("rb") as file:
        try:
            head = next(tables_in(file, str(path), path)).stream.head
        except (EOFError, OSError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
            raise InvalidInput(f"{path} cannot be read to its end: {error}") from error
    if not head:
        raise InvalidInput(f"{path} is empty")
    return format_of(head) in ("csv", "ndjson", "json", "arff")


def declared_target(given: str, **options: Any) -> tuple[str | None, str | None]:
    """The column of labels where the first lines declare it, and else the one that is last by custom.

    Sparse formats have a column of labels. KEEL's ARFF and Orange's tables may name one. In ARFF and in tables without
    a header it is often the last.
    """
    try:
        source = open_source(given, **options)
        head = _head_of(source)
        encoding, _ = encoding_of(head, source.encoding)
        text = as_utf8(head, encoding)
        kind = format_of(text)
        if kind in ("svmlight", "vowpal-wabbit"):
            return sparse_rows.LABEL, None
        if kind == "arff":
            attributes = arff_rows.attributes_of(iter(text.decode(errors="replace").splitlines()), given)
            return next((attribute.name for attribute in attributes if attribute.is_output), None), attributes[-1].name
        if kind != "csv":
            return None, None
        known = LayoutOptions(source.delimiter, source.header)
        layout = layout_of(text.removeprefix(_BYTE_ORDER_MARK), given, known)
        return layout.target, None if layout.header else layout.names[-1]
    except (InvalidInput, DataUnavailable, EOFError, OSError, lzma.LZMAError, zlib.error, zipfile.BadZipFile):
        return None, None


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


def _head_of(source: Source) -> bytes:
    """The first lines of a file, of a pipe, or of the first file of a folder."""
    if not source.is_pipe:
        with source.files[0].open("rb") as file:
            return next(tables_in(file, source.given, source.files[0])).stream.head
    path = source.files[0] if source.files else None
    key = path or sys.stdin.buffer
    if key not in _LOOKED_AT:
        pipe = _opened_pipe(path)
        _LOOKED_AT[key] = pipe, next(tables_in(pipe, source.given)).stream
    return _LOOKED_AT[key][1].head


def _unpacked(stream: io.RawIOBase, packing: str) -> IO[bytes]:
    if packing == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=io.BufferedReader(stream, 1 << 20))  # type: ignore[return-value]
    if packing == "xz":
        return lzma.LZMAFile(io.BufferedReader(stream, 1 << 20))
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), packing)  # type: ignore[no-any-return]


def _other_columns(block: Block, columns: list[str]) -> str:
    theirs = block.table.column_names
    missing = [name for name in columns if name not in theirs]
    further = [name for name in theirs if name not in columns]
    differences = [f"lacks {', '.join(map(repr, missing))}"] if missing else []
    differences += [f"has {', '.join(map(repr, further))} besides"] if further else []
    return f"{block.file} {' and '.join(differences)}: all files must have the columns of the first"
