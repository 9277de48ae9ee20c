"""Three ways to average rows of a stream in constant memory: over all, over the last, fading.

An average is an immutable description; ``begin()`` starts a running mean of rows of numbers. However the
rows are split into blocks, the mean is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Protocol, TypeAlias

import numpy as np

from thalweg.errors import InvalidParameter
from thalweg.streams.stream import Floats
from thalweg.streams.whole_number import whole_number


class RunningMean(Protocol):
    """Takes blocks of rows, and at any time gives their mean, column by column."""

    def push(self, block: Floats) -> None:
        """Add rows, the newest last."""

    def mean(self) -> Floats:
        """The average of what was pushed; there must have been a row."""


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
        return _CumulativeMean()


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
        return _WindowedMean(self.rows)


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
        return _FadingMean(self.factor)


Average: TypeAlias = Cumulative | Windowed | Fading


class _CumulativeMean:
    def __init__(self) -> None:
        self._sums: Floats | float = 0.0
        self._count = 0

    def push(self, block: Floats) -> None:
        self._sums = self._sums + block.sum(axis=0)
        self._count += len(block)

    def mean(self) -> Floats:
        return np.asarray(self._sums / self._count)


class _WindowedMean:
    """A ring of the last rows, summed afresh when asked: no rounding piles up from rows that leave."""

    def __init__(self, rows: int) -> None:
        self._width = rows
        self._ring = np.zeros((rows, 0))
        self._seen = 0

    def push(self, block: Floats) -> None:
        if self._seen == 0:
            self._ring = np.zeros((self._width, block.shape[1]))
        kept = block[-self._width :]
        self._seen += len(block)
        self._ring[np.arange(self._seen - len(kept), self._seen) % self._width] = kept

    def mean(self) -> Floats:
        return np.asarray(self._ring[: self._seen].mean(axis=0))


class _FadingMean:
    def __init__(self, factor: float) -> None:
        self._factor = factor
        self._sums: Floats | float = 0.0
        self._weight = 0.0

    def push(self, block: Floats) -> None:
        weights = self._factor ** np.arange(len(block) - 1, -1, -1)
        faded = self._factor ** len(block)
        self._sums = faded * self._sums + weights @ block
        self._weight = faded * self._weight + weights.sum()

    def mean(self) -> Floats:
        return np.asarray(self._sums / self._weight)
