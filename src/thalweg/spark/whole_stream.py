"""One model over a whole stream: workers add up each micro-batch, which is added to the model in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.files import write_atomically
from thalweg.part import Part, merge
from thalweg.spark.columns import ValueType, column, feature_columns, require_table, with_times
from thalweg.spark.exporting import write_batches
from thalweg.spark.model_cache import require_same_model
from thalweg.spark.scoring import predict
from thalweg.spark.tasks import task_of
from thalweg.spark.training import PARTS, TARGET, adding, in_order, prepared, taken
from thalweg.store import dumps, load, loads, read_notes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import StreamingQuery

_OWNER = "learn_global"
_PLACES = ("workers", "driver")
MODEL, CHECKPOINT, PREDICTIONS = "model.thalweg", "checkpoint", "predictions"
#: In the notes of the model: rows that came before there was a model to predict them.
UNPREDICTED = "unpredicted"


def learn_global(
    df: DataFrame,
    model: Any,
    *,
    target: str,
    time: str,
    folder: str | Path,
    columns: Sequence[str] | None = None,
    predictions: bool = False,
    coverage: float | None = None,
    where: str = "workers",
    trigger: dict[str, Any] | None = None,
) -> StreamingQuery:
    """Learn one model from a whole stream; after each micro-batch it is in ``folder/model.thalweg``.

    The file holds the number of the micro-batch that it knows, and is replaced as a whole: a micro-batch that Spark
    repeats after a failure is not learned twice.

    Parameters
    ----------
    df : streaming DataFrame
        The rows.
    model : model of thalweg
        What to begin with; where the folder holds a model of an earlier query, that one continues, and it must be of
        the same class and with the same parameters.
    target, time : str
        The columns of labels and of times, which put the rows of a micro-batch in order.
    folder : path
        Of the model, Spark's checkpoint and the predictions. The driver must be able to write to it, and so must the
        workers where predictions are wanted.
    columns : sequence of str, optional
        The features; by default those that the model knows, or all other columns of numbers.
    predictions : bool
        Whether to predict each micro-batch by the model as it was before it, into ``folder/predictions``: the rows with
        the column ``prediction``, and ``lower`` and ``upper`` of a regressor that has intervals.
    coverage : float, optional
        Share of rows whose interval is to hold the target; by default the model's usual one.
    where : {"workers", "driver"}
        Who learns. Workers learn parts of a micro-batch at once, for models that add up; the result is the single
        machine's to rounding. The driver learns its rows one after the other, for any learner and to the last bit, as
        fast as one machine.
    trigger : dict, optional
        As ``DataStreamWriter.trigger`` takes it, such as ``{"availableNow": True}``.

    Returns
    -------
    StreamingQuery
        Running.

    Examples
    --------
    >>> import tempfile
    >>> from thalweg import OnlineLDC, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = spark.createDataFrame([(1, 0.0, "low"), (2, 1.0, "high")], "at bigint, x double, y string")
    ...     table.write.parquet(f"{folder}/rows")
    ...     rows = spark.readStream.schema(table.schema).parquet(f"{folder}/rows")
    ...     query = learn_global(
    ...         rows, OnlineLDC(), target="y", time="at", folder=f"{folder}/out", trigger={"availableNow": True}
    ...     )
    ...     query.awaitTermination()
    ...     load(f"{folder}/out/model.thalweg").classes_.tolist()
    ['high', 'low']
    """
    if where not in _PLACES:
        raise InvalidParameter.of(_OWNER, "where", f"be one of {', '.join(_PLACES)}", where)
    if where == "workers":
        Part(model, later=True)  # what does not add up says so before anything runs
    require_table(df, _OWNER, streaming=True)
    df = with_times(df, time, _OWNER)
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    if (into / MODEL).exists():
        _require_own(into / MODEL, model)
    names = feature_columns(df, model, columns, _OWNER, besides=(target, time))
    task = task_of(model, len(names), confidence=False, coverage=coverage, owner=_OWNER)
    ends = {"interval": task.beside, "coverage": coverage} if task.beside else {}
    writing = _Learning(model, target, time, into, names, predictions, where, ends)
    writer = df.writeStream.foreachBatch(writing).option("checkpointLocation", str(into / CHECKPOINT))
    return (writer if trigger is None else writer.trigger(**trigger)).start()


def _require_own(path: Path, model: Any) -> None:
    """Refuse to continue with a model that is not of such a query, or not begun as this one is."""
    if "batch" not in read_notes(path):
        raise InvalidParameter.of(_OWNER, "folder", "hold no model but one that learn_global wrote", str(path.parent))
    require_same_model(model, load(path), _OWNER, str(path.parent))


class _Learning:
    def __init__(
        self,
        start: Any,
        target: str,
        time: str,
        folder: Path,
        names: list[str],
        predictions: bool,
        where: str,
        ends: dict[str, Any],
    ) -> None:
        self._start, self._target, self._time, self._ends = start, target, time, ends
        self._folder, self._names, self._where = folder, names, where
        self._write = write_batches(str(folder / PREDICTIONS)) if predictions else None

    def __call__(self, batch: DataFrame, number: int) -> None:
        path = self._folder / MODEL
        before, notes = self._start, {"batch": -1, UNPREDICTED: 0}
        if path.exists():
            before, notes = loads(path.read_bytes()), read_notes(path)
        if number <= notes["batch"]:
            return
        batch = batch.persist()
        try:
            rows, unpredicted = self._counted(batch), notes[UNPREDICTED]
            if not before.__sklearn_is_fitted__():
                unpredicted += rows
            elif self._write is not None:
                self._write(predict(batch, before, columns=self._names, **self._ends), number)
            after = (self._by_workers if self._where == "workers" else self._by_driver)(before, batch)
            write_atomically(path, dumps(after, notes={"batch": number, UNPREDICTED: unpredicted}))
        finally:
            batch.unpersist()

    def _counted(self, batch: DataFrame) -> int:
        """How many rows there are; each needs a time."""
        from pyspark.sql import functions as F  # noqa: N812

        (counts,) = batch.agg(F.count("*").alias("rows"), F.count(column(batch, self._time)).alias("timed")).collect()
        if counts["timed"] != counts["rows"]:
            raise InvalidInput(f"{_OWNER}: each row needs a time, got {counts['rows'] - counts['timed']:,} without one")
        return int(counts["rows"])

    def _by_workers(self, model: Any, batch: DataFrame) -> Any:
        empty = Part(model, later=True)
        first = Part.rows_first(model)
        rows, kind = self._rows(batch, sort=empty.in_order or first > 0)
        skip: dict[int, int] = {}
        if first:
            rows = rows.persist()
            model = self._learned(loads(dumps(model)), rows.limit(first), kind)
            skip = _left_out(rows, first)
        add = adding(dumps(Part(model, later=True)), self._names, kind, weighted=False, skip=skip)
        parts = in_order(rows.mapInArrow(add, PARTS))
        rows.unpersist()
        return merge([model, *parts])

    def _by_driver(self, model: Any, batch: DataFrame) -> Any:
        rows, kind = self._rows(batch, sort=True)
        return self._learned(loads(dumps(model)), rows, kind)

    def _rows(self, batch: DataFrame, *, sort: bool) -> tuple[DataFrame, ValueType | None]:
        if sort:  # equal times by the values, so that no shuffle can change the order
            batch = batch.sort(*(column(batch, name) for name in (self._time, *self._names, self._target)))
        rows, _, kind = prepared(batch, self._start, self._target, self._names, None, _OWNER)
        return rows, kind

    def _learned(self, model: Any, rows: DataFrame, kind: ValueType | None) -> Any:
        for batch in rows.toArrow().combine_chunks().to_batches():
            model.partial_fit(*taken(batch, self._names, kind))
        return model


def _left_out(rows: DataFrame, first: int) -> dict[int, int]:
    """How many of the first rows each partition holds."""
    from pyspark.sql import functions as F  # noqa: N812

    counted = rows.groupBy(F.spark_partition_id().alias("place")).agg(F.count(TARGET).alias("rows")).collect()
    left: dict[int, int] = {}
    for place, count in sorted((row["place"], row["rows"]) for row in counted):
        left[place] = min(first, count)
        first -= left[place]
    return left
