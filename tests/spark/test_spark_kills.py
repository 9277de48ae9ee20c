"""Killed at any moment by SIGKILL: executors, driver, JVM and Python workers. No row is lost, doubled or learned twice.

The job runs on two executor processes and begins anew from its checkpoint whenever it ended; then its answers and its
states are set against those of a run on two threads that nobody disturbed, byte for byte.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the engines need pyarrow")
psutil = pytest.importorskip("psutil", reason="whom to kill is told by psutil")

from tests.conftest import spark_tests  # noqa: E402
from tests.spark.keyed_job import run  # noqa: E402
from tests.spark.late_tables import write_late_labels  # noqa: E402
from tests.waiting import PATIENCE, wait_until  # noqa: E402

pytestmark = [pytest.mark.slow, spark_tests]
#: How often it is killed; set THALWEG_KILLS for more.
KILLS = int(os.environ.get("THALWEG_KILLS", "1"))
#: Where the job runs; set THALWEG_SPARK_MASTER for another, such as local[2].
MASTER = os.environ.get("THALWEG_SPARK_MASTER", "local-cluster[2,1,1024]")
ROOT = Path(__file__).parents[2]


class Job:
    """The program in a process of its own, with all that Spark starts for it."""

    def __init__(self, source: Path, into: Path) -> None:
        (into / "work").mkdir(parents=True, exist_ok=True)
        self.commits = into / "checkpoint" / "commits"
        environment = os.environ | {"SPARK_WORKER_DIR": str(into / "work"), "PYTHONPATH": str(ROOT)}
        self._log = (into / "log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.spark.keyed_job", MASTER, str(source), str(into)],
            stdout=self._log,
            stderr=self._log,
            env=environment,
            cwd=into,
        )
        self.known: dict[int, Any] = {}

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    @property
    def batches(self) -> int:
        """Micro-batches that are done."""
        return len([path for path in self.commits.glob("*") if path.name.isdigit()]) if self.commits.exists() else 0

    def family(self) -> dict[str, list[Any]]:
        """Who could be killed, by what they are."""
        found: dict[str, list[Any]] = {"driver": [psutil.Process(self.process.pid)]}
        for child in found["driver"][0].children(recursive=True):
            self.known[child.pid] = child
            with suppress(psutil.NoSuchProcess):
                words = " ".join(child.cmdline())
                if "CoarseGrainedExecutorBackend" in words:
                    found.setdefault("executor", []).append(child)
                elif "org.apache.spark.deploy.SparkSubmit" in words:
                    found.setdefault("JVM", []).append(child)
                elif "daemon" in words:
                    found.setdefault("worker", []).append(child)
        return found

    def kill(self, who: str, chance: random.Random) -> bool:
        """End one of them; whether there was one."""
        with suppress(psutil.NoSuchProcess):
            family = self.family()
            if who in family:
                chance.choice(family[who]).kill()
                return True
        return False

    def clear(self) -> None:
        """End what is left, so that the next one is alone."""
        with suppress(psutil.NoSuchProcess):
            self.family()
        for each in self.known.values():
            with suppress(psutil.NoSuchProcess):
                each.kill()
        if not self.ended:
            self.process.kill()
        self.process.wait(PATIENCE)
        self._log.close()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write_late_labels(tmp_path / "source", 1200, 8, parts=2 + 2 * KILLS)
    return tmp_path / "source"


def victims() -> Iterator[str]:
    """Each kind in turn, as far as there are such processes."""
    kinds = ["executor", "driver", "JVM", "worker"] if "cluster" in MASTER else ["driver", "JVM", "worker"]
    while True:
        yield from kinds


def until_killed(job: Job, who: str, chance: random.Random) -> bool:
    """Kill at a random moment, perhaps after one more micro-batch; False where the job ended before."""
    wanted = job.batches + chance.choice([0, 1])
    wait_until(lambda: job.ended or (job.commits.exists() and job.batches >= wanted))
    time.sleep(chance.random() * 2)
    killed = False

    def is_over() -> bool:
        nonlocal killed
        killed = not job.ended and job.kill(who, chance)
        return killed or job.ended

    wait_until(is_over)
    return killed


def again(job: Job, source: Path, into: Path) -> Job:
    job.clear()
    return Job(source, into)


def test_no_row_is_lost_or_doubled_whoever_is_killed(spark, source, tmp_path):
    into = tmp_path / "killed"
    into.mkdir()
    chance, killed, lives = random.Random(MASTER), Counter(), 1
    job = Job(source, into)
    try:
        for who in victims():
            if killed.total() == KILLS:
                break
            if until_killed(job, who, chance):
                killed[who] += 1
            elif job.process.returncode == 0:  # a fast machine was done before the moment came: all of it once more
                job.clear()
                shutil.rmtree(into)
                killed, lives = Counter(), 0
            if who in ("driver", "JVM"):
                job.process.wait(PATIENCE)
            if job.ended:
                assert lives <= killed.total(), (into / "log").read_text()
                job, lives = again(job, source, into), lives + 1
        while job.process.wait(PATIENCE) != 0 and lives <= killed.total():
            job, lives = again(job, source, into), lives + 1  # local Spark gives up where a worker is killed
        assert job.process.returncode == 0, (into / "log").read_text()
    finally:
        job.clear()
    run(spark, source, tmp_path / "calm")
    assert answers(spark, into) == answers(spark, tmp_path / "calm")
    assert states(spark, into) == states(spark, tmp_path / "calm")
    print(f"killed on {MASTER}: {dict(killed)}, begun {lives} times")


def answers(spark: Any, folder: Path) -> Counter[tuple[Any, ...]]:
    """What was told; after a kill a micro-batch may hold more than it would have."""
    return Counter(map(tuple, spark.read.parquet(str(folder / "out")).drop("batch").collect()))


def states(spark: Any, folder: Path) -> dict[Any, Any]:
    """All that is kept for each key."""
    state = spark.read.format("statestore").option("path", str(folder / "checkpoint"))
    rows = state.option("stateVarName", "thalweg").load().selectExpr("key.key AS key", "value.*").collect()
    return {row["key"]: tuple(row) for row in rows}
