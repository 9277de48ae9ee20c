"""The folder of data sets, which the environment variable THALWEG_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

from thalweg.errors import DataUnavailable


def in_folder(name: str) -> Path | None:
    """The file in the folder of data sets, where there is one."""
    folder = os.environ.get("THALWEG_DATA")
    path = Path(folder) / name if folder else None
    return path if path and path.is_file() else None


def in_folder_or_nowhere(title: str, name: str) -> Path:
    """The file in the folder of data sets; an error that says how to get it where there is none."""
    path = in_folder(name)
    if path is None:
        raise DataUnavailable(f"{title} is not at hand: set THALWEG_DATA to a folder that holds {name}.")
    return path
