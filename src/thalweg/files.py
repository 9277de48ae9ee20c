"""Files that are whole or not there: readers see the old one or the new one, never a part. Files that are held."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

#: Windows has no modes of files, cannot open folders, and keeps a file that somebody reads in its place.
WINDOWS = os.name == "nt"
_WAITS = (0.01, 0.05, 0.2, 0.5)


def write_atomically(path: Path, content: bytes) -> None:
    """Put content in place of a file; an `OSError` leaves the old one as it was."""
    with replacement(path) as file:
        file.write(content)


@contextmanager
def replacement(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of ``path`` at the end, and is gone after an error.

    It is a temporary neighbour, flushed to the disk and renamed.
    """
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if not WINDOWS:
                os.fchmod(file.fileno(), _mode_for(path))
        _rename(Path(temporary), path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    if WINDOWS:
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the renaming, too, is on the disk
    finally:
        os.close(folder)


def _rename(temporary: Path, path: Path) -> None:
    """Put a file in the place of another; on Windows, readers of the old one are waited for, about a second."""
    for seconds in _WAITS if WINDOWS else ():
        try:
            temporary.replace(path)
            return
        except PermissionError:
            time.sleep(seconds)
    temporary.replace(path)


def hold(file: IO[Any]) -> None:
    """Keep other processes from holding the same file until it is closed; an `OSError` where one does."""
    if WINDOWS:
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _mode_for(path: Path) -> int:
    """The permissions an ordinary write would leave: those of the old file, or what the user's mask allows."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
