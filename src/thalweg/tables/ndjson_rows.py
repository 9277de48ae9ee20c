"""JSON: one object a line (NDJSON), or one array of objects.

The first objects say which keys are columns; one missing later is a missing value.

A key that only later lines have is no column: which there are must be settled before the first row is learned. Blocks
name such keys. A column that mostly holds objects of numbers in the first lines is one of maps, and a row with anything
else there is bad.
"""

from __future__ import annotations

import codecs
import io
import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from thalweg.errors import InvalidInput
from thalweg.tables.cells import BadCell
from thalweg.tables.columns.map import entries_of
from thalweg.tables.rows import NAME_THE_ENCODING, WHOLE, BadRow, Block, text_of, utf8_pieces, whole_lines

if TYPE_CHECKING:
    import pyarrow as pa

#: Lines of a block after the first.
_LINES = 4096
#: Characters of an element of an array, at the most.
_LONGEST_ELEMENT = 1 << 26


def read(
    stream: io.RawIOBase,
    name: str,
    encoding: str,
    *,
    head: int,
    columns: Sequence[str] = (),
    maps: Collection[str] = (),
    as_it_comes: bool = False,
    array: bool = False,
) -> Iterator[Block]:
    """The objects of a file, some thousand lines at a time; of a pipe, as they come.

    With ``array`` they are the elements of one array, which may stretch over lines. Without ``columns`` they are the
    keys of the first ``head`` lines, which also say which hold maps.
    """
    settled = list(columns)
    first = 1
    pieces = utf8_pieces(stream, name, encoding, as_it_comes=as_it_comes)
    for lines in _lines(_elements(pieces, name) if array else whole_lines(pieces), 0 if settled else head):
        step = _LINES if settled else max(head, _LINES)
        for begin in range(0, len(lines), step):
            part = lines[begin : begin + step]
            try:
                block = _block([line.decode() for line in part], settled, maps, name, first)
            except UnicodeDecodeError as error:
                row = next(at for at, line in enumerate(part, first) if line.decode(errors="replace").encode() != line)
                raise InvalidInput(f"{name}, row {row:,}: it is not UTF-8: {error}; {NAME_THE_ENCODING}") from error
            if not settled:
                settled = block.table.column_names
                maps = maps_among(block.table)
            yield block
            first += len(part)


def _elements(pieces: Iterator[bytes], name: str) -> Iterator[list[bytes]]:
    """The objects of an array, each as its text; in pieces of bounded size, however long the array is."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    parse = json.JSONDecoder().raw_decode
    text, at, done = "", -1, 0
    for piece in itertools.chain(pieces, [b""]):
        try:
            text += decoder.decode(piece, not piece)
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{name} is not UTF-8 throughout: {error}; {NAME_THE_ENCODING}") from error
        elements: list[bytes] = []
        if at < 0:
            at = text.index("[") + 1
        while (at := _next_element(text, at)) < len(text) and text[at] != "]":
            try:
                _, end = parse(text, at)
            except ValueError as error:
                if piece and len(text) - at < _LONGEST_ELEMENT:
                    break  # the rest of it is still to come
                raise InvalidInput(f"{name}, row {done + len(elements) + 1:,}: it is not JSON: {error}") from error
            elements.append(text[at:end].encode(errors="surrogatepass"))
            at = end
        done += len(elements)
        yield elements
        if at < len(text) and text[at] == "]":
            return
        text, at = text[at:], 0
    raise InvalidInput(f"{name} is an array of JSON that is cut off after row {done:,}")


def _next_element(text: str, at: int) -> int:
    """Where the next object begins, behind blanks and commas."""
    while at < len(text) and text[at] in " \t\r\n,":
        at += 1
    return at


def _lines(parts: Iterator[list[bytes]], head: int) -> Iterator[list[bytes]]:
    """Whole lines, those of blanks left out: first as many as settle the columns, then as they come."""
    have: list[bytes] = []
    settled = head == 0
    for lines in parts:
        have += [line for line in lines if line.strip()]
        if not settled and len(have) >= head:
            yield have[:head]
            have, settled = have[head:], True
        if settled:
            yield have
            have = []
    yield have


def maps_among(table: pa.Table) -> list[str]:
    """The columns that hold maps."""
    import pyarrow.types as types

    return [field.name for field in table.schema if types.is_map(field.type)]


def _block(lines: Iterable[str], columns: list[str], maps: Collection[str], name: str, first: int) -> Block:
    import pyarrow as pa

    known = set(columns)
    ignored: dict[str, tuple[str, int]] = {}
    objects: dict[int, dict[str, Any]] = {}
    bad: list[BadRow] = []
    for number, line in enumerate(lines, first):
        try:
            value = json.loads(line)
        except ValueError as error:
            bad.append(BadRow(name, number, None, f"it is not JSON: {error}"))
            continue
        half = _half_character(value) if "\\u" in line and isinstance(value, dict) else None
        if half is not None:
            bad.append(BadRow(name, number, half, "the text holds half of a character, a lone surrogate"))
        elif isinstance(value, dict):
            objects[number] = value
            if columns and not known.issuperset(value):
                ignored |= {key: (name, number) for key in value if key not in known and key not in ignored}
        else:
            bad.append(BadRow(name, number, None, f"it must be an object, got {line.strip()[:40]}"))
    names = columns or list(dict.fromkeys(key for value in objects.values() for key in value))
    if not columns:
        maps = [key for key in names if _are_maps([value.get(key) for value in objects.values()])]
    for key in maps:
        bad += _take_entries(objects, key, name)
    rows = list(objects.values())
    table = {
        key: pa.array([value.get(key) for value in rows], pa.map_(pa.string(), pa.float64()))
        if key in maps
        else column_of([value.get(key) for value in rows])
        for key in names
    }
    return Block(pa.table(table), name, first, bad, ignored=ignored)


def _half_character(row: dict[str, Any]) -> str | None:
    """The key whose name or value holds a lone surrogate, which no file of text can hold."""
    for key, value in row.items():
        try:
            json.dumps([key, value], ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return key
    return None


def _are_maps(values: Sequence[Any]) -> bool:
    """Whether most values are objects of numbers."""
    present = [value for value in values if value is not None]
    if not any(type(value) is dict for value in present):
        return False
    return sum(_wrong_entries(value) is None for value in present) > len(present) / 2


def _wrong_entries(value: Any) -> str | None:
    try:
        entries_of(value)
    except BadCell as error:
        return error.what
    return None


def _take_entries(objects: dict[int, dict[str, Any]], key: str, name: str) -> Iterator[BadRow]:
    """Replace objects of numbers by their entries, and take out the rows with anything else."""
    for number, row in list(objects.items()):
        if row.get(key) is None:
            continue
        if wrong := _wrong_entries(row[key]):
            yield BadRow(name, number, key, wrong)
            del objects[number]
        else:
            row[key] = entries_of(row[key])


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
