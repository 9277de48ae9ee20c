"""Ctrl-C and SIGTERM: a run stops with a checkpoint, says how to go on, and ends with the bytes of one left alone."""

from __future__ import annotations

import fcntl
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from tests.cli.signals import SECONDS, endings, write_files
from tests.waiting import PATIENCE, wait_until
from thalweg import cli
from thalweg.stopping import Stopped, Stopping

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


def stopped(folder: Path, number: int) -> tuple[int, str]:
    """The exit code of a run that is sent a signal once it has begun, and what it said."""
    for path in (folder / "out").iterdir():
        path.unlink()
    process = subprocess.Popen([*COMMAND, "rows.csv", *OPTIONS], cwd=folder, stderr=subprocess.PIPE, text=True)
    begun = folder / "out" / "predictions.csv"
    wait_until(lambda: begun.exists() or process.poll() is not None, pause=0.001)
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    return process.returncode, said


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_stopped_run_goes_on_where_it_was(table: tuple[Path, dict[str, bytes]], number: int) -> None:
    folder, whole = table
    for _ in range(20):
        code, said = stopped(folder, number)
        if not (folder / "out" / "metrics.json").exists():
            break  # else it was finished before the signal came
    assert code == 128 + number
    assert set(results(folder)) == {"checkpoint", "predictions.csv", "options.toml"}
    answered = len((folder / "out" / "predictions.csv").read_text().splitlines()) - 1
    assert 0 < answered < ROWS
    assert said == f"thalweg: stopped after {answered:,} rows; the same command with --resume continues from there\n"
    again = subprocess.run([*COMMAND, "rows.csv", *OPTIONS, "--resume"], cwd=folder, capture_output=True, text=True)
    assert again.returncode == 0
    assert "Resumed from the last checkpoint." in again.stdout
    assert results(folder) == whole


def unread(pipe: IO[str]) -> int:
    """Bytes that were written to a pipe and that nobody has read yet."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def is_asleep(process: subprocess.Popen[str]) -> bool:
    """Whether the main thread of a process waits for the operating system; assumed where there is no /proc."""
    told = Path(f"/proc/{process.pid}/stat")
    return not told.exists() or told.read_text().rpartition(")")[2].split()[0] == "S"


def test_a_run_that_waits_for_rows_stops_at_once(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "-", *OPTIONS], cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    pipe = process.stdin
    pipe.write("level,rain,state\n1,2,a\n")
    pipe.flush()
    wait_until(lambda: (tmp_path / "out").exists() and unread(pipe) == 0 and is_asleep(process))
    process.send_signal(signal.SIGINT)
    code = process.wait(PATIENCE)  # the pipe is still open
    assert process.stderr is not None
    assert (code, process.stderr.read()) == (130, "thalweg: stopped before the first row\n")
    pipe.close()
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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_work_that_holds_the_interpreter_is_cut_off(number: int) -> None:
    endless = """
import re
from thalweg.stopping import Stopping
with Stopping() as stopping, stopping.unbroken():
    stopping.can_resume()
    print("begun", flush=True)
    re.match("(a|a)+b", 100 * "a")
"""
    process = subprocess.Popen(
        [sys.executable, "-c", endless], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    assert said == "thalweg: stopped during a long step; --resume continues from the last checkpoint\n"


@pytest.mark.slow
def test_every_command_ends_soon_after_a_signal(tmp_path: Path) -> None:
    write_files(tmp_path)
    assert [what for seconds, ended, what in endings(tmp_path, 10, seed=1) if seconds > SECONDS or not ended] == []


def test_a_signal_while_a_class_is_made_is_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on import: before Python 3.12 what is raised then comes wrapped."""

    class Field:
        def __set_name__(self, owner: type, name: str) -> None:
            raise Stopped(signal.SIGTERM)

    def command(*given: object, **options: object) -> None:
        type("Record", (), {"field": Field()})

    monkeypatch.setattr(cli, "parser", lambda: command)
    with pytest.raises(SystemExit) as end:
        cli.main(["run"])
    assert end.value.code == 128 + signal.SIGTERM
    assert "internal error" not in capsys.readouterr().err
