"""Where answers go: a folder for each micro-batch, replaced as a whole when Spark repeats it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def write_batches(folder: str, *, format: str = "parquet", **options: Any) -> Callable[[DataFrame, int], None]:  # noqa: A002
    """For ``foreachBatch``, which may repeat a micro-batch after a failure: the same rows once, whatever happens.

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
