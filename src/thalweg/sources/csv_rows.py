"""CSV: all cells as text, so that a wrong one can be named; what they mean is decided by the columns' plan."""

from __future__ import annotations

import io
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

from thalweg.errors import InvalidInput
from thalweg.sources.block import BadRow, Block

_BLOCK_BYTES = 1 << 22


def read(stream: io.RawIOBase, head: bytes, name: str, delimiter: str, encoding: str) -> Iterator[Block]:
    """The rows of a CSV file with a header, block by block."""
    import pyarrow as pa
    from pyarrow import csv

    header = _header(head, name, delimiter, encoding)
    bad: list[BadRow] = []

    def skip(row: Any) -> str:
        cells = f"{row.actual_columns} cell{'s' if row.actual_columns != 1 else ''}"
        number = -1 if row.number is None else row.number - 1
        bad.append(BadRow(name, number, None, f"it has {cells}, the header {row.expected_columns}"))
        return "skip"

    try:
        reader = csv.open_csv(
            stream,
            read_options=csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES, encoding=encoding),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=b'"' in head, invalid_row_handler=skip
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False, check_utf8=True
            ),
        )
        first = 1
        for batch in _batches(reader):
            ours, bad[:] = list(bad), []
            yield Block(pa.Table.from_batches([batch]), name, first, ours)
            first += len(batch) + len(ours)
        if bad:
            yield Block(reader.schema.empty_table(), name, first, list(bad))
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise InvalidInput(_explained(error, name, encoding)) from error


def _batches(reader: Any) -> Iterator[Any]:
    for _ in itertools.count():
        try:
            yield reader.read_next_batch()
        except StopIteration:
            return


def _header(head: bytes, name: str, delimiter: str, encoding: str) -> list[str]:
    import csv

    if not head.strip():
        raise InvalidInput(f"{name} is empty")
    try:
        text = head.decode("utf-8-sig" if encoding == "utf-8" else encoding, errors="ignore")
    except LookupError as error:
        raise InvalidInput(f"there is no encoding {encoding!r}") from error
    names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    twice = [column for column, count in Counter(names).items() if count > 1]
    if twice:
        raise InvalidInput(
            f"{name}: the column name {twice[0]!r} stands {Counter(names)[twice[0]]} times in the header"
        )
    return names


def _explained(error: Exception, name: str, encoding: str) -> str:
    text = str(error)
    if isinstance(error, UnicodeDecodeError) or "UTF8" in text or "UTF-8" in text:
        return f"{name} is not {encoding.upper()} throughout: name its encoding, as in --encoding latin-1 ({text})"
    return f"{name} cannot be read as CSV: {text}"
