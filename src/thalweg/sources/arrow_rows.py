"""Parquet and Arrow: columns with types, read a piece at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from thalweg.errors import InvalidInput
from thalweg.sources.block import Block
from thalweg.sources.sniff import Format

_ROWS = 1 << 16


def read(path: Path | None, stream: io.RawIOBase, name: str, kind: Format) -> Iterator[Block]:
    """The rows of a file; Parquet and Arrow's file format begin at their end, so they cannot come through a pipe."""
    import pyarrow as pa

    if kind != "arrow-stream" and path is None:
        raise InvalidInput(f"{name} is a {kind} file, which cannot come through a pipe: name the file itself")
    try:
        first = 1
        for batch in _batches(path, stream, kind):
            yield Block(pa.Table.from_batches([batch]), name, first, typed=True)
            first += len(batch)
    except (pa.ArrowInvalid, OSError) as error:
        raise InvalidInput(f"{name} cannot be read as {kind}: {error}") from error


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
        with pa.ipc.open_stream(pa.PythonFile(stream, mode="r")) as reader:
            yield from reader
