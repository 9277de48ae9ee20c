"""Rows of many keys as files that a stream reads one after the other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

NAMES = ["level", "flow", "heat"]
BEGIN = 1_700_000_000_000_000


def rows(count: int, keys: int, seed: int = 0) -> pa.Table:
    """Rows of keys that come in turn, a second apart, with a concept of its own for each key."""
    rng = np.random.default_rng(seed)
    key = rng.integers(0, keys, count)
    X = rng.normal(size=(count, len(NAMES)))
    high = X[:, 0] * np.cos(key) + X[:, 1] * np.sin(key) > 0
    return pa.table(
        {
            "pump": pa.array([f"pump {each}" for each in key]),
            "at": pa.array(BEGIN + np.arange(count) * 1_000_000).cast(pa.timestamp("us", "UTC")),
            "row": pa.array([f"r{each:05}" for each in range(count)]),
            **{name: X[:, place] for place, name in enumerate(NAMES)},
            "state": pa.array(np.where(high, "high", "low")),
        }
    )


def write_parts(table: pa.Table, folder: Path, parts: int, first: int = 0) -> None:
    """A file for each part, one second younger than the one before: Spark reads the oldest first."""
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-len(table) // parts)
    for part in range(parts):
        path = folder / f"part-{first + part:03}.parquet"
        hidden = folder / f".{path.name}"
        parquet.write_table(table.slice(part * size, size), hidden)
        os.utime(hidden, (1_700_000_000 + first + part,) * 2)
        hidden.rename(path)


def by_key(table: pa.Table, key: str) -> dict[Any, pa.Table]:
    """The rows of each key, in order."""
    keys = table.column(key).to_pylist()
    places: dict[Any, list[int]] = {}
    for place, each in enumerate(keys):
        places.setdefault(each, []).append(place)
    return {each: table.take(pa.array(own)) for each, own in places.items()}


def finish(answers: Any, checkpoint: Path, out: Path) -> Any:
    """Run a stream until there is nothing left to read."""
    from thalweg.spark import write_batches

    query = (
        answers.writeStream.foreachBatch(write_batches(str(out)))
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return query
