"""CSV: all cells as text, so that a wrong one can be named; what they mean is decided by the columns' plan.

The bytes are cut into blocks of whole rows here and each is parsed by itself: nothing is read ahead, so a pipe is
answered as soon as a block is there, and no other thread reads a stream that is no longer wanted.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from typing import Any

from thalweg.errors import InvalidInput
from thalweg.sources.block import BadRow, Block
from thalweg.sources.pieces import utf8_pieces

_LONGEST_ROW = 1 << 28
_NAME_IT = "name the encoding, as in --encoding latin-1"


def read(
    stream: io.RawIOBase, name: str, delimiter: str, encoding: str, *, as_it_comes: bool = False
) -> Iterator[Block]:
    """The rows of a CSV file with a header, block by block: large ones, or whatever a pipe has to give."""
    header: list[str] | None = None
    first = 1
    for content in _whole_rows(utf8_pieces(stream, name, encoding, as_it_comes=as_it_comes), name):
        if header is None:
            header, content = _header(content, name, delimiter)
        if content.strip():
            block = _parse(content, header, name, delimiter, first)
            yield block
            first += len(block.table) + len(block.bad)
    if header is None:
        raise InvalidInput(f"{name} is empty")


def _whole_rows(parts: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The bytes in pieces that end with a row; a line feed between quotes does not end one."""
    rest = b""
    for part in parts:
        content = rest + part
        cut = _end_of_last_row(content)
        if cut == 0 and len(content) > _LONGEST_ROW:
            raise InvalidInput(f"{name} has a row of more than {_LONGEST_ROW:,} bytes: is a quotation mark left open?")
        if cut:
            yield content[:cut]
        rest = content[cut:]
    if rest:
        yield rest


def _end_of_last_row(content: bytes) -> int:
    cut = content.rfind(b"\n") + 1
    quotes = content.count(b'"', 0, cut)
    while cut and quotes % 2:  # inside of quotes: go back a line
        before = content.rfind(b"\n", 0, cut - 1) + 1
        quotes -= content.count(b'"', before, cut)
        cut = before
    return cut


def _header(content: bytes, name: str, delimiter: str) -> tuple[list[str], bytes]:
    """The names of the columns, and what follows them."""
    text = content.decode(errors="surrogateescape")
    lines = io.StringIO(text, newline="")
    names: list[str] = []
    while not names:
        line = lines.readline()
        while line.count('"') % 2 and (more := lines.readline()):
            line += more
        if not line:
            raise InvalidInput(f"{name} is empty")
        names = next(csv.reader([line], delimiter=delimiter), []) if line.strip() else []
    for column, times in Counter(names).items():
        if not column.isprintable() and any("\udc80" <= sign <= "\udcff" for sign in column):
            raise InvalidInput(f"{name}: a column name in the header is not UTF-8; {_NAME_IT}")
        if times > 1:
            raise InvalidInput(f"{name}: the column name {column!r} stands more than once in the header")
    return names, content[len(text[: lines.tell()].encode(errors="surrogateescape")) :]


def _parse(content: bytes, header: list[str], name: str, delimiter: str, first: int) -> Block:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    bad: list[BadRow] = []

    def skip(row: Any) -> str:
        cells = f"{row.actual_columns} cell{'s' if row.actual_columns != 1 else ''}"
        what = f"it has {cells}, the header {row.expected_columns}"
        bad.append(BadRow(name, first + row.number - 1, None, what))
        return "skip"

    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(content),
            read_options=arrow_csv.ReadOptions(use_threads=False, column_names=header, block_size=len(content) + 1),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=b'"' in content, invalid_row_handler=skip
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        raise InvalidInput(_explained(content, header, name, delimiter, first, str(error))) from error
    return Block(table, name, first, bad)


def _explained(content: bytes, header: list[str], name: str, delimiter: str, first: int, said: str) -> str:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        before = io.StringIO(content[: error.start].decode() + "?", newline="")
        rows = [row for row in csv.reader(before, delimiter=delimiter) if row]
        column = header[min(len(rows[-1]), len(header)) - 1]
        what = f"the byte {content[error.start]:#x} is not UTF-8; {_NAME_IT}"
        return str(BadRow(name, first + len(rows) - 1, column, what))
    return f"{name}, from row {first:,} on, cannot be read as CSV: {said}"
