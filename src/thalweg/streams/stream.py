"""What every stream is: rows in time that can be read again and again, always the same."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from thalweg.parameters import whole_number

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]
#: X of shape (rows, n_features) and y of shape (rows,): labels, or numbers where a stream is for regression.
Rows: TypeAlias = tuple[Floats, Labels]

#: Rows fetched at a time when a stream is iterated row by row.
_ITERATION_BATCH = 1024


#: Below the smallest positive uniform number; a uniform 0 would be a normal minus infinity.
LEAST_UNIFORM = 2.0**-54


def standard_normals(uniforms: Floats) -> Floats:
    """Standard normal numbers from uniform ones, by the inverse of their distribution function."""
    return np.asarray(ndtri(np.maximum(uniforms, LEAST_UNIFORM)))


class Stream(ABC):
    """Rows in time.

    Row t is the same whichever way it is reached: by `take`, by `batches` of any size, or by iteration. A
    stream has no position, so any number of readers may use it at once. The arrays it hands out are the
    reader's own.

    Examples
    --------
    >>> from thalweg.streams import Stagger
    >>> stream = Stagger(seed=1)
    >>> [len(y) for _, y in stream.batches(50)]
    [50, 50, 20]
    >>> bool((stream.take(1, start=7)[0] == stream.take(10)[0][7]).all())
    True
    """

    @property
    @abstractmethod
    def length(self) -> int:
        """Rows of the data set; for a generated stream, which is endless, of its paper's protocol."""

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """One name per column of X."""

    @property
    def given_names(self) -> tuple[Hashable, ...] | None:
        """The names that came with the data, which evaluation hands on to models; None where names are made up."""
        return None

    @property
    @abstractmethod
    def classes(self) -> Labels:
        """Every label that may occur, sorted; an error for a stream whose targets are numbers."""

    @abstractmethod
    def take(self, n: int | None = None, start: int = 0) -> Rows:
        """Rows ``start`` … ``start + n - 1``; without ``n``, all from ``start`` to the stream's length."""

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        return len(self.feature_names)

    def batches(self, size: int, rows: int | None = None, start: int = 0) -> Iterator[Rows]:
        """``rows`` rows from ``start`` on (by default up to the stream's length), ``size`` at a time."""
        owner = type(self).__name__
        size = whole_number(owner, "size", size, least=1)
        first, stop = self._span("rows", rows, start)
        return (self.take(min(size, stop - at), at) for at in range(first, stop, size))

    def __iter__(self) -> Iterator[tuple[Floats, Any]]:
        for X, y in self.batches(_ITERATION_BATCH):
            yield from zip(X, y, strict=True)

    def _span(self, name: str, count: int | None, start: int) -> tuple[int, int]:
        owner = type(self).__name__
        first = whole_number(owner, "start", start)
        if count is None:
            return first, max(first, self.length)
        return first, first + whole_number(owner, name, count)
