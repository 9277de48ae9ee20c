"""Predictions as lines of CSV, or of JSON: an object for each row (NDJSON)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from thalweg.run.predictions import append_rows, header

#: Takes a column for each name, as arrays of NumPy or Arrow, or lists.
Write = Callable[[Sequence[Any]], None]

_NDJSON = (".ndjson", ".jsonl")
#: Columns whose texts are objects of JSON.
_OBJECTS = ("contributions",)


def is_ndjson(path: Path | None) -> bool:
    """Whether a file gets objects of JSON, by the end of its name.

    Examples
    --------
    >>> is_ndjson(Path("out.ndjson")), is_ndjson(Path("out.csv")), is_ndjson(None)
    (True, False, False)
    """
    return path is not None and path.suffix.lower() in _NDJSON


def lines_for(path: Path | None, names: Sequence[str], file: IO[bytes]) -> Write:
    """What writes rows of these columns to a file that is to have this name."""
    import pyarrow as pa

    if is_ndjson(path):
        return lambda columns: _append_objects(names, columns, file)
    file.write(header(names))
    return lambda columns: append_rows(pa.table(list(columns), names=list(names)), file)


def _append_objects(names: Sequence[str], columns: Sequence[Any], file: IO[bytes]) -> None:
    values = [_values(name, column) for name, column in zip(names, columns, strict=True)]
    lines = (
        json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, allow_nan=False)
        for row in zip(*values, strict=True)
    )
    file.write("".join(f"{line}\n" for line in lines).encode(errors="surrogatepass"))


def _values(name: str, column: Any) -> list[Any]:
    """Values as JSON has them; a number that is not known is null."""
    values = column.to_pylist() if hasattr(column, "to_pylist") else list(getattr(column, "tolist", lambda: column)())
    if name in _OBJECTS:
        return [json.loads(value) for value in values]
    return [None if isinstance(value, float) and value != value else value for value in values]
