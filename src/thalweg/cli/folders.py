"""Where results go, found writable before any work is done."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path


def writable_folder(folder: Path) -> Path:
    """The folder, made if need be; an OSError names it if nothing can be written there."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        return folder


def writable_file(path: Path) -> Path:
    """The file's path, its folder made if need be; an OSError names it if it cannot be written."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    writable_folder(path.parent)
    return path
