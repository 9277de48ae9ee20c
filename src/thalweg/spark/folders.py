"""A folder of files that is too large for one machine, learned to its end, with its scores by the table of metrics."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sklearn.base import is_regressor

from thalweg.errors import DataUnavailable, InvalidInput, NotAdditive
from thalweg.evaluate.layout import Layout, known, scores_over
from thalweg.evaluate.metrics import LABELS, NUMBERS, Metric, Rows
from thalweg.part import Part
from thalweg.spark.columns import REAL, WHOLE, column, feature_columns, require_column, type_of
from thalweg.spark.exporting import models, write_batches
from thalweg.spark.packing import LOWER, PREDICTION, UPPER
from thalweg.spark.streaming import learn_stream
from thalweg.spark.whole_stream import CHECKPOINT, MODEL, PREDICTIONS, UNPREDICTED, learn_global
from thalweg.store import read_notes
from thalweg.tables.target import quantity_among

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Rows that settle whether a target holds classes or a quantity.
_HEAD = 1000
_ENDINGS = {".parquet": "parquet", ".csv": "csv"}


class FolderRun:
    """Rows in files of Parquet or CSV, in order of time from file to file, predicted and learned.

    ``source`` is a file, or a folder of files of one kind, of which Spark takes the one modified longest ago first.
    With a ``key`` each of its values has a model; without one, one model learns all rows.
    """

    def __init__(
        self,
        spark: SparkSession,
        source: str,
        *,
        target: str,
        time: str,
        key: str | None = None,
        drop: Collection[str] = (),
        delimiter: str | None = None,
    ) -> None:
        self._spark, self._source = spark, source
        self._target, self._time, self._key, self._drop = target, time, key, drop
        self._format = _format_of(Path(source))
        if key is None and Path(source).is_file():
            raise InvalidInput(
                f"{source} is one file, and one model predicts only the files after the first: name a folder, or a "
                "--key, or leave out --engine spark"
            )
        self._options = {"header": "true", "sep": delimiter or ","} if self._format == "csv" else {}
        self._first = table = self._table()
        for name in (target, time, *([key] if key else []), *drop):
            require_column(table, name, source)
        self._require_order(table)

    def quantity(self) -> str | None:
        """What numbers the target holds in the first rows, where these are a quantity and not classes."""
        if type_of(self._first, self._target, self._source) not in (WHOLE, REAL):
            return None
        chosen = self._first.select(column(self._first, self._target).cast("double").alias("target"))
        values = chosen.limit(_HEAD).toPandas()["target"].to_numpy(dtype=np.float64)
        quantity = quantity_among(values)
        return None if quantity is None else f"{quantity} in the first {len(values):,} rows"

    def go(self, model: Any, out: Path, coverage: float | None = None) -> dict[str, Any]:
        """Learn all files that were not learned before; what was found, over all of them.

        ``coverage`` is that of the intervals of a regressor.
        """
        rows = self._spark.readStream.schema(self._table().schema).format(self._format).options(**self._options)
        rows = rows.option("maxFilesPerTrigger", "1")
        path = Path(self._source)
        if path.is_file():  # a stream is of a folder
            df = rows.option("pathGlobFilter", re.sub(r"([\\*?^\[\]{},])", r"\\\1", path.name)).load(str(path.parent))
        else:
            df = rows.load(self._source)
        names = feature_columns(
            df, model, None, self._source, besides=(self._key, self._target, self._time, *self._drop)
        )
        common: dict[str, Any] = {"target": self._target, "time": self._time, "columns": names, "coverage": coverage}
        if self._key is not None:
            predictions = learn_stream(df, model, key=self._key, **common)
            writer = predictions.writeStream.foreachBatch(write_batches(str(out / PREDICTIONS)))
            writer = writer.option("checkpointLocation", str(out / CHECKPOINT)).trigger(availableNow=True)
            writer.start().awaitTermination()
        else:
            where = "workers" if _adds_up(model) else "driver"
            once = {"availableNow": True}
            learn_global(
                df, model, **common, folder=out, predictions=True, where=where, trigger=once
            ).awaitTermination()
        return self._summary(model, coverage, out) | {"features": names}

    def _table(self) -> DataFrame:
        reader = self._spark.read.format(self._format).options(**self._options)
        return (reader.option("inferSchema", "true") if self._format == "csv" else reader).load(self._source)

    def _require_order(self, table: DataFrame) -> None:
        """Refuse files that Spark would take in another order than that of their rows."""
        from pyspark.sql import functions as F  # noqa: N812

        file, changed = F.col("_metadata.file_name"), F.col("_metadata.file_modification_time")
        times = table.select(file.alias("file"), changed.alias("changed"), column(table, self._time).alias("time"))
        first = times.groupBy("changed", "file").agg(F.min("time").alias("first")).orderBy("changed", "file").collect()
        for before, after in pairwise(first):
            if before["first"] is not None and after["first"] is not None and after["first"] < before["first"]:
                raise InvalidInput(
                    f"{self._source}: Spark takes the file modified longest ago first, but {after['file']} begins "
                    f"before {before['file']} in column {self._time!r}: touch the files in the order of their rows"
                )

    def _summary(self, model: Any, coverage: float | None, out: Path) -> dict[str, Any]:
        summary: dict[str, Any] = {"predicted": 0, "scored": 0}
        if self._key is None:
            summary[UNPREDICTED] = read_notes(out / MODEL)[UNPREDICTED]
        if not (out / PREDICTIONS).exists():  # all rows came in the first micro-batch
            return summary
        predictions = self._spark.read.parquet(str(out / PREDICTIONS))
        if self._key is not None:
            predictions = predictions.where("event = 'predicted'")
        summary["predicted"] = predictions.dropna(subset=[PREDICTION]).count()
        if is_regressor(model):
            summary |= number_scores(predictions, self._target, coverage)
        else:
            summary |= label_scores(predictions, self._target)
        if self._key is not None:
            summary["keys"] = models(self._spark, str(out / CHECKPOINT)).count()
        return summary


_MODEL = ("model",)


def label_scores(predictions: DataFrame, target: str) -> dict[str, Any]:
    """How many predicted rows have a label, and every metric that takes no more than predictions."""
    kind = predictions.schema[PREDICTION].dataType
    pairs = predictions.select(column(predictions, target).cast(kind).alias("truth"), PREDICTION).dropna()
    counts = pairs.groupBy("truth", PREDICTION).count().collect()
    _, codes = np.unique([str(label) for pair in counts for label in pair[:2]], return_inverse=True)
    truth, given = codes.reshape(-1, 2).T
    number = np.array([pair[2] for pair in counts], dtype=np.int64)
    scores = scores_over(_layout(LABELS, set()), Rows(truth, {"model": given}), weights=number)
    return {"scored": int(number.sum()), **known(scores["model"])}


def number_scores(predictions: DataFrame, target: str, coverage: float | None) -> dict[str, Any]:
    """The same of numbers, and of their intervals."""
    ends = (LOWER, UPPER) if LOWER in predictions.columns else ()
    has = {"intervals"} if ends else set()
    layout = _layout(NUMBERS, has)

    def added(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            truth, given, *interval = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
            lower, upper = interval or 2 * [np.full(len(truth), np.nan)]
            without = ~(upper > lower)  # one of no width is none
            lower, upper = (np.where(without, np.nan, end) for end in (lower, upper))
            rows = Rows(truth, {"model": given}, lower=lower, upper=upper, coverage=coverage or 0.0)
            sums = layout.block(rows).sum(axis=0, dtype=np.float64)
            yield pa.record_batch([pa.array([len(truth)]), pa.array([sums.tolist()])], ["rows", "sums"])

    given = [predictions[name] for name in (PREDICTION, *ends)]
    numbers = [column(predictions, target).alias("truth"), *given]
    scored = predictions.select(*(number.cast("double") for number in numbers)).dropna(subset=["truth", PREDICTION])
    parts = scored.mapInArrow(added, "rows long, sums array<double>").collect()
    rows = sum(part["rows"] for part in parts)
    means = np.sum([part["sums"] for part in parts], axis=0) / rows if rows else np.full(len(layout.columns), np.nan)
    return {"scored": rows, **known(layout.scores(layout.means(means), has)["model"])}


def _layout(metrics: Iterable[Metric], has: set[str]) -> Layout:
    return Layout((metric for metric in metrics if metric.applies(has)), _MODEL)


def _adds_up(model: Any) -> bool:
    try:
        Part(model, later=True)
    except NotAdditive:
        return False
    return True


def _format_of(source: Path) -> str:
    if not source.exists():
        raise DataUnavailable(f"there is no file {source}")
    files = [source] if source.is_file() else [path for path in source.rglob("*") if path.suffix in _ENDINGS]
    kinds = {_ENDINGS.get(path.suffix) for path in files}
    if len(kinds) != 1 or None in kinds:
        raise InvalidInput(f"{source} must be a file, or hold files, of one kind that ends with .parquet or .csv")
    return str(kinds.pop())
