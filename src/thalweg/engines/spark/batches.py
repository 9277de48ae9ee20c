"""Record batches of Arrow, put together, taken apart, and kept as bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from thalweg.engines.spark.packing import FEATURES, opened
from thalweg.frames.frame import Floats


def concatenated(parts: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """All rows, in order, of batches that may have none."""
    filled = [part for part in parts if part.num_rows]
    return filled[0] if len(filled) == 1 else pa.concat_batches([_empty(schema), *filled])


def opened_or_empty(cell: bytes, schema: pa.Schema) -> pa.RecordBatch:
    """Back from `kept`."""
    return opened(cell, schema) if cell else _empty(schema)


def kept(batch: pa.RecordBatch) -> bytes:
    """A batch as bytes without its schema; none where it has no rows."""
    return bytes(batch.serialize()) if batch.num_rows else b""


def features_of(batch: pa.RecordBatch) -> Floats:
    """The features in rows."""
    lists = batch.column(FEATURES)
    values: Floats = lists.flatten().to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(values.reshape(len(batch), lists.type.list_size))


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], type=field.type) for field in schema], schema=schema)
