"""Arrow's many types as the few that columns are read from: numbers, text, truth values, times, durations and maps.

Dictionaries give their values, extension types what they stand for: UUIDs and the intervals of pandas become text,
periods of pandas become times. What is left, such as lists, is learned from by nobody.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

_NAME, _SETTINGS = b"ARROW:extension:name", b"ARROW:extension:metadata"
_INTERVAL, _PERIOD = "pandas.interval", "pandas.period"
#: Frequencies of pandas as NumPy's units, and how many of these a period has.
_PERIODS = {"Y": ("Y", 1), "Q": ("M", 3), "M": ("M", 1), "D": ("D", 1), "h": ("h", 1), "min": ("m", 1), "s": ("s", 1)}


def categories_in(schema: pa.Schema) -> frozenset[str]:
    """The columns that are categories by their type, whatever their values look like."""
    import pyarrow as pa

    return frozenset(
        field.name for field in schema if pa.types.is_dictionary(field.type) or _extension(field)[0] == _INTERVAL
    )


def is_learnable(kind: pa.DataType) -> bool:
    """Whether values of a plain type can be features or targets; maps, which are nested, are seen to elsewhere."""
    import pyarrow as pa

    return not (pa.types.is_nested(kind) or pa.types.is_interval(kind) or "binary" in str(kind))


def plain(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """A column by its plain values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> codes = pa.chunked_array([pa.array([7, None, 8]).dictionary_encode()])
    >>> plain(codes, pa.field("code", codes.type)).to_pylist()
    [7, None, 8]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        decoded = [chunk.dictionary_decode() for chunk in column.chunks]
        return plain(pa.chunked_array(decoded, kind.value_type), pa.field(field.name, kind.value_type))
    name, settings = _extension(field)
    if isinstance(kind, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)
    stored = column.type
    if name == "arrow.uuid" and stored == pa.binary(16):
        return _as_text(column, lambda value: str(uuid.UUID(bytes=value)))
    if name == _INTERVAL and pa.types.is_struct(stored) and {field.name for field in stored} == {"left", "right"}:
        left = "[" if settings.get("closed") in ("left", "both") else "("
        right = "]" if settings.get("closed") in ("right", "both") else ")"
        return _as_text(column, lambda value: f"{left}{value['left']}, {value['right']}{right}")
    unit = _PERIODS.get(str(settings.get("freq")).split("-")[0])
    if name == _PERIOD and stored == pa.int64() and unit is not None:
        times = (np.asarray(pc.fill_null(column, 0)) * unit[1]).astype(f"datetime64[{unit[0]}]")
        return pa.chunked_array([pa.array(times.astype("datetime64[s]"), mask=np.asarray(column.is_null()))])
    if name == "arrow.bool8" and stored == pa.int8():
        return column.cast(pa.bool_())
    if name:
        return plain(column, pa.field(field.name, column.type))
    if pa.types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(column), pa.field(field.name, kind.value_type))
    if kind == pa.string_view():
        return column.cast(pa.large_string())
    if kind == pa.binary_view():
        return column.cast(pa.large_binary())
    return column.cast(pa.float32()) if pa.types.is_float16(kind) else column


def _extension(field: pa.Field) -> tuple[str, dict[str, Any]]:
    """The name and the settings of an extension type, be it known to Arrow or not; an empty name for no such type."""
    import pyarrow as pa

    metadata, is_extension = field.metadata or {}, isinstance(field.type, pa.BaseExtensionType)
    if not metadata and not is_extension:
        return "", {}
    name, content = metadata.get(_NAME, b"").decode(errors="replace"), metadata.get(_SETTINGS, b"")
    if is_extension:
        name = str(field.type.extension_name)
        content = field.type.__arrow_ext_serialize__() if isinstance(field.type, pa.ExtensionType) else b""
    try:
        settings = json.loads(content)
    except ValueError:
        settings = None
    return name, settings if isinstance(settings, dict) else {}


def _as_text(column: pa.ChunkedArray, written: Callable[[Any], str]) -> pa.ChunkedArray:
    import pyarrow as pa

    cells = [None if value is None else written(value) for value in column.to_pylist()]
    return pa.chunked_array([pa.array(cells, pa.string())])
