"""One model from all partitions on Spark, with one core and with two, beside a job that only reads the same rows.

Rows are generated where they are learned. Each number of cores is a process of its own that is held to them.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.contest import Effort, Side, Unavailable
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record
from benchmarks.suite import Bench, Suite

ROOT = Path(__file__).parents[2]
WALL, PROCESSOR = "a row, on the wall", "a row, processor time"
OURS, READING = "fit", "only reading"
SIDES: dict[str, Side] = {OURS: "ours", READING: "limit"}


def measure(bench: Bench) -> Iterator[list[Record]]:
    """One core, then two."""
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        raise Unavailable("Spark: it needs pip install 'thalweg[spark]' and Java 17")
    for cores in (1, 2):
        bench.progress(f"{bench.effort.size:,} rows on {cores} cores")
        yield list(_on(cores, bench))


def _on(cores: int, bench: Bench) -> Iterator[Record]:
    folder = bench.folder / f"cores-{cores}"
    sizes = (str(cores), str(bench.effort.size), str(bench.effort.rounds))
    command = [sys.executable, "-m", "benchmarks.load.spark_fit", *sizes, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    rounds = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not rounds:
        raise Unavailable(f"Spark: it ended with {done.stderr.strip().splitlines()[-1:]}")
    where = {"cores": cores}
    for model, name in ((OURS, "fit"), (READING, "read")):
        for work, place in ((WALL, 0), (PROCESSOR, 1)):
            costs = tuple(told[name][place] / bench.effort.size for told in rounds)
            also = {"seconds in all": min(costs) * bench.effort.size}
            yield Record(work, model, where, SIDES[model], costs, also=also)


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """The time with one core and with two, and how much of it is ours."""
    best = {(record.setting["cores"], record.work, record.model): record for record in records}
    for cores, told in ((1, "1 core"), (2, "2 cores")):
        if (cores, WALL, OURS) in best:
            yield Finding(f"fit with {told}", best[cores, WALL, OURS].also["seconds in all"], unit="s")
            ours, reading = (best[cores, PROCESSOR, model].best for model in (OURS, READING))
            yield Finding(f"share of the processor time in our code, {told}", 1 - reading / ours)
    if (1, WALL, OURS) in best and (2, WALL, OURS) in best:
        yield Finding("times as fast with two cores", best[1, WALL, OURS].best / best[2, WALL, OURS].best)


SUITE = Suite(
    name="spark_fit",
    asks="How long does a distributed fit take with one core and with two, and how much of it is ours?",
    measure=measure,
    plot=dots("spark_fit", "One model from all partitions on Spark"),
    full=Effort(rounds=3, size=10_000_000),
    quick=Effort(rounds=3, size=1_000_000),
    ratios={"of only reading": READING},
    findings=findings,
)
