"""Files that are whole or not there, here and as on Windows (`tests/like_windows.py`)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from thalweg import files
from thalweg.files import hold, replacement, write_atomically


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")
    with replacement(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")
    with pytest.raises(ZeroDivisionError), replacement(path) as file:
        file.write(bytes([1 // 0]))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_readers_of_the_old_file_are_waited_for_where_they_keep_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")
    waited: list[float] = []
    with path.open("rb") as reader:

        def wait(seconds: float) -> None:
            waited.append(seconds)
            if len(waited) == 2:
                reader.close()

        monkeypatch.setattr("thalweg.files.time.sleep", wait)
        write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert len(waited) == (2 if files.WINDOWS else 0)


def test_a_file_is_held_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("w") as first, path.open("w") as second:
        hold(first)
        with pytest.raises(OSError, match=r"temporarily unavailable|denied"):
            hold(second)
        first.close()
        hold(second)


@pytest.mark.skipif(files.WINDOWS or not Path("/proc/self/fd").exists(), reason="for Linux, to be as on Windows")
@pytest.mark.parametrize(
    "chosen",
    [
        "test_files or atomic or names_come_back or replay_reads or as_on_windows",
        pytest.param("not permissions", marks=pytest.mark.slow),
    ],
)
def test_files_models_runs_and_journals_do_without_posix(chosen: str) -> None:
    """Tests of them in a Python that lacks what Windows lacks, where a text file without an encoding is an error."""
    names = ("test_files.py", "test_store.py", "cli/test_run.py", "cli/test_resume.py", "service/test_journal.py")
    filters = "ignore::EncodingWarning\nerror::EncodingWarning:thalweg.*"
    told = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-m", "pytest", "-q", "-p", "tests.like_windows", "-k", chosen]
        + ["-p", "no:cacheprovider", "-m", "not slow", "-o", f"filterwarnings={filters}"]
        + [f"tests/{name}" for name in names],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "THALWEG_EXAMPLES": "0.01"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stdout[-3000:] + told.stderr[-2000:]
