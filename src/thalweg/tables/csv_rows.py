"""CSV: all cells as text, so that a wrong one can be named; what they mean is decided by the columns' plan.

The bytes are cut into blocks of whole rows here and each is parsed by itself: nothing is read ahead, so a pipe is
predicted as soon as a block is there, and no other thread reads a stream that is no longer wanted.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from thalweg.errors import InvalidInput
from thalweg.tables.layout import BLANKS, OPEN, cells_of, leaves_open, rows_of, with_tabs
from thalweg.tables.rows import NAME_THE_ENCODING, BadRow, Block, Layout, is_utf8, utf8_pieces

_LONGEST_ROW = 1 << 28


def read(
    stream: io.RawIOBase, name: str, layout: Layout, encoding: str, *, as_it_comes: bool = False
) -> Iterator[Block]:
    """The rows of a CSV file, block by block: large ones, or whatever a pipe has to give."""
    header, delimiter = list(layout.names), layout.delimiter
    first = 1
    pieces = _below(utf8_pieces(stream, name, encoding, as_it_comes=as_it_comes), layout.above)
    for content, is_closed in _whole_rows(pieces, name):
        if not is_closed and leaves_open(content.partition(b"\n")[0], delimiter):
            # up to the end of the file: all rows after it would be one cell
            _, _, content = content.partition(b"\n")
            empty = _table(b"", header, delimiter, name, first)[0]
            yield Block(empty, name, first, [BadRow(name, first, None, OPEN)], nominal=layout.nominal, layout=layout)
            first += 1
        if content.strip():
            block = replace(_parse(content, header, name, delimiter, first), nominal=layout.nominal, layout=layout)
            yield block
            first += len(block.table) + len(block.bad)


def _below(pieces: Iterator[bytes], above: int) -> Iterator[bytes]:
    """The pieces without the first bytes."""
    for piece in pieces:
        if above < len(piece):
            yield piece[above:]
        above = max(0, above - len(piece))


def _whole_rows(parts: Iterator[bytes], name: str) -> Iterator[tuple[bytes, bool]]:
    """The bytes in pieces that end with a row; a line feed between quotes does not end one.

    With each whether its quotes are closed. Those of the last may not be, and its first line opens one then.
    """
    rest: list[bytes] = []
    quoted = False
    for part in parts:
        cut = _end_of_last_row(part, quoted)
        if cut:
            yield b"".join([*rest, part[:cut]]), True
            rest, quoted = [], False
        rest.append(part[cut:])
        quoted ^= rest[-1].count(b'"') % 2 == 1
        if sum(map(len, rest)) > _LONGEST_ROW:
            raise InvalidInput(f"{name} has a row of more than {_LONGEST_ROW:,} bytes: is a quotation mark left open?")
    if any(rest):
        yield b"".join(rest), not quoted


def _end_of_last_row(content: bytes, quoted: bool) -> int:
    """Where the last row ends, given whether the first byte stands between quotes."""
    cut = content.rfind(b"\n") + 1
    quotes = content.count(b'"', 0, cut) + quoted
    while cut and quotes % 2:  # inside of quotes: go back a line
        before = content.rfind(b"\n", 0, cut - 1) + 1
        quotes -= content.count(b'"', before, cut)
        cut = before
    return cut


def _parse(content: bytes, header: list[str], name: str, delimiter: str, first: int) -> Block:
    """The rows of a piece; those that are ragged or not UTF-8 are bad."""
    unread: list[BadRow] = []
    if not is_utf8(content):  # the parser would give up on all rows for one such byte
        content, unread = _without_other_encodings(content, header, name, delimiter, first)
    others = [bad.row - place for place, bad in enumerate(unread)]
    table, ragged = _table(content, header, delimiter, name, first)
    for row, cells in ragged:
        number = first + row  # counted without those taken out before it
        unread.append(BadRow(name, number + bisect_right(others, number), None, _ragged(cells, header)))
    return Block(table, name, first, sorted(unread, key=lambda bad: bad.row))


def _table(
    content: bytes, header: list[str], delimiter: str, name: str, first: int
) -> tuple[Any, list[tuple[int, int]]]:
    """All rows of as many cells as the header, and the places of the others with the number of theirs."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    ragged: list[tuple[int, int]] = []

    def skip(row: Any) -> str:
        ragged.append((row.number - 1, row.actual_columns))
        return "skip"

    schema = pa.schema([(column, pa.string()) for column in header])
    if not content.strip():
        return schema.empty_table(), ragged
    if delimiter == BLANKS:
        content, delimiter = with_tabs(content), "\t"
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(content),
            read_options=arrow_csv.ReadOptions(use_threads=False, column_names=header, block_size=len(content) + 1),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=b'"' in content, invalid_row_handler=skip
            ),
            convert_options=arrow_csv.ConvertOptions(column_types=schema, strings_can_be_null=False),
        )
    except pa.ArrowInvalid as error:
        raise InvalidInput(f"{name}, from row {first:,} on, cannot be read as CSV: {error}") from error
    return table, ragged


def _without_other_encodings(
    content: bytes, header: list[str], name: str, delimiter: str, first: int
) -> tuple[bytes, list[BadRow]]:
    """The rows that are UTF-8, and what is wrong with the others."""
    kept: list[bytes] = []
    bad: list[BadRow] = []
    number = first
    for row in rows_of(content):
        if not row.strip():
            continue
        try:
            row.decode()
            kept.append(row)
        except UnicodeDecodeError as error:
            text = row.decode(errors="surrogateescape")
            before = row[: error.start].decode(errors="surrogateescape")
            cells = len(cells_of(text, delimiter))
            column = header[min(len(cells_of(f"{before}?", delimiter)), len(header)) - 1]
            byte = f"the byte {row[error.start]:#x} is not UTF-8; {NAME_THE_ENCODING}"
            fits = cells == len(header)
            bad.append(BadRow(name, number, column if fits else None, byte if fits else _ragged(cells, header)))
        number += 1
    return b"".join(kept), bad


def _ragged(cells: int, header: list[str]) -> str:
    return f"it has {cells} cell{'s' if cells != 1 else ''}, the header {len(header)}"
