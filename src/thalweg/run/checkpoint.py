"""The whole state of a run in one file, replaced as a whole: what a killed run resumes from.

A safetensors container: the models as bytes of their own files, the rows that wait for their labels as arrays, the
rest as JSON, and a SHA-256 over all of it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save as save_arrays

from thalweg.errors import ModelFileError
from thalweg.files import write_atomically
from thalweg.store import digest, open_container

_KEY = "thalweg-run"
_PROTOCOL = 2

#: What JSON holds, arrays, and models as their own files.
Parts = tuple[dict[str, Any], dict[str, NDArray[Any]], dict[str, bytes]]


def write(path: Path, plain: dict[str, Any], arrays: dict[str, NDArray[Any]], models: dict[str, bytes]) -> None:
    """Replace the checkpoint; an `OSError` leaves the old one."""
    held = dict(arrays) | {f"model {name}": np.frombuffer(content, np.uint8) for name, content in models.items()}
    texts = {name: array for name, array in held.items() if array.dtype.kind == "U"}
    header = {"protocol": _PROTOCOL, "plain": plain, "texts": {name: array.tolist() for name, array in texts.items()}}
    numbers = {name: np.ascontiguousarray(array) for name, array in held.items() if name not in texts}
    header["sha256"] = digest(header, numbers)
    write_atomically(path, save_arrays(numbers, metadata={_KEY: json.dumps(header)}))


def read(path: Path) -> Parts:
    """The state that `write` wrote; a `ModelFileError` where the file is damaged."""
    try:
        header, arrays = open_container(path.read_bytes(), _KEY)
    except (OSError, SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ModelFileError(f"{path} is not a checkpoint of a run: begin anew with --fresh") from error
    if header.pop("sha256", None) != digest(header, arrays) or header.get("protocol") != _PROTOCOL:
        raise ModelFileError(f"{path} is damaged, or of another version: begin anew with --fresh")
    models = {name[6:]: array.tobytes() for name, array in arrays.items() if name.startswith("model ")}
    others: dict[str, NDArray[Any]] = {name: array for name, array in arrays.items() if not name.startswith("model ")}
    others |= {name: np.array(values, dtype=np.str_) for name, values in header["texts"].items()}
    return header["plain"], others, models
