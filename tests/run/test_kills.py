"""A run that is killed at any moment and resumed ends with the bytes of one that was left alone.

Each run is a process of its own, killed by SIGKILL at a random moment after a random share of its answers is written;
checkpoints are written after every chunk, so that many kills fall into the writing of one.
"""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import random
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from tests.waiting import PATIENCE, wait_until

from thalweg import cli

#: Kills of each of the runs below.
KILLS = 4
RESULTS = ("model.thalweg", "metrics.json", "predictions.csv", "options.toml", "report.html")
ROWS = 2600


def table(rows: int = ROWS) -> list[dict[str, object]]:
    """A drifting table with a category, gaps, and labels that never come."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 3, rows)
    level = rng.normal(size=rows) + truth * np.where(np.arange(rows) < rows // 2, 1.0, -1.0)
    return [
        {
            "level": round(float(level[i]), 3) if i % 17 else None,
            "rain": round(float(rng.normal() + truth[i]), 3),
            "wind": str(rng.choice(["north", "south"] if i < 1500 else ["north", "east", "calm"])),
            "when": str(np.datetime64("2024-01-01T00") + 2 * i),
            "told": str(np.datetime64("2024-01-01T00") + 2 * i + int(rng.integers(0, 400))) if i % 13 else None,
            "state": ["low", "high", "flood"][truth[i]] if i % 11 else None,
        }
        for i in range(rows)
    ]


def as_csv(rows: list[dict[str, object]]) -> str:
    lines = [",".join("" if value is None else str(value) for value in row.values()) for row in rows]
    return "\n".join([",".join(rows[0]), *lines]) + "\n"


def write(folder: Path, kind: str) -> str:
    rows = table()
    if kind == "csv":
        (folder / "rows.csv").write_text(as_csv(rows))
        return "rows.csv"
    if kind == "ragged":
        lines = as_csv(rows).splitlines()
        lines[1200:1200] = ["1,2", "warm,1.0,north,2024-01-01,,low"]
        (folder / "ragged.csv").write_text("\n".join(lines))
        return "ragged.csv"
    if kind == "gz":
        (folder / "rows.csv.gz").write_bytes(gzip.compress(as_csv(rows).encode()))
        return "rows.csv.gz"
    if kind == "parquet":
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet", row_group_size=700)
        return "rows.parquet"
    (folder / "days").mkdir()
    for i in range(3):
        part = rows[i * ROWS // 3 : (i + 1) * ROWS // 3]
        (folder / "days" / f"{i}.ndjson").write_text("".join(json.dumps(row) + "\n" for row in part))
    return "days"


RUNS = {
    "csv-sets-of-auto": ("csv", ["--model", "sets", "--chunk", "150"]),
    "gz-oldc-adaptive-delay": ("gz", ["--model", "oldc", "--adaptive", "--delay", "150", "--chunk", "30"]),
    "parquet-perceptron": ("parquet", ["--model", "perceptron", "--chunk", "40"]),
    "ndjson-folder-kernel-mean": ("ndjson", ["--model", "kernel-mean", "--delay", "7", "--chunk", "60"]),
    "csv-nse-long-delay": ("csv", ["--model", "nse", "--delay", "1100", "--chunk", "70"]),
    "ragged-trend": ("ragged", ["--model", "trend", "--bad-rows", "skip", "--chunk", "40"]),
    "csv-numbers-delay": (
        "csv",
        [
            "--target",
            "rain",
            "--drop",
            "state",
            "--model",
            "auto-linear",
            "--delay",
            "90",
            "--season",
            "12",
            "--chunk",
            "60",
        ],
    ),
    "csv-logistic-times": (
        "csv",
        ["--model", "logistic", "--time", "when", "--label-time", "told", "--chunk", "50"],
    ),
}


def work(folder: str, arguments: list[str]) -> None:
    os.chdir(folder)
    cli.main(["run", *arguments])


@pytest.fixture(scope="module")
def processes():
    """Processes that begin with everything imported, so that a start costs next to nothing."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["thalweg.run.metrics", "thalweg.report.page", "pyarrow.csv", "pyarrow.parquet"])
    return context


def finish(processes, folder: Path, arguments: list[str], kill: tuple[float, float] | None = None) -> bool:
    """Whether a run came to its end and was not killed before; ``kill``: after bytes of answers, and seconds."""
    process = processes.Process(target=work, args=(str(folder), arguments))
    process.start()
    if kill is not None:
        length, seconds = kill
        wait_until(lambda: not process.is_alive() or written(folder) >= length, pause=0.001)
        process.join(seconds)
        process.kill()
    process.join(PATIENCE)
    if process.exitcode == -signal.SIGKILL:
        return False
    assert process.exitcode == 0
    return True


def written(folder: Path) -> int:
    """Bytes of answers so far."""
    try:
        return (folder / "out" / "predictions.csv").stat().st_size
    except FileNotFoundError:
        return 0


def results(folder: Path) -> dict[str, bytes]:
    found = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    assert sorted(found) == sorted(RESULTS)  # and no checkpoint, and nothing half written
    shutil.rmtree(folder / "out")  # the next run begins anew: there is nothing to go on with in a finished one
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_killed_runs_end_with_the_bytes_of_one_left_alone(name: str, tmp_path: Path, processes) -> None:
    kind, options = RUNS[name]
    source = write(tmp_path, kind)
    arguments = [source, "--target", "state", "--out", "out", "--quiet", "--json", *options]
    assert finish(processes, tmp_path, [*arguments, "--checkpoint-seconds", "0"])
    whole = results(tmp_path)
    moments = random.Random(name)
    kills = in_the_middle = 0
    for _ in range(20 * KILLS):
        kill = moments.uniform(written(tmp_path), len(whole["predictions.csv"])), moments.random() * 0.1
        if finish(processes, tmp_path, [*arguments, "--resume", "--checkpoint-seconds", "0"], kill):
            assert results(tmp_path) == whole
        else:
            kills += 1
            in_the_middle += (tmp_path / "out" / "checkpoint").exists()
        if kills >= KILLS and in_the_middle:
            break
    assert kills >= KILLS
    assert in_the_middle
    assert finish(processes, tmp_path, [*arguments, "--resume"])
    assert results(tmp_path) == whole


def test_there_are_enough_kills() -> None:
    assert KILLS * len(RUNS) >= 25
