"""NDJSON: one JSON object a line. The first lines say which keys are columns; one missing later is a missing value.

A key that only later lines have is no column: which there are must be settled before the first row is learned. Blocks
name such keys.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from thalweg.errors import InvalidInput
from thalweg.tables.rows import WHOLE, BadRow, Block, text_of, utf8_pieces, whole_lines

#: Lines of a block after the first.
_LINES = 4096


def read(
    stream: io.RawIOBase,
    name: str,
    encoding: str,
    *,
    head: int,
    columns: Sequence[str] = (),
    as_it_comes: bool = False,
) -> Iterator[Block]:
    """The objects of a file, some thousand lines at a time; of a pipe, as they come.

    Without ``columns`` they are the keys of the first ``head`` lines.
    """
    settled = list(columns)
    first = 1
    for lines in _lines(utf8_pieces(stream, name, encoding, as_it_comes=as_it_comes), 0 if settled else head):
        step = _LINES if settled else max(head, _LINES)
        for begin in range(0, len(lines), step):
            part = lines[begin : begin + step]
            try:
                block = _block([line.decode() for line in part], settled, name, first)
            except UnicodeDecodeError as error:
                raise InvalidInput(f"{name} is not UTF-8 throughout, near row {first:,}: {error}") from error
            settled = settled or block.table.column_names
            yield block
            first += len(part)


def _lines(pieces: Iterator[bytes], head: int) -> Iterator[list[bytes]]:
    """Whole lines, those of blanks left out: first as many as settle the columns, then as they come."""
    have: list[bytes] = []
    settled = head == 0
    for lines in whole_lines(pieces):
        have += [line for line in lines if line.strip()]
        if not settled and len(have) >= head:
            yield have[:head]
            have, settled = have[head:], True
        if settled:
            yield have
            have = []
    yield have


def _block(lines: Iterable[str], columns: list[str], name: str, first: int) -> Block:
    import pyarrow as pa

    known = set(columns)
    ignored: dict[str, tuple[str, int]] = {}
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
            if columns and not known.issuperset(value):
                ignored |= {key: (name, number) for key in value if key not in known and key not in ignored}
        else:
            bad.append(BadRow(name, number, None, f"it must be an object, got {line.strip()[:40]}"))
    names = columns or list(dict.fromkeys(key for value in objects for key in value))
    table = {key: column_of([value.get(key) for value in objects]) for key in names}
    return Block(pa.table(table), name, first, bad, ignored=ignored)


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
