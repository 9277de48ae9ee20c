"""Rows and labels as request bodies: JSON for dictionaries, Arrow for tables and arrays, in batches of bounded size."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from importlib import import_module
from typing import Any, TypeVar

import msgspec

from thalweg.client.protocol import (
    ARROW,
    DEFAULT_MODEL,
    JSON,
    Costs,
    LabelRequest,
    PredictRequest,
    RequestBody,
    RowLabel,
)
from thalweg.errors import InvalidInput, InvalidParameter, MissingExtra

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Batch:
    media: str
    content: bytes


def as_body(given: RequestBody) -> bytes:
    """JSON, with NumPy's numbers as numbers, times as ISO 8601 and the indices of maps as text.

    The standard library writes it: msgspec would write null for a number that is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> as_body(PredictRequest(row={"a": np.float64(0.5), "at": date(2026, 1, 2)}))
    b'{"row":{"a":0.5,"at":"2026-01-02"}}'
    >>> as_body(PredictRequest(row={"words": {np.int64(3): 0.5}}))
    b'{"row":{"words":{"3":0.5}}}'
    """
    values = ((field.name, getattr(given, field.name), field.default) for field in msgspec.structs.fields(given))
    fields = {name: value for name, value, default in values if value != default}
    try:
        try:
            return _as_json(fields)
        except TypeError:  # for a key: those of maps may be NumPy's integers
            return _as_json(_with_plain_keys(fields))
    except InvalidInput:
        raise
    except ValueError:  # infinite, or not a number
        raise InvalidInput(
            "rows and labels must hold finite numbers; leave a missing value out, or give None"
        ) from None


def _as_json(fields: Any) -> bytes:
    return json.dumps(fields, default=_plain, allow_nan=False, separators=(",", ":")).encode()


def _with_plain_keys(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_plain_keys(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    keys = [key.item() if hasattr(key, "item") else key for key in value]
    if strange := [key for key in keys if not isinstance(key, str | int)]:
        raise InvalidInput(f"columns must have names, and the entries of a map names or indices, got {strange[0]!r}")
    return {key: _with_plain_keys(item) for key, item in zip(keys, value.values(), strict=True)}


def _plain(value: Any) -> Any:
    if isinstance(value, RowLabel):
        return {"id": value.id, "label": value.label}
    if isinstance(value, Costs):
        return {"fp": value.fp, "fn": value.fn}
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "item"):
        return value.item()
    raise InvalidInput(f"rows must hold numbers, words, truth values, times and maps of numbers, got {value!r}")


def rows_in_batches(rows: Any, columns: Sequence[str] | None, most: int, model: str | None) -> Iterator[Batch]:
    """The bodies of as many requests as the rows need, at most ``most`` rows in each.

    ``rows`` are a mapping, a sequence of them, a pandas, polars or Arrow table, or a two-dimensional array, whose
    columns ``columns`` names. ``model`` is written into JSON bodies; with Arrow it stands in the address.
    """
    if isinstance(rows, Mapping):
        rows = [rows]
    table = as_table(rows, columns)
    if table is not None:
        yield from _arrow_batches(table, most)
        return
    if not all(isinstance(row, Mapping) for row in rows):
        raise InvalidInput("rows must be dictionaries by column, a table, or an array with columns=")
    for part in _parts(list(rows), most):
        yield Batch(JSON, as_body(PredictRequest(rows=part, model=model or DEFAULT_MODEL)))


def labels_in_batches(labels: Any, values: Any, most: int, model: str | None, revise: bool) -> Iterator[Batch]:
    """The bodies of as many requests as the labels need, at most ``most`` labels in each.

    ``labels`` are an id, labels by id, a table with columns id and label, or ids whose labels are ``values``. ``model``
    and ``revise`` are written into JSON bodies, as in `rows_in_batches`.
    """
    if isinstance(labels, str):
        labels = {labels: values}
    elif values is not None:
        if len(labels) != len(values):
            raise InvalidInput(f"there must be a label for each id, got {len(values)} labels for {len(labels)} ids")
        if _is_array(labels) or _is_array(values):
            labels = _pyarrow().table({"id": labels, "label": values})
        else:
            labels = dict(zip(labels, values, strict=True))
    if isinstance(labels, Mapping):
        pairs = [RowLabel(row, label) for row, label in labels.items()]
        for part in _parts(pairs, most):
            yield Batch(JSON, as_body(LabelRequest(part, model or DEFAULT_MODEL, revise)))
        return
    table = as_table(labels, None)
    if table is None or not {"id", "label"} <= set(table.column_names):
        raise InvalidInput("labels must be an id and its label, labels by id, or a table with columns id and label")
    yield from _arrow_batches(table.select(["id", "label"]), most)


def as_table(rows: Any, columns: Sequence[str] | None) -> Any:
    """An Arrow table of a table or an array; None where it is neither."""
    if hasattr(rows, "__arrow_c_stream__"):
        return _pyarrow().table(rows)
    if not _is_array(rows):
        return None
    if columns is None or rows.ndim != 2 or len(columns) != rows.shape[1]:
        rule = "name each column where rows are an array"
        raise InvalidParameter.of("predict", "columns", rule, columns)
    return _pyarrow().table(dict(zip(columns, rows.T, strict=True)))


def _is_array(values: Any) -> bool:
    return (hasattr(values, "__array__") and hasattr(values, "ndim")) or hasattr(values, "__arrow_c_stream__")


def _parts(items: list[T], most: int) -> Iterator[list[T]]:
    return (items[start : start + most] for start in range(0, len(items), most))


def _arrow_batches(table: Any, most: int) -> Iterator[Batch]:
    pa = _pyarrow()
    for start in range(0, len(table), most):
        part, sink = table.slice(start, most), pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, part.schema) as writer:
            writer.write_table(part)
        yield Batch(ARROW, sink.getvalue().to_pybytes())


def arrow_columns(content: bytes) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """Columns of an Arrow stream as lists by name, and what its schema says besides."""
    table = _pyarrow().ipc.open_stream(content).read_all()
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    return table.to_pydict(), metadata


def _pyarrow() -> Any:
    pa = MissingExtra.import_module("pyarrow", "files", "sending tables and arrays")
    import_module("pyarrow.ipc")
    return pa
