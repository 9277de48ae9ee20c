"""One model per key on Spark, beside what Spark costs by itself and beside a model in plain Python.

Costs are processor time of all processes together, JVM and Python workers, from the second micro-batch on: what a core
is busy with. The engine's ceiling is the same keyed job with a function that gives each row's label back.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest import Effort, Side
from benchmarks.load.spark import family_seconds, spark_on
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record
from benchmarks.suite import Bench, Suite
from thalweg import OnlineLDC
from thalweg.store import dumps

FEATURES, BATCHES = 10, 3
ROWS_OF_A_KEY = (200, 20)
WORK, WRITTEN = "a row of a key", "bytes a key"  # those that go into the checkpoint
OURS, CEILING, PACKED, PYTHON = "learn_stream", "an empty function", "an empty function, packed rows", "plain Python"
SIDES: dict[str, Side] = {OURS: "ours", CEILING: "limit", PACKED: "limit", PYTHON: "peer"}
PER_KEY = "rows a key"  # in a micro-batch


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Many rows a key in each micro-batch, then few."""
    with spark_on(1, bench.folder) as spark:
        for rows in ROWS_OF_A_KEY:
            source = bench.folder / f"rows-{rows}"
            # Few rows of a key make a micro-batch cost several times as much: it need not be as large.
            _write(source, bench.effort.size if rows == ROWS_OF_A_KEY[0] else bench.effort.size // 5, rows)
            yield list(_compared(bench, spark, source, rows))


def _model() -> OnlineLDC:
    return OnlineLDC(0.05, counts="soft")


def _write(folder: Path, count: int, rows: int) -> None:
    """A file for each micro-batch, with so many rows of each key."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir()
    rng = np.random.default_rng(0)
    for batch in range(BATCHES):
        y = rng.integers(0, 2, count)
        X = rng.normal(size=(count, FEATURES)) + y[:, None]
        columns = {"key": rng.permutation(count) // rows, "time": np.arange(count) + batch * count, "target": y}
        table = pa.table(columns | {f"x{place}": X[:, place] for place in range(FEATURES)})
        parquet.write_table(table, folder / f"{batch}.parquet")


def _compared(bench: Bench, spark: Any, source: Path, rows: int) -> Iterator[Record]:
    where = {PER_KEY: rows}
    jobs = _jobs(spark, source)
    costs: dict[str, list[float]] = {model: [] for model in jobs}
    held = 0.0
    for number in range(bench.effort.rounds + 1):
        for model, job in jobs.items():
            bench.progress(f"{rows} {PER_KEY}, round {number} of {bench.effort.rounds}: {model}")
            query, cost = _finished(job(), bench.folder / "checkpoint")
            costs[model].append(cost)
            if model == OURS:
                held = _bytes_a_key(query)
    for model, taken in costs.items():
        warm = tuple(taken[1:])  # the first round compiled the JVM's code
        yield Record(WORK, model, where, SIDES[model], warm, also={WRITTEN: held} if model == OURS else {})


def _jobs(spark: Any, source: Path) -> dict[str, Callable[[], Any]]:
    from benchmarks.peers.spark_processors import PREDICTIONS, Nothing, NothingPacked, PlainPython, packed_state
    from thalweg.spark import learn_stream
    from thalweg.spark.columns import TEXT, WHOLE
    from thalweg.spark.group import Group
    from thalweg.spark.packing import SPARK_STATE, Layout, packer, unpacker
    from thalweg.spark.streaming import as_events
    from thalweg.spark.tasks import task_of

    names = [f"x{place}" for place in range(FEATURES)]
    schema = spark.read.parquet(str(source)).schema
    layout = Layout(key=WHOLE, id=TEXT, target=WHOLE, features=tuple(names))

    def stream() -> Any:
        return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(source))

    def packed(df: Any) -> Any:
        return as_events(df, layout, "key", None, "target", "time").mapInArrow(packer(layout), layout.packed)

    def with_function(processor: Any) -> Any:
        return stream().groupBy("key").transformWithStateInPandas(processor, PREDICTIONS, "append", "none")

    def empty_packed() -> Any:
        cell = bytes(packed(spark.read.parquet(str(source)).where("key = 0")).first()["rows"])
        task = task_of(_model(), FEATURES, confidence=False, coverage=None, owner=OURS)
        state = packed_state(Group(dumps(_model()), layout, None, None, task), cell)
        processor = NothingPacked(layout, state, SPARK_STATE)
        kept = packed(stream()).groupBy("key").transformWithStateInPandas(processor, layout.packed, "append", "none")
        return kept.mapInArrow(unpacker(layout), layout.unpacked)

    return {
        OURS: lambda: learn_stream(stream(), _model(), key="key", target="target", time="time", columns=names),
        CEILING: lambda: with_function(Nothing()),
        PACKED: empty_packed,
        PYTHON: lambda: with_function(PlainPython(FEATURES)),
    }


def _bytes_a_key(query: Any) -> float:
    """What goes into the checkpoint for each key that has learned, compressed by RocksDB."""
    state = query.lastProgress["stateOperators"][0]
    return float(state["customMetrics"]["rocksdbBytesCopied"]) / state["numRowsUpdated"]


def _finished(answers: Any, checkpoint: Path) -> tuple[Any, float]:
    """The query at its end, and seconds a row from the second micro-batch on."""
    shutil.rmtree(checkpoint, ignore_errors=True)
    writer = answers.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    while query.lastProgress is None and query.isActive:
        time.sleep(0.01)
    begun = family_seconds()
    query.awaitTermination()
    spent = family_seconds() - begun
    counts = [progress["numInputRows"] for progress in query.recentProgress]
    return query, spent / sum(counts[1:])


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """Beside the engine's ceiling and beside plain Python."""
    for rows in ROWS_OF_A_KEY:
        here = {record.model: record for record in records if record.setting[PER_KEY] == rows}
        if not here:
            continue
        best = {model: record.best for model, record in here.items()}
        told = f"{rows} rows of a key in a batch"
        target = 0.7 if rows == ROWS_OF_A_KEY[0] else None
        yield Finding(f"{told}: of the ceiling", best[CEILING] / best[OURS], at_least=target)
        yield Finding(f"{told}: of the ceiling with packed rows", best[PACKED] / best[OURS])
        yield Finding(f"{told}: × plain Python", best[PYTHON] / best[OURS])
        yield Finding(f"{told}: rows a second and core", 1 / best[OURS])
        yield Finding(f"{told}: into the checkpoint, a key", here[OURS].also[WRITTEN], unit="B")


SUITE = Suite(
    name="spark_keys",
    asks="What does one model per key cost on Spark, beside what Spark costs by itself?",
    measure=measure,
    plot=dots("spark_keys", f"One model per key on Spark, {FEATURES} features"),
    full=Effort(rounds=3, size=300_000),
    quick=Effort(rounds=1, size=40_000),
    ratios={"of the ceiling": CEILING, "× plain Python": PYTHON},
    findings=findings,
)
