"""A session of Spark for a benchmark, and the processor time of all processes that it starts."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.contest import Unavailable

_TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def spark_on(cores: int, folder: Path) -> Iterator[Any]:
    """A session with so many threads for tasks, until the block ends."""
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        raise Unavailable("Spark: it needs pip install 'thalweg[spark]' and Java 17")
    from thalweg.spark import session

    spark = session(
        f"local[{cores}]",
        spark_sql_shuffle_partitions=cores,
        spark_local_dir=folder / "scratch",
        spark_sql_warehouse_dir=folder / "warehouse",
        spark_driver_memory="4g",
    )
    spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    finally:
        spark.stop()


def family_seconds() -> float:
    """Processor time of this process and of all below it, those that have ended included: JVM and Python workers."""
    parents, seconds = {}, {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        number = int(status.parent.name)
        parents[number] = int(fields[1])
        seconds[number] = sum(map(int, fields[11:15])) / _TICKS
    return sum(taken for number, taken in seconds.items() if _descends(number, os.getpid(), parents))


def _descends(number: int, ancestor: int, parents: dict[int, int]) -> bool:
    while number in parents and number != ancestor:
        number = parents[number]
    return number == ancestor
