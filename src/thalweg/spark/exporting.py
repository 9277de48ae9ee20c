"""The models and predictions of a stream, out of Spark: model tables, model files, one folder per micro-batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from thalweg.errors import InvalidInput
from thalweg.files import write_atomically
from thalweg.spark.packing import VARIABLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Columns by the names that they have in Spark's state.
_COLUMNS = {"model": "model", "answered": "predicted", "learned": "learned", "expired": "expired", "dropped": "dropped"}


def models(spark: SparkSession, checkpoint: str, *, batch: int | None = None) -> DataFrame:
    """The state of every key of a query by `learn_stream`, running or ended.

    Parameters
    ----------
    spark : SparkSession
        Any that can read the checkpoint.
    checkpoint : str
        The query's ``checkpointLocation``.
    batch : int, optional
        The state after this micro-batch; by default after the last one that is committed.

    Returns
    -------
    DataFrame
        A row for each key: ``key``; ``model``, which `thalweg.store.loads` reads; how many rows were ``predicted`` and
        ``learned``, how many ``expired`` without a label, how many labels were ``dropped``.

    Examples
    --------
    >>> models(spark, "nowhere")
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidInput: nowhere is not the checkpoint of a query by learn_stream
    """
    from pyspark.errors import PySparkException

    try:
        return _states(spark, checkpoint, batch)
    except PySparkException as error:
        if batch is not None:
            models(spark, checkpoint)  # what is no checkpoint says so
            raise InvalidInput(f"{checkpoint} holds no state after batch {batch}") from error
        raise InvalidInput(f"{checkpoint} is not the checkpoint of a query by learn_stream") from error


def _states(spark: SparkSession, checkpoint: str, batch: int | None) -> DataFrame:
    from pyspark.errors import PySparkException

    options = {"path": checkpoint} | ({} if batch is None else {"batchId": str(batch)})
    try:
        state = spark.read.format("statestore").options(**options, stateVarName=VARIABLE).load()
    except PySparkException:  # kept by applyInPandasWithState, which has no variables
        state = spark.read.format("statestore").options(**options).load()
    value = "value.groupState" if "groupState" in state.select("value.*").columns else "value"
    columns = ["key.key AS key", *(f"{value}.{kept} AS {name}" for kept, name in _COLUMNS.items())]
    return state.selectExpr(*columns)


def export_models(
    spark: SparkSession,
    checkpoint: str,
    folder: str | Path,
    *,
    keys: Sequence[Any] | None = None,
    batch: int | None = None,
) -> int:
    """Write a model file for each key, ``<key>.thalweg``; `thalweg.load` reads it. How many there are.

    Parameters
    ----------
    spark, checkpoint, batch
        As for `models`.
    folder : path
        Where to write, on this machine; signs that a file's name may not have become ``%``-codes.
    keys : sequence, optional
        Only these.

    Examples
    --------
    >>> export_models(spark, "nowhere", "models")
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidInput: nowhere is not the checkpoint of a query by learn_stream
    """
    states = models(spark, checkpoint, batch=batch).select("key", "model")
    if keys is not None:
        states = states.where(states["key"].isin(list(keys)))
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    count = 0
    for row in states.toLocalIterator():
        write_atomically(into / f"{quote(str(row['key']), safe=' ')}.thalweg", bytes(row["model"]))
        count += 1
    return count


def write_batches(folder: str, *, format: str = "parquet", **options: Any) -> Callable[[DataFrame, int], None]:  # noqa: A002
    """Write micro-batches for ``foreachBatch`` so that each row is written once, even if Spark repeats a batch.

    Each micro-batch goes to a folder of its own, ``batch=N``, which a repetition replaces. Reading the folder gives all
    rows, with the column ``batch``.

    Parameters
    ----------
    folder : str
        Where to write; anything that Spark can write to.
    format : str, default "parquet"
        Of the files, as Spark names it.
    **options
        Of the format, as Spark names them.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write = write_batches(folder)
    ...     write(spark.range(3), 0)
    ...     write(spark.range(3), 0)  # again, after a failure
    ...     spark.read.parquet(folder).count()
    3
    """

    def write(batch: DataFrame, number: int) -> None:
        batch.write.mode("overwrite").format(format).options(**options).save(f"{folder}/batch={number}")

    return write
