"""The keys of rows: which models of a fleet they belong to, and where those lie that are not in memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.frames.frame import Frame
from thalweg.frames.reading import as_array, frame_of
from thalweg.labels import code_points
from thalweg.learners.base.rows import Row

Core = TypeVar("Core")
_KINDS = {"i": "integers", "U": "strings"}


class Keys(NamedTuple):
    """The keys of some rows: one of the two is None."""

    numbers: NDArray[np.int64] | None
    words: NDArray[np.uint32] | None


def as_keys(keys: ArrayLike, rows: int, kind: str) -> Keys:
    """Keys for this many rows, of the kind already in use where there is one.

    Examples
    --------
    >>> as_keys(["a", "b"], 2, "").words.tolist()
    [[97], [98]]
    """
    given: NDArray[Any] = np.asarray(as_array(keys))
    if given.dtype.kind == "O":
        given = _from_objects(given)
    if given.ndim != 1 or len(given) != rows:
        raise InvalidInput(f"keys must be one-dimensional, one for each of the {rows} rows of X, got {given.shape}")
    if given.dtype.kind not in "iuU":
        raise InvalidInput(f"keys must be integers or strings, got {given.dtype}")
    if given.dtype.kind == "u" and rows and int(given.max()) > np.iinfo(np.int64).max:
        raise InvalidInput(f"keys must be below 2**63, got {int(given.max())}")
    own = "U" if given.dtype.kind == "U" else "i"
    if kind and own != kind:
        raise InvalidInput(f"keys must be {_KINDS[kind]} like those learned so far, got {given.tolist()[0]!r}")
    if own == "U":
        return Keys(None, _valid(code_points(given)))
    return Keys(np.ascontiguousarray(given, dtype=np.int64), None)


def _from_objects(keys: NDArray[Any]) -> NDArray[Any]:
    for kind, dtype in ((str, np.str_), (int | np.integer, np.int64)):
        if all(isinstance(key, kind) and not isinstance(key, bool) for key in keys.flat):
            try:
                return keys.astype(dtype)
            except OverflowError as error:
                raise InvalidInput("keys must be integers of 64 bits") from error
    raise InvalidInput("keys must be all integers or all strings")


def _valid(points: NDArray[np.uint32]) -> NDArray[np.uint32]:
    if ((points >= 0xD800) & (points <= 0xDFFF)).any():
        raise InvalidInput("keys must be text that can be written as UTF-8")
    return points


def apart(X: Any, name: str) -> tuple[Any, Any]:
    """A table without its column of keys, and that column."""
    frame: Frame | None = frame_of(X)
    if frame is None or name not in frame.names:
        raise InvalidInput(f"without keys, X must be a table with the column {name!r} that holds them")
    return frame.select([other for other in frame.names if other != name]), frame.column(name)


def apart_one(x: Row, name: str) -> tuple[Row, Any]:
    """A row without its key, and the key."""
    if not isinstance(x, Mapping) or name not in x:
        raise InvalidInput(f"without a key, a row must be a dict with the entry {name!r} that holds it")
    rest = dict(x)
    return rest, rest.pop(name)


def with_spill_file(owner: str, folder: str | None, make: Callable[[int], Core]) -> Core:
    """What is made with the descriptor of a temporary file without a name; an `InvalidParameter` where none can be."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            return make(os.dup(file.fileno()))
    except OSError as error:
        rule = f"be a folder that can be written ({error.strerror or error})"
        raise InvalidParameter.of(owner, "folder", rule, folder) from error
