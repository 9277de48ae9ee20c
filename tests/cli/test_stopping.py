"""Ctrl-C and SIGTERM: a run stops with a checkpoint, says how to go on, and ends with the bytes of one left alone."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from thalweg.run.stopping import Stopped, Stopping

pytest.importorskip("pyarrow")

ROWS = 6_000
COMMAND = (sys.executable, "-c", "from thalweg import cli; cli.main()", "run")
OPTIONS = ("--target", "state", "--out", "out", "--quiet", "--model", "trend", "--chunk", "20")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A folder with a table, and what a run over it leaves behind."""
    folder = tmp_path_factory.mktemp("table")
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 2, ROWS)
    values = np.round(rng.normal(size=(ROWS, 2)) + truth[:, None], 3).tolist()
    lines = [f"{a},{b},{'ab'[t]}" for (a, b), t in zip(values, truth, strict=True)]
    (folder / "rows.csv").write_text("level,rain,state\n" + "\n".join(lines) + "\n")
    subprocess.run([*COMMAND, "rows.csv", *OPTIONS], cwd=folder, check=True, capture_output=True)
    return folder, results(folder)


def results(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}


def wait_for(path: Path) -> None:
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_stopped_run_goes_on_where_it_was(table: tuple[Path, dict[str, bytes]], number: int) -> None:
    folder, whole = table
    for path in (folder / "out").iterdir():
        path.unlink()
    process = subprocess.Popen([*COMMAND, "rows.csv", *OPTIONS], cwd=folder, stderr=subprocess.PIPE, text=True)
    wait_for(folder / "out" / "predictions.csv")
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert set(results(folder)) == {"checkpoint", "predictions.csv", "options.toml"}
    answered = len((folder / "out" / "predictions.csv").read_text().splitlines()) - 1
    assert 0 < answered < ROWS
    assert said == f"thalweg: stopped after {answered:,} rows; the same command with --resume goes on from there\n"
    again = subprocess.run([*COMMAND, "rows.csv", *OPTIONS, "--resume"], cwd=folder, capture_output=True, text=True)
    assert again.returncode == 0
    assert "Went on from the last checkpoint." in again.stdout
    assert results(folder) == whole


def test_a_run_that_waits_for_rows_stops_at_once(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "-", *OPTIONS], cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    process.stdin.write("level,rain,state\n1,2,a\n")
    process.stdin.flush()
    wait_for(tmp_path / "out")
    time.sleep(0.2)  # for it to come to its waiting
    process.send_signal(signal.SIGINT)
    code = process.wait(60)  # the pipe is still open
    assert process.stderr is not None
    assert (code, process.stderr.read()) == (130, "thalweg: stopped before the first row\n")
    process.stdin.close()
    process.stderr.close()
    assert list(tmp_path.iterdir()) == []


def work(stopping: Stopping, number: int, done: list[int]) -> None:
    """Asked to stop in the middle."""
    with stopping.unbroken():
        signal.raise_signal(number)
        done.append(number)


def test_work_in_hand_is_finished_unless_asked_twice() -> None:
    before = signal.getsignal(signal.SIGINT)
    done: list[int] = []
    with Stopping() as stopping:
        with pytest.raises(Stopped) as first:
            work(stopping, signal.SIGTERM, done)
        assert first.value.exit_code == 143
        with pytest.raises(KeyboardInterrupt):
            work(stopping, signal.SIGINT, done)
    assert done == [signal.SIGTERM]
    assert signal.getsignal(signal.SIGINT) is before
    with Stopping() as stopping, pytest.raises(Stopped):
        signal.raise_signal(signal.SIGINT)
    with Stopping() as stopping:
        stopping.finish()
        signal.raise_signal(signal.SIGINT)
