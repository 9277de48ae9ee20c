"""The order in which rows are predicted and learned when labels come late, out of order, or never.

Rows that wait for their label are kept with their predictions. The model and the baselines follow the same order: a
baseline gets a label when the model does. Nothing depends on how the rows are cut into chunks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.saved import Saved
from thalweg.tables.encoder import rows_between, stack_rows

Places = NDArray[np.int64]


def learning_places(carried: int, clock: Places, rows: Places, due: Places, *, after: bool = False) -> Places:
    """How many of the fresh rows are predicted before each of these rows is learned.

    Parameters
    ----------
    carried : int
        Rows that were predicted before; they come first, the fresh ones after them.
    clock : array
        When each fresh row is predicted, rising.
    rows, due : arrays
        The rows to learn, and when the label of each comes. A row is learned before the first prediction at or after
        that time, and never before its own prediction.
    after : bool
        Learn a row right after that prediction instead.

    Examples
    --------
    >>> learning_places(1, np.array([10, 20]), np.array([0, 1]), np.array([15, 10])).tolist()
    [1, 1]
    """
    return np.maximum(np.searchsorted(clock, due, side="left") + after, rows - carried + 1)


def interleave(carried: int, fresh: int, rows: Places, due: Places, place: Places) -> Places:
    """The steps that `follow` takes: ``i`` predicts row i, ``~i`` learns it; labels in the order in which they come.

    Examples
    --------
    >>> interleave(1, 2, np.array([0, 1]), np.array([15, 10]), np.array([1, 1])).tolist()
    [1, -2, -1, 2]
    """
    learned = np.lexsort((rows, due, place))
    keys = np.concatenate([np.arange(fresh) * 2 + 1, place[learned] * 2])
    steps = np.concatenate([np.arange(carried, carried + fresh), ~rows[learned]])
    return np.asarray(steps[np.argsort(keys, kind="stable")])


_NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass
class Waiting(Saved):
    """Rows whose label has not come yet, in the order in which it will."""

    _saved = ("X", "labels", "due", "number", "predicted")

    X: Any
    labels: NDArray[Any]
    #: When the label comes: a row number, or a time.
    due: Places
    #: The number of the row in the stream, from 1.
    number: Places
    #: What is needed to score the prediction, by name.
    predicted: dict[str, NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.due)


@dataclass(frozen=True)
class Batch:
    """The rows in hand, those that were waiting first, and the order in which they are predicted and learned."""

    X: Any
    labels: NDArray[Any]
    #: i predicts row i, ~i learns it.
    order: Places
    #: How many of the rows were predicted before.
    carried: int
    #: Rows learned now, in the order in which they are.
    learned: Places
    #: Rows that still wait, in the order in which their labels come.
    waiting: Places
    due: Places
    number: Places
    #: Whether every row is predicted and then learned before the next one is.
    at_once: bool = False

    def part(self, steps: Places) -> tuple[slice | Places, Any, Places]:
        """The rows that some of the steps are about, their features, and the steps by places among these rows.

        Examples
        --------
        >>> batch = Batch(np.arange(5.0)[:, np.newaxis], *[np.arange(5)] * 2, 0, *[np.arange(5)] * 4)
        >>> rows, X, order = batch.part(np.array([3, ~0, 1, 4, ~1]))
        >>> rows.tolist(), X.ravel().tolist(), order.tolist()
        ([0, 1, 3, 4], [0.0, 1.0, 3.0, 4.0], [2, -1, 1, 3, -2])
        """
        places = np.where(steps < 0, ~steps, steps)
        first, last = int(places.min()), int(places.max())
        used = np.zeros(self.X.shape[0], dtype=np.bool_)
        used[places] = True
        if used[first : last + 1].all():
            among = places - first
            return slice(first, last + 1), rows_between(self.X, first, last + 1), np.where(steps < 0, ~among, among)
        among = np.cumsum(used)[places] - 1
        return np.flatnonzero(used), self.X[used], np.where(steps < 0, ~among, among)


class LateLabels(Saved):
    """Labels that come with their row, ``delay`` rows later, or at times of their own.

    Parameters
    ----------
    delay : int >= 0
        Rows between a row and its label: row i is learned right after row i + delay is predicted.
    timed : bool
        Labels come at given times: a row is learned before the first row predicted at or after its label's time.

    Examples
    --------
    >>> late = LateLabels(delay=1)
    >>> batch = late.plan(np.zeros((3, 1)), np.array(["a", "b", "c"]), np.ones(3, dtype=bool), np.array([1, 2, 3]))
    >>> batch.order.tolist(), batch.waiting.tolist()
    ([0, 1, -1, 2, -2], [2])
    """

    _saved = ("waiting", "clock")
    _made = (("waiting", lambda: Waiting(None, _NO_ROWS, _NO_ROWS, _NO_ROWS)),)

    def __init__(self, *, delay: int = 0, timed: bool = False) -> None:
        self.delay = delay
        self.timed = timed
        self.waiting: Waiting | None = None
        #: The latest time of a row so far: it does not go back where those of the rows do.
        self.clock = int(np.iinfo(np.int64).min)

    def plan(
        self,
        X: Any,
        labels: NDArray[Any],
        has_label: NDArray[np.bool_],
        number: Places,
        now: Places | None = None,
        label_time: Places | None = None,
    ) -> Batch:
        """What to do with the rows that have just come, ``number`` being theirs in the stream.

        With timed labels, ``now`` and ``label_time`` say when each row and its label come.
        """
        if self.delay == 0 and not self.timed:
            return _at_once(X, labels, has_label, number)
        old = self.waiting
        carried = 0 if old is None else len(old)
        if self.timed:
            assert now is not None
            assert label_time is not None
            due, clock = label_time, np.maximum(np.maximum.accumulate(now), self.clock)
        else:
            due, clock = number + self.delay, number
        if old is not None and carried:
            X, labels = stack_rows([old.X, X]), np.concatenate([old.labels, labels])
            number, due = np.concatenate([old.number, number]), np.concatenate([old.due, due])
        if len(clock):
            self.clock = int(clock[-1])
        candidates = np.flatnonzero(np.concatenate([np.ones(carried, np.bool_), has_label]))
        candidates = candidates[np.argsort(due[candidates], kind="stable")]
        place = learning_places(carried, clock, candidates, due[candidates], after=not self.timed)
        done = place < len(clock) + (not self.timed)
        learned, waiting = candidates[done], candidates[~done]
        order = interleave(carried, len(clock), learned, due[learned], place[done])
        return Batch(X, labels, order, carried, ~order[order < 0], waiting, due, number)

    def keep(self, batch: Batch, predicted: dict[str, NDArray[Any]]) -> None:
        rows = batch.waiting
        self.waiting = Waiting(
            batch.X[rows] if len(rows) else rows_between(batch.X, 0, 0),
            batch.labels[rows],
            batch.due[rows],
            batch.number[rows],
            {name: values[rows] for name, values in predicted.items()},
        )


def _at_once(X: Any, labels: NDArray[Any], has_label: NDArray[np.bool_], number: Places) -> Batch:
    """Every label comes with its row."""
    rows = np.arange(len(number))
    steps = np.stack([rows, ~rows], axis=1)
    wanted = np.stack([np.ones(len(rows), dtype=np.bool_), has_label], axis=1)
    nobody = np.empty(0, dtype=np.int64)
    return Batch(X, labels, steps[wanted], 0, rows[has_label], nobody, number, number, at_once=bool(has_label.all()))
