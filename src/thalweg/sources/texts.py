"""Values as text, by one rule, so that a value reads the same however its file was cut into blocks.

JSON has no types of columns: the same cell may come as a number in one block and, where a word stands in the same
column, as text in another.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

#: Beyond this, a float is no longer every whole number.
WHOLE = 2.0**53


def as_text(column: pa.Array | pa.ChunkedArray) -> Any:
    """A column as text: whole numbers without a point, truth values as ``true`` and ``false``, NaN as missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_text(pa.array([1.0, 2.5, None, float("nan")])).to_pylist(), as_text(pa.array([True])).to_pylist()
    (['1', '2.5', None, None], ['true'])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        written = pc.cast(column, pa.string())
        whole = pc.and_(pc.equal(pc.floor(column), column), pc.less(pc.abs(column), WHOLE))
        whole = pc.and_(whole, pc.not_equal(written, "-0"))  # which no whole number is
        texts = pc.if_else(whole, pc.cast(pc.cast(column, pa.int64(), safe=False), pa.string()), written)
        return pc.if_else(pc.is_nan(column), pa.scalar(None, pa.string()), texts)
    return column if pa.types.is_string(column.type) else pc.cast(column, pa.string())


def text_of(value: Any) -> str:
    """One value of JSON, as it would stand in a column of its own kind."""
    import pyarrow as pa

    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return str(as_text(pa.array([value], pa.float64()))[0])
    return json.dumps(value)
