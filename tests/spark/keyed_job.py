"""A keyed stream with late labels, as a program that can be killed: ``python -m tests.spark.keyed_job``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tests.spark.tables import NAMES, finish
from thalweg import OnlineLDC

MODEL = OnlineLDC(0.1, counts="soft", warmup=5)


def frugal_session(master: str, folder: Path) -> Any:
    """A session for little work: two partitions, and nothing compiled for speed that is run a few times."""
    from thalweg.spark import session

    hasty = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
    spark = session(
        master,
        spark_sql_shuffle_partitions=2,
        spark_sql_codegen_wholeStage=False,
        spark_sql_codegen_factoryMode="NO_CODEGEN",
        spark_driver_extraJavaOptions=f"{hasty} -Dderby.system.home={folder}",
        spark_executor_extraJavaOptions=hasty,
        spark_local_dir=folder / "scratch",
        spark_sql_warehouse_dir=folder / "warehouse",
    )
    spark.sparkContext.setLogLevel("OFF")
    return spark


def streamed(spark: Any, folder: Path) -> Any:
    """Files as a stream, one in each micro-batch."""
    schema = spark.read.parquet(str(folder)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def run(spark: Any, source: Path, into: Path) -> Any:
    """Learn all rows of ``source``, from where the checkpoint in ``into`` is.

    Rows and labels come from one stream, in order of time: Spark may put two files into one micro-batch after it was
    killed, and of two streams nobody could say how far each was.
    """
    from thalweg.spark import learn_stream

    events = streamed(spark, source)
    answers = learn_stream(
        events.where("NOT told").drop("told"),
        MODEL,
        key="pump",
        target="state",
        time="at",
        columns=NAMES,
        id="row",
        labels=events.where("told"),
        wait="100 seconds",
        ttl="1 day",
    )
    return finish(answers, into / "checkpoint", into / "out")


def main() -> None:
    """Run on a master of its own."""
    master, source, into = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    run(frugal_session(master, into), source, into)


if __name__ == "__main__":
    main()
