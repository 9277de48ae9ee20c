"""Where results go, found writable before any work is done."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path


def writable_folder(folder: Path) -> Path:
    """The folder, made if need be; an OSError names it if nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise _unwritable(error, folder) from error


def writable_file(path: Path) -> Path:
    """The file's path, its folder made if need be; an OSError names it if it cannot be written."""
    if path.is_dir():
        raise _unwritable(IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)), path)
    writable_folder(path.parent)
    return path


def _unwritable(error: OSError, path: Path) -> OSError:
    return type(error)(error.errno, f"nothing can be written there: {error.strerror}", str(path))
