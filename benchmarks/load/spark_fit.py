"""`fit` on Spark in a process of its own: ``python -m benchmarks.load.spark_fit CORES ROWS ROUNDS FOLDER``.

It is held to so many cores and prints a line of JSON for each round: the seconds of `fit`, and of the same job with a
function that only reads its rows, on the wall and of the processor.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.load.spark import family_seconds, spark_on

FEATURES = 10


def generated(spark: Any, rows: int, partitions: int) -> Any:
    """Rows of two classes, made where they are learned."""
    from pyspark.sql import functions as F  # noqa: N812

    label = (F.col("id") % 2).alias("y")
    features = [(F.randn(seed=place) + F.col("id") % 2).alias(f"x{place}") for place in range(FEATURES)]
    return spark.range(0, rows, 1, partitions).select(label, *features)


def only_read(batches: Iterator[Any]) -> Iterator[Any]:
    """What `fit` does without learning."""
    import pyarrow as pa

    rows = sum(batch.num_rows for batch in batches)
    yield pa.record_batch({"place": pa.array([rows]), "part": pa.array([b""], pa.binary())})


def main() -> None:
    """A tenth of the rows to warm up, then the rounds that count."""
    cores, rows, rounds = map(int, sys.argv[1:4])
    folder = Path(sys.argv[4])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    with spark_on(cores, folder) as spark:
        from thalweg import OnlineLDC
        from thalweg.spark import fit
        from thalweg.spark.training import PARTS, prepared

        model = OnlineLDC()

        def reading(df: Any) -> None:
            prepared(df, model, "y", None, None, "fit")[0].mapInArrow(only_read, PARTS).collect()

        jobs = {"fit": lambda df: fit(df, model, target="y"), "read": reading}
        for number in range(rounds + 1):
            df = generated(spark, rows if number else rows // 10, 8 * cores)
            told = {}
            for name, job in jobs.items():
                wall, processor = time.perf_counter(), family_seconds()
                job(df)
                told[name] = [time.perf_counter() - wall, family_seconds() - processor]
            if number:
                print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
