"""Which columns of a Spark table a model reads, the types of labels in Spark, Arrow and NumPy, and durations as
users write them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import is_regressor

from thalweg.errors import InvalidInput, InvalidParameter

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean")
_WHOLE = ("tinyint", "smallint", "int", "bigint")


@dataclass(frozen=True)
class ValueType:
    """Labels, numbers to predict, keys or ids: the same in Spark, in Arrow and in NumPy."""

    spark: str
    arrow: pa.DataType
    numpy: Any

    def array(self, column: pa.Array) -> NDArray[Any]:
        """A column as an array; where it is null stands the zero of the type."""
        if self.spark == "string":
            filled = column.fill_null("") if column.null_count else column
            return np.array(filled.to_pylist(), dtype=np.str_)
        filled = column.fill_null(False if self.spark == "boolean" else 0) if column.null_count else column
        values: NDArray[Any] = filled.to_numpy(zero_copy_only=False)
        return values


TEXT = ValueType("string", pa.string(), np.str_)
WHOLE = ValueType("bigint", pa.int64(), np.int64)
TRUTH = ValueType("boolean", pa.bool_(), np.bool_)
REAL = ValueType("double", pa.float64(), np.float64)
#: By the kind of a classifier's labels.
OF_LABELS = {"U": TEXT, "i": WHOLE, "b": TRUTH, "f": REAL}


def type_of(df: DataFrame, name: str, owner: str, *, numbers: bool = True) -> ValueType:
    """What a column of labels, keys or ids holds; `InvalidInput` where it is something else."""
    kind = _types(df)[require_column(df, name, owner)]
    if kind in _WHOLE:
        return WHOLE
    if kind == "string" or kind.startswith(("varchar", "char")):
        return TEXT
    if numbers and kind == "boolean":
        return TRUTH
    if numbers and (kind in ("float", "double") or kind.startswith("decimal")):
        return REAL
    kinds = "whole numbers, text, booleans or numbers" if numbers else "whole numbers or text"
    raise InvalidInput(f"{owner}: column {name!r} must hold {kinds}, got {kind}")


def require_table(df: Any, owner: str, *, streaming: bool) -> None:
    """A table of Spark, and a stream where one is needed."""
    from pyspark.sql import DataFrame

    if not isinstance(df, DataFrame):
        raise InvalidParameter.of(owner, "df", "be a DataFrame of Spark", type(df))
    if df.isStreaming != streaming:
        wanted = "a stream, as readStream gives it" if streaming else "a table, not a stream"
        raise InvalidInput(f"{owner}: df must be {wanted}")


def target_type(df: DataFrame, name: str, model: Any, owner: str) -> ValueType:
    """What a column of labels holds: numbers for a regressor."""
    kind = type_of(df, name, owner)
    if is_regressor(model):
        if kind is TEXT:
            raise InvalidInput(f"{owner}: column {name!r} must hold numbers to be predicted by a regressor, got text")
        return REAL
    return kind


def require_column(df: DataFrame, name: str, owner: str) -> str:
    """The name of a column that is there; `InvalidInput` lists those that are."""
    if name not in df.columns:
        raise InvalidInput.of_column(f"{owner}: the table", name, df.columns)
    return name


def with_times(df: DataFrame, name: str, owner: str) -> DataFrame:
    """The table with its times as timestamps or whole numbers; `InvalidInput` where they are something else."""
    kind = _types(df)[require_column(df, name, owner)]
    if kind in ("timestamp_ntz", "date"):
        return df.withColumn(name, column(df, name).cast("timestamp"))
    if kind not in ("timestamp", *_WHOLE):
        raise InvalidInput(f"{owner}: column {name!r} must hold timestamps, dates or whole numbers, got {kind}")
    return df


def column(df: DataFrame, name: str) -> Column:
    """A column by its name, whatever signs that has: to Spark a dot is a field of a column."""
    return df[quoted(name)]


def quoted(name: str) -> str:
    """A name as Spark's expressions take it.

    Examples
    --------
    >>> quoted("x.a")
    '`x.a`'
    """
    doubled = name.replace("`", "``")
    return f"`{doubled}`"


def feature_columns(
    df: DataFrame, model: Any, columns: Sequence[str] | None, owner: str, besides: Collection[str | None] = ()
) -> list[str]:
    """The features in their order: those asked for, or those that the model knows, or all numbers but ``besides``."""
    if isinstance(columns, str):
        raise InvalidParameter.of(owner, "columns", "be a sequence of names", columns)
    known = getattr(model, "feature_names_in_", None)
    if columns is None and known is not None:
        columns = [str(name) for name in known]
    types = _types(df)
    if columns is None:
        columns = [name for name in df.columns if name not in besides and types[name] in _NUMBERS]
    for name in columns:
        kind = types[require_column(df, name, owner)]
        if kind not in _NUMBERS and not kind.startswith("decimal"):
            raise InvalidInput(f"{owner}: column {name!r} must hold numbers to be a feature, got {kind}")
    width = getattr(model, "n_features_in_", None)
    if not columns or (width is not None and len(columns) != width):
        wanted = "at least one feature" if width is None else f"the {width} features the model has learned"
        raise InvalidInput(f"{owner}: columns must name {wanted}, got {list(columns)}")
    return list(columns)


def _types(df: DataFrame) -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in df.schema.fields}


_UNITS = ("milliseconds", "seconds", "minutes", "hours", "days", "weeks")


def as_span(value: str | timedelta, owner: str, parameter: str) -> timedelta:
    """A span that is not negative: a timedelta, or words such as ``"90 minutes"``.

    Examples
    --------
    >>> as_span("1 hour", "learn_stream", "wait")
    datetime.timedelta(seconds=3600)
    """
    span = value if isinstance(value, timedelta) else _from_words(value)
    if span is None or span < timedelta(0):
        rule = f"be a timedelta or words such as '2 hours', in {', '.join(_UNITS)}"
        raise InvalidParameter.of(owner, parameter, rule, value)
    return span


def _from_words(words: object) -> timedelta | None:
    number, _, unit = str(words).strip().partition(" ")
    unit = unit.strip().removesuffix("s") + "s"
    try:
        return timedelta(**{unit: float(number)}) if unit in _UNITS else None
    except (ValueError, OverflowError):
        return None


def microseconds(span: timedelta) -> int:
    return span // timedelta(microseconds=1)
