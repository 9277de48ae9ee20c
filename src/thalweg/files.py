"""Files that are whole or not there: readers see the old one or the new one, never a part."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


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
            os.fchmod(file.fileno(), _mode_for(path))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the renaming, too, is on the disk
    finally:
        os.close(folder)


def _mode_for(path: Path) -> int:
    """The permissions an ordinary write would leave: those of the old file, or what the user's mask allows."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
