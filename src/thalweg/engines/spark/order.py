"""In which order the rows and labels of a key are answered and learned: by their times, whatever order they came in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Places = NDArray[np.int64]


def in_time(times: NDArray[np.int64], *ties: NDArray[Any]) -> Places:
    """The order of rows by time; equal times by the other columns, so that no shuffle can change it.

    Examples
    --------
    >>> in_time(np.array([3, 1, 2])).tolist(), in_time(np.array([1, 1]), np.array(["b", "a"])).tolist()
    ([1, 2, 0], [1, 0])
    """
    order = np.argsort(times, kind="stable")
    sorted_times = times[order]
    if (sorted_times[1:] != sorted_times[:-1]).all():
        return order
    return np.lexsort((*(column for column in reversed(ties)), times))


def joined(labels: pa.Array, rows: pa.Array) -> Places:
    """For each label the first row with its id, -1 where there is none.

    Examples
    --------
    >>> joined(pa.array(["b", "x", "b"]), pa.array(["a", "b", "b"])).tolist()
    [1, -1, 1]
    """
    known = rows.filter(rows.is_valid())
    owners = np.flatnonzero(rows.is_valid().to_numpy(zero_copy_only=False))
    found: Places = pc.fill_null(pc.index_in(labels, value_set=known), -1).to_numpy(zero_copy_only=False)
    return np.where(found >= 0, owners[found] if len(owners) else -1, -1).astype(np.int64)


def firsts(places: Places) -> NDArray[np.bool_]:
    """Which of these places are there for the first time.

    Examples
    --------
    >>> firsts(np.array([1, 3, 1])).tolist()
    [True, True, False]
    """
    found = np.zeros(len(places), dtype=np.bool_)
    found[np.unique(places, return_index=True)[1]] = True
    return found


def steps(old: int, times: NDArray[np.int64], rows: Places, known_at: NDArray[np.int64]) -> Places:
    """What to do, as `follow` takes it: ``i`` answers row i, ``~i`` learns it.

    Parameters
    ----------
    old : int
        Rows that were answered before; they come first.
    times : array
        Of the rows to answer now, rising.
    rows, known_at : array
        The rows to learn, and when the label of each is known: it is learned before the first row answered at or after
        that time, and never before its own answer.

    Examples
    --------
    >>> steps(1, np.array([10, 20]), np.array([0, 1]), np.array([15, 10])).tolist()
    [1, -2, -1, 2]
    """
    place = np.searchsorted(times, known_at, side="left")
    place = np.maximum(place, np.maximum(rows - old, -1) + 1)
    learned = np.lexsort((rows, known_at, place))
    keys = np.concatenate([np.arange(len(times)) * 2 + 1, place[learned] * 2])
    every = np.concatenate([np.arange(old, old + len(times)), ~rows[learned]])
    return every[np.argsort(keys, kind="stable")]
