"""A finite data set in time order, as a stream."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import nullcontext, suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.frames.frame import Frame
from thalweg.frames.reading import as_array, as_plain, as_they_are, frame_of, sliced
from thalweg.streams.stream import Labels, Rows, Stream


class Table(Stream):
    """A data set as a stream, in the order of its rows.

    Parameters
    ----------
    X : array-like of shape (rows, features), sparse matrix or data frame
        Finite numbers; copied. Rows of a sparse matrix are given out as a `scipy.sparse.csr_array`. A frame may also
        have text, categories, times and gaps: its rows are given out as frames then, for a `TableClassifier` or a
        `TableRegressor`.
    y : array-like of shape (rows,)
        Labels; copied.
    feature_names : sequence of str, optional
        By default the frame's columns, else x1, x2, … Names of a frame, or given here, go to the models that are walked
        along the table.

    Examples
    --------
    >>> table = Table([[0.0], [1.0], [2.0]], ["dry", "wet", "wet"])
    >>> len(table), table.feature_names, table.classes.tolist()
    (3, ('x1',), ['dry', 'wet'])
    >>> table.take(2, start=1)[1].tolist()
    ['wet', 'wet']
    """

    def __init__(self, X: ArrayLike, y: ArrayLike, feature_names: Sequence[Hashable] | None = None) -> None:
        sparse = hasattr(X, "tocsr")
        frame = None if sparse else frame_of(X)
        self._X: Any
        try:
            if sparse:
                self._X = _compressed(X)
            else:
                self._X = _cells(frame) if frame is not None else np.array(as_plain(X, "X"), dtype=np.float64)
        except InvalidInput:
            raise
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"The X of a Table must be a matrix of numbers, got one that fails with: {error}."
            ) from None
        if np.ma.is_masked(y):
            raise InvalidInput("The y of a Table must hold a label for every row, got a masked array.")
        self._y = np.array(as_they_are(as_array(y)))
        shape = np.shape(self._X) if frame is None else (len(frame), len(frame.names))
        if len(shape) != 2 or self._y.shape != shape[:1]:
            raise InvalidInput(
                "A Table must have X of shape (rows, features) and y of shape (rows,), "
                f"got {shape} and {self._y.shape}."
            )
        as_frame = frame is not None and not isinstance(self._X, np.ndarray)
        if not as_frame and not np.isfinite(self._X.data if sparse else self._X).all():
            row, column = np.argwhere(~np.isfinite(self._X))[0] if not sparse else _first_not_finite(self._X)
            raise InvalidInput(
                f"The X of a Table must be finite, got {self._X[row, column]} in row {row}, column {column}."
            )
        columns = shape[1]
        given = feature_names if frame is None or feature_names is not None else frame.names
        self._given = None if given is None else tuple(given)
        if self._given is not None and len(self._given) != columns:
            raise InvalidParameter.of("Table", "feature_names", f"name all {columns} columns", feature_names)
        if self._given is not None and len(set(self._given)) < columns:
            raise InvalidParameter.of("Table", "feature_names", "name each column differently", feature_names)
        if as_frame and feature_names is not None:
            raise InvalidParameter.of("Table", "feature_names", "be left out for a frame with its own", feature_names)
        self._columns = columns
        try:
            self._classes = np.unique(self._y)
        except TypeError as error:
            raise InvalidInput(f"The y of a Table must hold labels of one type: {error}.") from None

    @property
    def length(self) -> int:
        """How many rows there are."""
        return len(self._y)

    def __len__(self) -> int:
        return self.length

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name per column of X."""
        given = self._given
        return tuple(f"x{i + 1}" for i in range(self.n_features)) if given is None else tuple(map(str, given))

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        return self._columns

    @property
    def given_names(self) -> tuple[Hashable, ...] | None:
        """The frame's columns or the given names; None for an array without."""
        return self._given

    @property
    def classes(self) -> Labels:
        """Every label that occurs, sorted."""
        return self._classes.copy()

    def take(self, n: int | None = None, start: int = 0) -> Rows:
        """Rows ``start`` … ``start + n - 1``; without ``n``, all from ``start`` on."""
        first, stop = self._span("n", n, start)
        rows = sliced(self._X, first, stop)
        return rows.copy() if hasattr(rows, "copy") else rows, self._y[first:stop].copy()

    def _span(self, name: str, count: int | None, start: int) -> tuple[int, int]:
        first, stop = super()._span(name, count, start)
        rule = f"stay within its {self.length} rows"
        if first > self.length:
            raise InvalidParameter.of("Table", "start", rule, start)
        if stop > self.length:
            raise InvalidParameter.of("Table", name, rule, count)
        return first, stop

    def __repr__(self) -> str:
        return f"Table({self.length} rows, {self.n_features} features, {len(self._classes)} classes)"


def _cells(frame: Frame) -> Any:
    """The rows of a frame as numbers; a frame of them where some cells are none."""
    whole = all(isinstance(name, str) for name in frame.names) and len(set(frame.names)) == len(frame.names)
    with suppress(InvalidInput) if whole else nullcontext():
        rows = np.array(frame.rows(), dtype=np.float64)
        if np.isfinite(rows).all():
            return rows
    native = frame.native
    return native.copy() if hasattr(native, "copy") else native


def _compressed(X: Any) -> Any:
    from scipy.sparse import csr_array

    return csr_array(X).astype(np.float64)


def _first_not_finite(X: Any) -> tuple[int, int]:
    at = int(np.flatnonzero(~np.isfinite(X.data))[0])
    return int(np.searchsorted(X.indptr, at, side="right")) - 1, int(X.indices[at])
