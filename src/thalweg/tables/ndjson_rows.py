"""NDJSON: one JSON object a line. The first thousand say which keys are columns; one missing later is a missing value.

A key that only later lines have is no column: which there are must be settled before the first row is learned.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

from thalweg.errors import InvalidInput
from thalweg.tables.rows import WHOLE, BadRow, Block, text_of, utf8_pieces

#: Lines that say which keys are columns, and lines of a block after them.
_FIRST_LINES, _LINES = 1000, 4096


def read(stream: io.RawIOBase, name: str, encoding: str, *, as_it_comes: bool = False) -> Iterator[Block]:
    """The objects of a file, some thousand lines at a time; of a pipe, as they come."""
    columns: list[str] = []
    first = 1
    for lines in _lines(utf8_pieces(stream, name, encoding, as_it_comes=as_it_comes)):
        for begin in range(0, len(lines), _LINES):
            part = lines[begin : begin + _LINES]
            try:
                block = _block([line.decode() for line in part], columns, name, first)
            except UnicodeDecodeError as error:
                raise InvalidInput(f"{name} is not UTF-8 throughout, near row {first:,}: {error}") from error
            if not columns:
                columns = block.table.column_names
            yield block
            first += len(part)


def _lines(pieces: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Whole lines, those of blanks left out: first as many as settle the columns, then as they come."""
    rest = b""
    have: list[bytes] = []
    settled = False
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        have += [line for line in whole if line.strip()]
        if not settled and len(have) >= _FIRST_LINES:
            yield have[:_FIRST_LINES]
            have, settled = have[_FIRST_LINES:], True
        if settled:
            yield have
            have = []
    yield have + [rest] * bool(rest.strip())


def _block(lines: Iterable[str], columns: list[str], name: str, first: int) -> Block:
    import pyarrow as pa

    objects: list[dict[str, Any]] = []
    bad: list[BadRow] = []
    for number, line in enumerate(lines, first):
        try:
            value = json.loads(line)
        except ValueError as error:
            bad.append(BadRow(name, number, None, f"it is not JSON: {error}"))
            continue
        if isinstance(value, dict):
            objects.append(value)
        else:
            bad.append(BadRow(name, number, None, f"it must be an object, got {line.strip()[:40]}"))
    names = columns or list(dict.fromkeys(key for value in objects for key in value))
    table = {key: column_of([value.get(key) for value in objects]) for key in names}
    return Block(pa.table(table), name, first, bad)


def column_of(values: list[Any]) -> Any:
    """Numbers where all are numbers and keep all their digits, else text: the plan decides what it means."""
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    largest = max((abs(value) for value in values if type(value) is int), default=0)
    if kinds <= {int} and largest < 2**63:
        return pa.array(values)
    if kinds <= {int, float} and largest < WHOLE:
        return pa.array([None if value is None else float(value) for value in values], type=pa.float64())
    if kinds == {bool} or kinds == {str}:
        return pa.array(values)
    return pa.array([None if value is None or value != value else text_of(value) for value in values], pa.string())
