"""One model from all partitions at once: each adds up its own rows, and the sums are added in a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sklearn.base import is_classifier, is_regressor

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.frames.arrow_frame import ArrowFrame
from thalweg.frames.frame import NamedRows
from thalweg.part import Part, merge
from thalweg.spark.columns import ValueType, column, feature_columns, require_table, target_type, type_of
from thalweg.store import dumps, loads

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OWNER = "fit"
#: Parts that are added at a time.
_FAN = 32
PARTS = "place bigint, part binary"
TARGET, WEIGHT = "target", "weight"


def fit(
    df: DataFrame, model: Any, *, target: str | None, columns: Sequence[str] | None = None, weight: str | None = None
) -> Any:
    """A model that has learned the whole table, as ``model.fit`` would on one machine, to rounding.

    Parameters
    ----------
    df : DataFrame of Spark
        The rows, in any order and any number of partitions.
    model : model of thalweg that adds up
        It is not changed. `thalweg.errors.NotAdditive` names what does not add up, and why.
    target : str or None
        The column of labels, or of numbers to predict; None for models that need none.
    columns : sequence of str, optional
        The features; by default all other columns of numbers.
    weight : str, optional
        A column with the weight of each row.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> table = spark.createDataFrame([(0.0, "low"), (1.0, "high"), (0.1, "low"), (0.9, "high")], "x double, y string")
    >>> model = fit(table.repartition(2), OnlineLDC(), target="y")
    >>> model.predict_one({"x": 0.2}), model.counts_.tolist()
    ('low', [2.0, 2.0])
    """
    require_table(df, _OWNER, streaming=False)
    if target is None and (is_classifier(model) or is_regressor(model)):
        raise InvalidParameter.of(_OWNER, "target", f"name a column for a {type(model).__name__}", target)
    empty = Part(model)
    rows, names, kind = prepared(df, model, target, columns, weight, _OWNER)
    parts = rows.mapInArrow(adding(dumps(empty), names, kind, weight is not None), PARTS)
    whole = _added(parts, rows.rdd.getNumPartitions())
    if whole is None or whole.rows_ == 0:
        raise InvalidInput(f"{_OWNER}: the table has no rows")
    return whole.fitted()


def prepared(
    df: DataFrame, model: Any, target: str | None, columns: Sequence[str] | None, weight: str | None, owner: str
) -> tuple[DataFrame, list[str], ValueType | None]:
    """The features as numbers, then the label and the weight where there are any; and what labels are."""
    names = feature_columns(df, model, columns, owner, besides=(target, weight))
    chosen = [column(df, name).cast("double").alias(f"feature {place}") for place, name in enumerate(names)]
    kind = None
    if target is not None:
        kind = target_type(df, target, model, owner)
        chosen.append(column(df, target).cast(kind.spark).alias(TARGET))
    if weight is not None:
        type_of(df, weight, owner)
        chosen.append(column(df, weight).cast("double").alias(WEIGHT))
    return df.select(*chosen), names, kind


def adding(
    empty: bytes, names: list[str], kind: ValueType | None, weighted: bool, skip: dict[int, int] | None = None
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For ``mapInArrow``: what the rows of a partition add, after so many that are left out."""

    def add(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        place = 0 if context is None else context.partitionId()
        left_out = (skip or {}).get(place, 0)
        part = loads(empty)
        for batch in batches:
            rows = batch.slice(min(left_out, batch.num_rows))
            left_out -= batch.num_rows - rows.num_rows
            if rows.num_rows:
                weights = {"sample_weight": rows.column(WEIGHT).to_numpy(zero_copy_only=False)} if weighted else {}
                part.learn(*taken(rows, names, kind), **weights)
        yield pa.record_batch({"place": pa.array([place]), "part": pa.array([dumps(part)], pa.binary())})

    return add


def taken(rows: pa.RecordBatch, names: list[str], kind: ValueType | None) -> tuple[Any, ...]:
    """Rows of `prepared` as a model takes them."""
    table = pa.Table.from_batches([rows])
    X = NamedRows(ArrowFrame(table.select(table.column_names[: len(names)])).rows(), names)
    if kind is None:
        return (X,)
    labels = rows.column(TARGET)
    if labels.null_count:
        raise InvalidInput(f"each row needs a label to be learned, got {labels.null_count} without one")
    return X, kind.array(labels)


def _added(parts: DataFrame, count: int) -> Any:
    """The sum of all parts: in a tree, so that nobody holds many of them, and in one order, so that it is one sum."""
    while count > _FAN:
        grouped = parts.withColumn("branch", (parts["place"] / _FAN).cast("bigint")).groupBy("branch")
        parts, count = grouped.applyInArrow(_branch, PARTS), -(-count // _FAN)
    ordered = in_order(parts)
    return merge(ordered) if ordered else None


def in_order(parts: DataFrame) -> list[Any]:
    return [loads(part) for _, part in sorted((row["place"], bytes(row["part"])) for row in parts.collect())]


def _branch(table: pa.Table) -> pa.Table:
    rows = sorted(zip(table.column("place").to_pylist(), table.column("part").to_pylist(), strict=True))
    whole = merge([loads(part) for _, part in rows])
    return pa.table({"place": pa.array([rows[0][0] // _FAN]), "part": pa.array([dumps(whole)], pa.binary())})
