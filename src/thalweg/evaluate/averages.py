"""Averages over all rows, over the last ones or fading, and thinned history points: in constant memory, for evaluation,
runs and the service alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled
from thalweg.parameters import whole_number
from thalweg.saved import Saved

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class RunningMean(Protocol):
    """Takes blocks of rows, and at any time gives their mean, column by column."""

    def push(self, block: Floats) -> None:
        """Add rows, the newest last."""

    def mean(self) -> Floats:
        """The average of what was pushed; there must have been a row."""


def piece_ends(rows: int, seen: int, every: int) -> Iterator[int]:
    """Where to cut rows, so many having been seen before, so that each piece ends at a multiple of ``every``."""
    done = 0
    while done < rows:
        done = min(rows, done + every - (seen + done) % every)
        yield done


class CumulativeMean(Saved):
    """Rows are added one by one: numpy's own sum adds in pairs, which depends on where they are cut."""

    _saved = ("sums", "count")

    def __init__(self, columns: int = 0) -> None:
        self.sums: Floats = np.zeros(columns)
        self.count = 0

    def push(self, block: NDArray[Any]) -> None:
        if self.count == 0 and len(self.sums) == 0:
            self.sums = np.zeros(block.shape[1])
        columns = np.array(block.T, dtype=np.float64, order="C")
        if len(block):
            columns[:, 0] += self.sums
            self.sums = np.cumsum(columns, axis=1)[:, -1].copy()
        self.count += len(block)

    def mean(self) -> Floats:
        return self.sums / self.count


class WindowedMean(Saved):
    """The mean of the last ``rows`` rows (of all, while there are fewer), in so many columns.

    The rows are kept and summed afresh when the mean is asked for, so that rows that leave the window leave no rounding
    error behind.

    Examples
    --------
    >>> window = WindowedMean(2)
    >>> window.push_and_average(np.array([[True], [False], [False]]), np.array([0, 2])).tolist()
    [[1.0], [0.0]]
    >>> window.mean()
    array([0.])
    """

    _saved = ("_last",)

    def __init__(self, rows: int, columns: int = 0) -> None:
        self._rows = rows
        self._last: NDArray[Any] = np.empty((0, columns))

    def __len__(self) -> int:
        return len(self._last)

    def push(self, block: NDArray[Any]) -> None:
        self._last = self._with(block)[-self._rows :]

    def push_and_average(self, rows: NDArray[Any], at: Places) -> Floats:
        """Add rows; the means after those of them that are ``at`` these places.

        Sums of flags are exact; those of other numbers are taken for each mean afresh, and do not depend on the cuts.
        """
        together = self._with(rows)
        ends = len(self._last) + at + 1
        begins = np.maximum(ends - self._rows, 0)
        self._last = together[-self._rows :]
        if rows.dtype != np.bool_:
            means = [together[begin:end].mean(axis=0) for begin, end in zip(begins, ends, strict=True)]
            return np.array(means).reshape(-1, rows.shape[1])
        sums = np.concatenate([np.zeros((1, rows.shape[1]), dtype=np.int64), np.cumsum(together, axis=0)])
        return np.asarray((sums[ends] - sums[begins]) / (ends - begins)[:, np.newaxis])

    def _with(self, block: NDArray[Any]) -> NDArray[Any]:
        # Row by row in memory: numpy's sums would else depend on how the rows came.
        return np.ascontiguousarray(np.concatenate([self._last, block]) if len(self._last) else block)

    def mean(self) -> Floats:
        return np.asarray(self._last.mean(axis=0))


class FadingMean(Saved):
    """A mean with weights that fade by ``factor`` with every further row.

    Examples
    --------
    >>> fading = FadingMean(0.5)
    >>> fading.push(np.array([[0.0], [3.0]]))
    >>> fading.mean()
    array([2.])
    """

    _saved = ("sums",)

    def __init__(self, factor: float, columns: int = 0) -> None:
        self._factor = factor
        #: The fading sums of the columns, and of the weights.
        self.sums = np.zeros(columns + 1)

    def push(self, block: NDArray[Any]) -> None:
        self._push(block)

    def push_and_average(self, block: NDArray[Any], at: Places) -> Floats:
        """Add rows; the means after those of them that are ``at`` these places."""
        faded = self._push(block)[:, at]
        return np.asarray((faded[:-1] / faded[-1]).T)

    def _push(self, block: NDArray[Any]) -> Floats:
        rows, columns = block.shape
        totals = self.sums if self.sums[-1] else np.zeros(columns + 1)
        values, faded = np.ones((columns + 1, rows)), np.empty((columns + 1, rows))
        values[:-1] = block.T
        for column, total, out in zip(values, totals.tolist(), faded, strict=True):
            compiled.fade(column, self._factor, total, out)
        self.sums = faded[:, -1].copy()
        return faded

    def mean(self) -> Floats:
        return np.asarray(self.sums[:-1] / self.sums[-1])


@dataclass(frozen=True)
class Cumulative:
    """All rows so far, each with the same weight.

    Examples
    --------
    >>> running = Cumulative().begin()
    >>> running.push(np.array([[5.0], [1.0], [3.0]]))
    >>> running.mean()
    array([3.])
    """

    def begin(self) -> RunningMean:
        """An empty running mean."""
        return CumulativeMean()


@dataclass(frozen=True)
class Windowed:
    """The last ``rows`` rows (all, while there are fewer).

    Examples
    --------
    >>> running = Windowed(2).begin()
    >>> running.push(np.array([[5.0], [1.0], [2.0]]))
    >>> running.mean()
    array([1.5])
    """

    rows: int = 1000

    def __post_init__(self) -> None:
        whole_number("Windowed", "rows", self.rows, least=1)

    def begin(self) -> RunningMean:
        """An empty running mean."""
        return WindowedMean(self.rows)


@dataclass(frozen=True)
class Fading:
    """Weights that fade by ``factor`` with every further row; memory is about 1 / (1 - factor) rows.

    Examples
    --------
    >>> running = Fading(0.5).begin()
    >>> running.push(np.array([[0.0], [3.0]]))
    >>> running.mean()
    array([2.])
    """

    factor: float = 0.999

    def __post_init__(self) -> None:
        factor: object = self.factor
        if isinstance(factor, bool) or not isinstance(factor, Real) or not 0.0 < float(factor) < 1.0:
            raise InvalidParameter.of("Fading", "factor", "lie in (0, 1)", factor)

    def begin(self) -> RunningMean:
        """An empty running mean."""
        return FadingMean(self.factor)


Average: TypeAlias = Cumulative | Windowed | Fading


Point = TypeVar("Point")


class HistoryPoints(Saved, Generic[Point]):
    """At most ``most`` points on an even grid of rows: when there are more, every second one is dropped.

    Examples
    --------
    >>> history = HistoryPoints[int](most=4)
    >>> for row in range(1, 12):
    ...     if history.is_due(row):
    ...         history.add(row)
    >>> history.every, history.points
    (4, [4, 8])
    """

    _saved = ("every", "points")

    def __init__(self, most: int, every: int = 1) -> None:
        self._most = most
        self.every = every
        self.points: list[Point] = []

    def is_due(self, row: int) -> bool:
        return row % self.every == 0

    def until_next(self, row: int) -> int:
        """How many rows, after so many, until the next point is due."""
        return self.every - row % self.every

    def due_among(self, row: int, coming: int) -> Places:
        """After which of the coming rows, from 0, a point is due that is still kept after all of them."""
        while (row + coming) // self.every > self._most:
            self._thin()
        return np.arange(self.until_next(row) - 1, coming, self.every)

    def add(self, point: Point) -> None:
        self.points.append(point)
        if len(self.points) > self._most:
            self._thin()

    def _thin(self) -> None:
        self.points = self.points[1::2]
        self.every *= 2
