"""The exact kernel mean machine: all rows are kept, class by class, and the parameters are tuned as they double.

`fit` tunes on all its rows. Rows learned after it, or without it, tune the machine anew whenever the rows
have doubled since: after n, 2n, 4n, … rows, n those of `fit`, and 1 without it. A tuning looks at exactly those
rows, so the model does not depend on the chunks in which they came, and tuning costs a bounded share of all work.

Rows are kept as they came, in double precision. A machine that may do so works relative to an origin amid them, the
median of each feature, which a few rows far away do not move. It is found with each tuning, from the same rows.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.base.python_core import Codes, PythonCore
from thalweg.learners.base.rows import Floats
from thalweg.learners.kernel_mean.backend import Backend, DeviceRows, rows_and_backend
from thalweg.learners.kernel_mean.densities import OneOrEach, biases_from, medians, weights_from, weights_from_tuning
from thalweg.learners.kernel_mean.tuning import Tuned


class GrowingRows:
    """An array of rows; adding to it costs what the new rows cost, on average.

    Examples
    --------
    >>> rows = GrowingRows(2, np.float64)
    >>> rows.add(np.ones((3, 2)))
    >>> rows.add(np.zeros((1, 2)))
    >>> rows.filled.shape
    (4, 2)
    """

    def __init__(self, width: int, dtype: Any) -> None:
        self._room: NDArray[Any] = np.empty((0, width), dtype=dtype)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def filled(self) -> NDArray[Any]:
        return self._room[: self._count]

    def add(self, rows: NDArray[Any]) -> None:
        end = self._count + len(rows)
        if end > len(self._room):
            room = np.empty((max(end, 2 * len(self._room)), self._room.shape[1]), dtype=self._room.dtype)
            room[: self._count] = self.filled
            self._room = room
        self._room[self._count : end] = rows
        self._count = end


@dataclass(frozen=True)
class Given:
    """What the caller has fixed; None is for the machine to find, by leave-one-out where it ``tunes``."""

    sigma: float | None
    rho: OneOrEach | None
    bias: OneOrEach | None
    tunes: bool
    dtype: Any
    progress: bool


class InForce(NamedTuple):
    """Of each class: whether it has rows, its weight, its bias."""

    seen: NDArray[np.bool_]
    weights: Floats
    biases: Floats


class ExactCore(PythonCore):
    """Rows by class, and the parameters in force. A subclass says what a kernel mean is."""

    #: Whether an origin amid the rows may be taken: zero stays the origin of a kernel that a shift would change.
    shifts = False
    #: The bias of a class that was not tuned.
    untuned_bias = 0.0

    def __init__(self, features: int, given: Given) -> None:
        super().__init__(features)
        self.given = given
        self.origin = np.zeros(features)
        self.rows: list[GrowingRows] = []
        self.tuned = Tuned(1.0, np.empty(0), np.empty(0))
        self.tuned_at = 0
        self._in_force: InForce | None = None

    @abstractmethod
    def tune(self, kept: list[Floats], on: Backend) -> Tuned:
        """Parameters from these rows of each class, relative to the origin; the backend is for kernels that use it."""

    def added(self, c: int, new: Floats) -> None:
        """Class c has kept these new rows."""

    def settled(self) -> None:
        """Origin or parameters are others than before."""

    @property
    def counts(self) -> NDArray[np.int64]:
        return np.array([len(rows) for rows in self.rows], dtype=np.int64)

    @property
    def sigma(self) -> float | None:
        """The width in force, if the kernel has one."""
        return self.tuned.sigma if self.given.sigma is None else self.given.sigma

    @property
    def in_force(self) -> InForce:
        """The rule in force, worked out once after each change."""
        if self._in_force is None:
            given, seen = self.given, self.counts > 0
            self._in_force = InForce(
                seen,
                weights_from_tuning(self.tuned.weights, seen) if given.rho is None else weights_from(given.rho, seen),
                self.tuned.biases if given.bias is None else biases_from(given.bias, seen),
            )
        return self._in_force

    def insert(self, at: int) -> None:
        """A class takes its place; it weighs as the others do on average until it is tuned."""
        self.rows.insert(at, GrowingRows(self.n_features, np.float64))
        sigma, weights, biases = self.tuned
        self.tuned = Tuned(sigma, _inserted(weights, at, np.nan), _inserted(biases, at, self.untuned_bias))
        self._in_force = None

    def forget(self) -> None:
        self.rows = [GrowingRows(self.n_features, np.float64) for _ in self.rows]
        nothing = np.full(len(self.rows), np.nan)
        self.tuned = Tuned(1.0, nothing, np.full(len(self.rows), self.untuned_bias))
        self.tuned_at = 0
        self.origin = np.zeros(self.n_features)
        self._in_force = None
        self.settled()

    def begin(self, X: Floats | DeviceRows, y: Codes, /) -> None:
        """Keep these rows and tune on all of them."""
        self.forget()
        self._add(X, y)
        self._tune_on(self.counts, rows_and_backend(X)[1])

    def learn(self, X: Floats | DeviceRows, y: Codes) -> None:
        """Keep these rows; tune again where they have doubled."""
        before = self.counts
        self._add(X, y)
        due, n = max(1, 2 * self.tuned_at), int(before.sum()) + len(X)
        if due > n:
            return
        while 2 * due <= n:
            due *= 2
        counts = before + np.bincount(y[: due - int(before.sum())], minlength=len(before))
        self._tune_on(counts, rows_and_backend(X)[1])

    def _add(self, X: Floats | DeviceRows, y: Codes) -> None:
        """Rows are kept by the host wherever they come from: to copy them is little beside a tuning."""
        self._in_force = None
        X = X.on_host if isinstance(X, DeviceRows) else X
        for c in np.flatnonzero(np.bincount(y)).tolist():
            new = X[y == c]
            self.rows[c].add(new)
            self.added(c, new)

    def _tune_on(self, counts: NDArray[np.int64], on: Backend) -> None:
        """Tune on the first rows of each class, as many as counted."""
        first = [rows.filled[:m] for rows, m in zip(self.rows, counts.tolist(), strict=True)]
        if self.shifts:
            self.origin = medians(np.concatenate(first))
        self.tuned = self.tune([rows - self.origin for rows in first], on)
        self.tuned_at = int(counts.sum())
        self._in_force = None
        self.settled()

    def state(self) -> dict[str, NDArray[Any]]:
        """Rows by class, in the order of arrival, and what was tuned."""
        kept = [rows.filled for rows in self.rows]
        return {
            "n_classes": np.array([self.n_classes]),
            "counts": self.counts,
            "rows": np.concatenate(kept) if kept else np.empty((0, self.n_features)),
            "origin": self.origin.copy(),
            "sigma": np.array([self.tuned.sigma]),
            "weights": self.tuned.weights.copy(),
            "biases": self.tuned.biases.copy(),
            "tuned_at": np.array([self.tuned_at]),
        }

    def restore(self, state: dict[str, NDArray[Any]], /) -> None:
        n_classes, counts, rows = int(state["n_classes"][0]), state["counts"], state["rows"]
        fits = (
            n_classes >= 0
            and counts.shape == state["weights"].shape == state["biases"].shape == (n_classes,)
            and counts.dtype == np.int64
            and (counts >= 0).all()
            and rows.shape == (counts.sum(), self.n_features)
            and all(state[name].dtype == np.float64 for name in ("rows", "origin", "weights", "biases"))
            and state["origin"].shape == (self.n_features,)
            and state["sigma"].shape == state["tuned_at"].shape == (1,)
            and 0.0 < float(state["sigma"][0]) < 1e300
            and 0 <= state["tuned_at"][0] <= counts.sum()
            and np.isfinite(rows).all()
            and np.isfinite(state["origin"]).all()
            and not np.isinf(state["biases"]).any()
            and not np.isinf(state["weights"]).any()
            and not (state["weights"] < 0).any()
        )
        if not fits:
            raise ValueError("the arrays are not those of a kernel mean machine with these parameters")
        self.n_classes = n_classes
        self.origin = state["origin"].copy()
        self.rows = []
        for part in np.split(rows, np.cumsum(counts)[:-1]) if n_classes else []:
            kept = GrowingRows(self.n_features, np.float64)
            kept.add(part)
            self.rows.append(kept)
        self.tuned = Tuned(float(state["sigma"][0]), state["weights"].copy(), state["biases"].copy())
        self.tuned_at = int(state["tuned_at"][0])
        self._in_force = None
        self.settled()


def _inserted(values: Floats, at: int, value: float) -> Floats:
    return np.concatenate([values[:at], [value], values[at:]])
