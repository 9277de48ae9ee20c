"""The thirteen benchmark sets of Rätsch, Onoda & Müller (2001), with their splits into training and test rows."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import DataUnavailable, InvalidParameter
from thalweg.parameters import whole_number
from thalweg.streams.datasets import in_folder_or_nowhere
from thalweg.streams.stream import Floats, Labels

BENCHMARK_SETS = (
    "banana",
    "breast_cancer",
    "diabetis",
    "flare_solar",
    "german",
    "heart",
    "image",
    "ringnorm",
    "splice",
    "thyroid",
    "titanic",
    "twonorm",
    "waveform",
)
_ARRAYS = ("X", "y", "train", "n_real")


class Split(NamedTuple):
    """Training rows, and all the others to test on.

    Examples
    --------
    >>> X, y = np.zeros((4, 2)), np.array([1, -1, 1, -1])
    >>> split = Split(X[:3], y[:3], X_test=X[3:], y_test=y[3:])
    >>> len(split.y_train), len(split.y_test)
    (3, 1)
    """

    X_train: Floats
    y_train: Labels
    X_test: Floats
    y_test: Labels


@dataclass(frozen=True, eq=False)
class BenchmarkSet:
    """A data set of two classes, -1 and 1, with many splits into training and test rows.

    Attributes
    ----------
    name : str
        One of `BENCHMARK_SETS`.
    X, y : arrays of shape (rows, features) and (rows,)
        All rows. They may not be written to.
    train : array of shape (splits, training rows)
        The rows that each split trains on; it tests on all the others.
    published : int
        So many splits, the first ones, are those that were published; the others are random ones of the same size.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, 1])
    >>> small = BenchmarkSet("banana", X, y, train=np.array([[0, 1], [2, 3]]), published=2)
    >>> small.n_splits, small.split(1).X_test.ravel().tolist()
    (2, [0.0, 1.0])
    """

    name: str
    X: Floats
    y: Labels
    train: NDArray[np.intp]
    published: int

    def __post_init__(self) -> None:
        for array in (self.X, self.y, self.train):
            array.setflags(write=False)

    @property
    def n_splits(self) -> int:
        """How many splits there are."""
        return len(self.train)

    def split(self, number: int) -> Split:
        """The rows of split ``number``, counted from 0, as copies."""
        if whole_number("BenchmarkSet", "number", number) >= self.n_splits:
            raise InvalidParameter.of("BenchmarkSet", "number", f"be below its {self.n_splits} splits", number)
        chosen = np.zeros(len(self.y), dtype=np.bool_)
        chosen[self.train[number]] = True
        return Split(self.X[chosen], self.y[chosen], self.X[~chosen], self.y[~chosen])

    def splits(self, count: int | None = None) -> Iterator[Split]:
        """The first ``count`` splits, or as many as there are."""
        wanted = self.n_splits if count is None else whole_number("BenchmarkSet", "count", count)
        return (self.split(number) for number in range(min(wanted, self.n_splits)))

    def one_hot(self) -> BenchmarkSet:
        """The same set with an indicator for every value of every column.

        splice and flare_solar hold category codes, between which distances mean nothing.
        """
        columns = [column[:, np.newaxis] == np.unique(column) for column in self.X.T]
        return replace(self, X=np.concatenate(columns, axis=1).astype(np.float64))


def load_benchmark(name: str) -> BenchmarkSet:
    """One of the thirteen benchmark sets, by its name in `BENCHMARK_SETS`.

    They have 215 to 7,400 rows and 2 to 60 features, as published: all but breast_cancer, flare_solar, splice and
    thyroid have features of mean 0 and standard deviation 1. image and splice have 20 splits, the others 100.

    Raises
    ------
    DataUnavailable
        There is no ``ida/<name>.npz`` in the folder that the environment variable THALWEG_DATA names.

    Examples
    --------
    >>> try:
    ...     features = load_benchmark("banana").X.shape[1]
    ... except DataUnavailable:  # the file is not on this machine
    ...     features = 2
    >>> features
    2
    """
    if name not in BENCHMARK_SETS:
        raise InvalidParameter.of("load_benchmark", "name", f"be among {', '.join(BENCHMARK_SETS)}", name)
    path = in_folder_or_nowhere(f"The benchmark set {name}", f"ida/{name}.npz")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            X, y, train, published = (arrays[key] for key in _ARRAYS)
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise DataUnavailable(f"{path} is not a benchmark set: it cannot be read ({error}).") from error
    if X.ndim != 2 or y.shape != X.shape[:1] or train.ndim != 2 or not _are_splits(train, len(y)):
        shapes = ", ".join(str(array.shape) for array in (X, y, train))
        raise DataUnavailable(f"{path} is not a benchmark set: its X, y and train do not belong together ({shapes}).")
    return BenchmarkSet(name, X.astype(np.float64), y.astype(np.int64), train.astype(np.intp), int(published))


def _are_splits(train: NDArray[np.intp], rows: int) -> bool:
    """Whether each split names different rows, and leaves some to test on."""
    ordered = np.sort(train, axis=1)
    within = ordered.size > 0 and ordered[:, 0].min() >= 0 and ordered[:, -1].max() < rows
    return bool(within and train.shape[1] < rows and (np.diff(ordered, axis=1) > 0).all())
