"""When each row is answered and when it is learned: labels may come late, out of order, or never.

Rows that were answered and whose label is still to come wait here, with what they were answered, and are part of the
checkpoint. Nothing depends on how the rows are cut into chunks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass
class Waiting:
    """Rows whose label has not come yet, in the order in which it will."""

    X: Floats
    #: Numbers of labels.
    labels: NDArray[np.int64]
    #: When the label comes: a row number, or a time.
    due: NDArray[np.int64]
    #: The row's number in the run.
    number: NDArray[np.int64]
    #: What is needed to score the answer, by name.
    answered: dict[str, NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.due)


@dataclass(frozen=True)
class Work:
    """The rows in hand, those that were waiting first, and the order in which they are answered and learned."""

    X: Floats
    labels: NDArray[np.int64]
    #: i answers row i, ~i learns it.
    order: NDArray[np.int64]
    #: How many of the rows were answered before.
    carried: int
    #: Rows learned now, in the order in which they are.
    learned: NDArray[np.int64]
    #: Rows that go on waiting, in the order in which their labels come.
    waiting: NDArray[np.int64]
    due: NDArray[np.int64]
    number: NDArray[np.int64]
    #: Whether every row is answered and then learned before the next one is.
    at_once: bool = False


class Schedule:
    """Labels that come with their row, ``delay`` rows later, or at a time of their own.

    Parameters
    ----------
    delay : int >= 0
        Rows between a row and its label. Row i is learned once row i + delay has been answered.
    timed : bool
        Labels come at times that the table tells: a row is learned before the first row answered at or after its
        label's time.
    """

    def __init__(self, *, delay: int = 0, timed: bool = False) -> None:
        self.delay = delay
        self.timed = timed
        self.waiting: Waiting | None = None
        #: The latest time of a row so far: it does not go back where those of the table do.
        self.clock = int(np.iinfo(np.int64).min)

    def plan(
        self,
        X: Floats,
        labels: NDArray[np.int64],
        has_label: NDArray[np.bool_],
        number: NDArray[np.int64],
        now: NDArray[np.int64] | None = None,
        label_time: NDArray[np.int64] | None = None,
    ) -> Work:
        """What to do with the rows that have just come.

        Parameters
        ----------
        X, labels, has_label, number
            The rows, their labels by number as the table tells them, whether there is one, and the rows' own numbers.
        now, label_time
            With timed labels, when each row and its label come, in microseconds.
        """
        if self.delay == 0 and not self.timed:
            return _at_once(X, labels, has_label, number)
        old = self.waiting
        carried = 0 if old is None else len(old)
        if old is not None and carried:
            X, labels = np.concatenate([old.X, X]), np.concatenate([old.labels, labels])
            number = np.concatenate([old.number, number])
        fresh = np.arange(carried, len(X))
        if self.timed:
            assert now is not None
            assert label_time is not None
            due_of_fresh, clock = label_time, np.maximum(np.maximum.accumulate(now), self.clock)
        else:
            due_of_fresh, clock = number[carried:] + self.delay, number[carried:]
        due = np.concatenate([old.due if old is not None and carried else np.empty(0, np.int64), due_of_fresh])
        wanted = np.concatenate([np.ones(carried, np.bool_), has_label])
        candidates = np.flatnonzero(wanted)
        candidates = candidates[np.lexsort((number[candidates], due[candidates]))]
        # The place of each learning among the answers: after answer j (delay), or before it (times).
        if self.timed:
            place = np.searchsorted(clock, due[candidates], side="left")
            place = np.maximum(place, np.maximum(candidates - carried, -1) + 1)  # not before its own answer
            done = place < len(fresh)
        else:
            place = np.searchsorted(clock, due[candidates], side="left") + 1
            done = place <= len(fresh)
        if len(clock):
            self.clock = int(clock[-1])
        learned, waiting = candidates[done], candidates[~done]
        keys = np.concatenate([np.arange(len(fresh)) * 2 + 1, place[done] * 2])
        steps = np.concatenate([fresh, ~learned])
        order = steps[np.argsort(keys, kind="stable")]
        sequence = order[order < 0]
        return Work(X, labels, order, carried, ~sequence, waiting, due, number)

    def keep(self, work: Work, answered: dict[str, NDArray[Any]]) -> None:
        """Remember the rows that go on waiting, with what they were answered."""
        rows = work.waiting
        self.waiting = Waiting(
            work.X[rows],
            work.labels[rows],
            work.due[rows],
            work.number[rows],
            {name: values[rows] for name, values in answered.items()},
        )


def _at_once(X: Floats, labels: NDArray[np.int64], has_label: NDArray[np.bool_], number: NDArray[np.int64]) -> Work:
    """Every label comes with its row."""
    rows = np.arange(len(X))
    steps = np.stack([rows, ~rows], axis=1)
    wanted = np.stack([np.ones(len(X), dtype=np.bool_), has_label], axis=1)
    none = np.empty(0, dtype=np.int64)
    return Work(X, labels, steps[wanted], 0, rows[has_label], none, number, number, at_once=bool(has_label.all()))


def rows_of(places: NDArray[np.int64], rows: int) -> tuple[slice | NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows among these places, rising, and where in them each place is.

    Examples
    --------
    >>> rows_of(np.array([2, 2, 3]), 5)
    (slice(2, 4, None), array([0, 0, 1]))
    >>> rows_of(np.array([3, 0, 3]), 5)
    (array([0, 3]), array([1, 0, 1]))
    """
    first, last = int(places.min()), int(places.max())
    used = np.zeros(rows, dtype=np.bool_)
    used[places] = True
    if used[first : last + 1].all():
        return slice(first, last + 1), places - first
    return np.flatnonzero(used), np.cumsum(used)[places] - 1
