"""A SparkSession with what thalweg needs, and Spark's failures in one sentence without its stack traces."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from thalweg.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_LOOPBACK = "127.0.0.1"
#: How long Spark and its Python wait for each other to connect: on a busy machine the default, 15 s, ends a query.
_PATIENCE = "300s"


def session(master: str = "local[*]", *, name: str = "thalweg", **settings: Any) -> SparkSession:
    """Start a Spark session for thalweg, or return the running one.

    Parameters
    ----------
    master : str, default "local[*]"
        Where Spark runs: "local[2]" is two threads here, "local-cluster[2,1,1024]" two processes here with a core and
        1,024 MB each, "spark://…" or "yarn" a cluster. A cluster's machines need thalweg installed, too.
    name : str
        What the application is called.
    **settings
        Spark's own, with ``_`` for ``.``: ``spark_sql_shuffle_partitions=64``. They come before ours.

    Examples
    --------
    >>> spark = session("local[2]")
    >>> spark.range(3).count()
    3
    """
    require_spark()
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # or workers start whatever `python3` is on the PATH
    ours = {
        STATE_STORE: ROCKSDB,
        "spark.python.daemon.module": "thalweg.spark.daemon",
        "spark.python.authenticate.socketTimeout": _PATIENCE,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
        ours |= {"spark.driver.bindAddress": _LOOPBACK, "spark.driver.host": _LOOPBACK}
    chosen = ours | {key.replace("_", "."): str(value) for key, value in settings.items()}
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in chosen.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def require_spark() -> None:
    """`MissingExtra` where Spark cannot run here, with what to install."""
    for module, library in (("pyspark", "pyspark"), ("google.protobuf", "protobuf")):
        MissingExtra.import_module(module, "spark", "Spark", library)
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        raise MissingExtra("Spark needs Java 17 or newer: install it, or name its folder in JAVA_HOME")


_OURS = re.compile(r"thalweg\.errors\.\w+: (.+)")
_SPARKS = re.compile(r"\[([A-Z][A-Z0-9_.]+)\] (.+)")
#: They say only that something within has failed.
_AROUND = ("STREAM_FAILED", "FOREACH_BATCH_USER_FUNCTION_ERROR")
_NANOSECONDS = (
    "Spark reads no Parquet with times in nanoseconds: write them in microseconds, in pandas by "
    "to_parquet(path, coerce_timestamps='us', allow_truncated_timestamps=True)"
)


@contextmanager
def spark_errors_as_ours(source: str) -> Iterator[None]:
    """An error of Spark becomes an `InvalidInput` about the source."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise InvalidInput(f"{source}: {sentence_of(str(error))}") from error


def sentence_of(message: str) -> str:
    r"""The most useful sentence in the message of an error of Spark.

    Examples
    --------
    >>> sentence_of("[STREAM_FAILED] Query ended.\nTraceback:\nthalweg.errors.InvalidInput: no label\n at java")
    'no label'
    >>> sentence_of("[STREAM_FAILED] Query ended: [NO_FOOTER] Could not read footer. SQLSTATE: KD001\n at java")
    'Could not read footer.'
    """
    if ours := _OURS.findall(message):
        return str(ours[-1])
    if "PARQUET_TYPE_ILLEGAL" in message and "NANOS" in message:
        return _NANOSECONDS
    for line in message.splitlines():
        for part in re.split(r"(?=\[[A-Z][A-Z0-9_.]+\] )", line):
            match = _SPARKS.match(part)
            if match and match[1] not in _AROUND:
                return match[2].split(" SQLSTATE:")[0]
    return message.splitlines()[0] if message else "Spark has failed without a word"
