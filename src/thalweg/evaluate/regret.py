"""Regret: how much more a learner lost than a linear rule that is known, or best in hindsight, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.kernels import compiled
from thalweg.learners.base.sparse_rows import is_sparse
from thalweg.streams import Stream
from thalweg.streams.stream import Floats

#: Rows whose innovations are found at once: long enough for matrix products, short against their squares.
_BLOCK = 64
#: A direction with less than this of its features' size is not there. Well above what rounding leaves of it.
_NEGLIGIBLE = 1e-10
_NO_ROWS = np.empty((0, 0))


class RunningLeastSquares:
    """Least squares over all rows so far: the smallest loss after each."""

    def __init__(self) -> None:
        self._triangle, self._rotated = _NO_ROWS, _NO_ROWS  # R, and the same rotation of y
        self._loss = 0.0

    def totals(self, X: Floats, y: Floats) -> Floats:
        """Take in rows X (rows, features) and y (rows, outputs); the smallest possible loss after each of them."""
        if self._triangle.size == 0:
            self._triangle, self._rotated = np.empty((0, X.shape[1])), np.empty((0, y.shape[1]))
        expected, got = (self._triangle.shape[1], self._rotated.shape[1]), (X.shape[1], y.shape[1])
        if got != expected:
            raise InvalidInput(f"Rows must keep their numbers of features and targets, {expected}, got {got}.")
        totals = np.empty(len(y))
        done = 0
        while done < len(y):
            upto = min(len(y), done + (_BLOCK if self._well_posed() else 1))
            added = self._innovations(X[done:upto], y[done:upto])
            totals[done:upto] = np.cumsum(np.append(self._loss, added))[1:]
            self._loss = float(totals[upto - 1])
            self._take_in(X[done:upto], y[done:upto])
            done = upto
        return totals

    @property
    def weights(self) -> Floats:
        return _fit(self._triangle, self._rotated)

    def _well_posed(self) -> bool:
        rows, features = self._triangle.shape
        if rows < features:
            return False
        sizes = np.linalg.svd(self._triangle / _sizes(self._triangle), compute_uv=False)
        return bool(sizes[-1] > _NEGLIGIBLE * sizes[0])

    def _innovations(self, X: Floats, y: Floats) -> Floats:
        """What each row adds to the loss."""
        if not self._well_posed():
            return np.array([self._loss_with(X[0], y[0])])
        residuals = y - X @ solve_triangular(self._triangle, self._rotated)
        spread = solve_triangular(self._triangle, X.T, trans="T")
        factor = cholesky(np.eye(len(X)) + spread.T @ spread, lower=True)
        innovations = np.asarray(solve_triangular(factor, residuals, lower=True))
        return np.asarray(np.square(innovations).sum(axis=1))

    def _loss_with(self, x: Floats, y: Floats) -> float:
        rows, targets = np.vstack([self._triangle, x]), np.vstack([self._rotated, y])
        return float(np.square(targets - rows @ _fit(rows, targets)).sum())

    def _take_in(self, X: Floats, y: Floats) -> None:
        rotation, self._triangle = np.linalg.qr(np.vstack([self._triangle, X]))
        self._rotated = rotation.T @ np.vstack([self._rotated, y])
        if not self._well_posed():  # then the rotation leaves in y some of the loss that is already counted
            self._rotated = self._triangle @ self.weights


def _fit(rows: Floats, targets: Floats) -> Floats:
    """Least squares, features in units of their own size; of equals the weights shortest in those units."""
    sizes = _sizes(rows)
    return np.asarray(np.linalg.lstsq(rows / sizes, targets, rcond=_NEGLIGIBLE)[0] / sizes[:, np.newaxis])


def _sizes(rows: Floats) -> Floats:
    sizes = np.linalg.norm(rows, axis=0)
    return np.where(sizes > 0.0, sizes, 1.0)


class RegretRecord(NamedTuple):
    """Consecutive rows of a stream: what learner and reference have lost since its first row, after each of them.

    Examples
    --------
    >>> record = RegretRecord(0, model=np.array([1.0, 3.0]), reference=np.array([1.0, 2.0]))
    >>> record.regret.tolist()
    [0.0, 1.0]
    """

    #: Number of the first row, from 0.
    start: int
    model: Floats
    reference: Floats

    @property
    def regret(self) -> Floats:
        """The learner's loss less the reference's."""
        return self.model - self.reference


class Following(Protocol):
    """A reference on its way along a stream."""

    def totals(self, X: Floats, y: NDArray[Any]) -> Floats:
        """Its loss over all rows so far, after each of these."""


class _OfNumbers:
    """A reference for numbers, which loses the squared error."""

    def taken(self, y: NDArray[Any], predictions: NDArray[Any]) -> tuple[Floats, Floats]:
        """Truth and predictions as this reference compares them, or an error."""
        return _numbers(y, "y"), _numbers(predictions, "predictions")

    def loss(self, y: NDArray[Any], predictions: NDArray[Any]) -> Floats:
        """Squared error of each row."""
        return _squared(y, predictions)


@dataclass(frozen=True)
class KnownWeights(_OfNumbers):
    """A linear model known beforehand: w'x + intercept.

    Parameters
    ----------
    weights : array of shape (features,), or (outputs, features)
        As in a regressor's ``coef_``; kept as tuples, so that equal references are equal.
    intercept : float, or array of shape (outputs,)
        What is added.

    Examples
    --------
    >>> Regret(KnownWeights([2.0], intercept=1.0)).update([[1.0]], [3.0], [0.0]).regret.tolist()
    [9.0]
    """

    weights: ArrayLike
    intercept: ArrayLike = 0.0

    def __post_init__(self) -> None:
        _keep(self, "weights", axes=(1, 2))
        _keep(self, "intercept", axes=(0, 1))
        outputs = len(np.atleast_2d(np.asarray(self.weights)))
        if np.ndim(self.intercept) == 1 and np.shape(self.intercept) != (outputs,):
            rule = f"be a number, or one for each of the {outputs} rows of weights"
            raise InvalidParameter.of("KnownWeights", "intercept", rule, self.intercept)

    def begin(self) -> Following:
        """At the first row."""
        weights, intercept = (np.asarray(values, dtype=np.float64) for values in (self.weights, self.intercept))
        return _RowByRow(lambda X, y: _squared(y, _like(y, _weighted(X, np.atleast_2d(weights)) + intercept)))


@dataclass(frozen=True)
class BestWeights(_OfNumbers):
    """The linear model that is best in hindsight for all rows so far.

    Parameters
    ----------
    intercept : bool
        Whether it may add a constant.

    Examples
    --------
    >>> Regret(BestWeights()).update([[1.0], [1.0]], [2.0, 4.0], [2.0, 2.0]).reference.round(6).tolist()
    [0.0, 2.0]
    """

    intercept: bool = False

    def begin(self) -> Following:
        """At the first row."""
        return _InHindsight(self.intercept)


@dataclass(frozen=True)
class KnownLine:
    """A line, plane or hyperplane between two classes known beforehand.

    Parameters
    ----------
    weights : array of shape (features,)
        The normal, which points to the second class.
    intercept : float
        The second class is where w'x + intercept > 0.
    labels : pair
        First and second class; by default their places among a stream's classes, as in a `Record`.

    Examples
    --------
    >>> line = KnownLine([1.0, 0.0], labels=("left", "right"))
    >>> Regret(line).update([[-1.0, 0.0], [2.0, 0.0]], ["left", "right"], ["left", "left"]).regret.tolist()
    [0.0, 1.0]
    """

    weights: ArrayLike
    intercept: float = 0.0
    labels: tuple[Any, Any] = (0, 1)

    def __post_init__(self) -> None:
        _keep(self, "weights", axes=(1,))
        _keep(self, "intercept", axes=(0,))
        labels = np.asarray(self.labels)
        if labels.shape != (2,) or labels[0] == labels[1]:
            raise InvalidParameter.of("KnownLine", "labels", "be two different labels", self.labels)
        object.__setattr__(self, "labels", tuple(labels.tolist()))

    def taken(self, y: NDArray[Any], predictions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Truth and predictions as this reference compares them, or an error."""
        strangers = [label for label in set(y.ravel().tolist()) if label not in self.labels]
        if y.ndim != 1 or strangers:
            got = f"an array of shape {y.shape}" if y.ndim != 1 else repr(strangers[0])
            raise InvalidInput(f"y must be a row of the labels of the known line, {self.labels}, got {got}.")
        return y, predictions

    def loss(self, y: NDArray[Any], predictions: NDArray[Any]) -> Floats:
        """1 for each mistake."""
        return np.asarray(y != predictions, dtype=np.float64)

    def begin(self) -> Following:
        """At the first row."""
        weights = np.asarray(self.weights, dtype=np.float64)
        first, second = self.labels
        return _RowByRow(
            lambda X, y: self.loss(y, np.where(_weighted(X, weights) + self.intercept > 0.0, second, first))
        )


Reference: TypeAlias = KnownWeights | BestWeights | KnownLine


class Regret:
    """Regret along a stream, chunk by chunk, in constant memory.

    Parameters
    ----------
    reference : KnownWeights, BestWeights or KnownLine
        What the learner is compared with.

    Examples
    --------
    >>> regret = Regret(KnownWeights([2.0]))
    >>> regret.update([[1.0], [1.0]], [2.0, 3.0], [0.0, 1.0]).regret
    array([4., 7.])
    >>> regret.update([[1.0]], [2.0], [2.0]).regret
    array([7.])
    """

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self._following = reference.begin()
        self._rows = 0
        self._loss = 0.0

    def update(self, X: ArrayLike, y: ArrayLike, predictions: ArrayLike) -> RegretRecord:
        """Take in rows, their truth, and the predictions given before it was known."""
        if is_sparse(X):
            raise InvalidInput("Regret must be of dense rows, got a sparse matrix: give X.toarray()")
        rows, truth, given = np.asarray(X), np.asarray(y), np.asarray(predictions)
        if rows.shape[:1] == truth.shape[:1] == given.shape[:1] == (0,):
            return RegretRecord(self._rows, np.empty(0), np.empty(0))
        if rows.ndim != 2 or truth.ndim not in (1, 2) or len(rows) != len(truth) or truth.shape != given.shape:
            raise InvalidInput(
                "X, y and the predictions of Regret must have the same number of rows, "
                f"got arrays of shapes {rows.shape}, {truth.shape} and {given.shape}."
            )
        rows = _numbers(rows, "X")
        truth, given = self._reference.taken(truth, given)
        totals = _running_sums(self._loss, self._reference.loss(truth, given))
        record = RegretRecord(self._rows, totals, self._following.totals(rows, truth))
        self._rows += len(rows)
        self._loss = float(totals[-1]) if len(rows) else self._loss
        return record


class PredictedRecord(Protocol):
    """A record of rows that were predicted before they were learned."""

    @property
    def start(self) -> int:
        """Number of the first row."""

    @property
    def y(self) -> NDArray[Any]:
        """The truth."""

    @property
    def predictions(self) -> NDArray[Any]:
        """The predictions."""


def regrets(records: Iterable[PredictedRecord], stream: Stream, reference: Reference) -> Iterator[RegretRecord]:
    """The regret of a learner over the records of `prequential`.

    The rows are read from the stream once more. Labels are compared as the records hold them: as places among the
    stream's classes.

    Examples
    --------
    >>> from thalweg import Perceptron
    >>> from thalweg.evaluate import prequential
    >>> from thalweg.streams import MovingPlane
    >>> stream = MovingPlane(degrees_per_row=1e-9)
    >>> *_, last = regrets(prequential(Perceptron(), stream, rows=500), stream, KnownLine([1.0, 0.0]))
    >>> float(last.reference[-1]), bool(last.regret[-1] < 30)
    (0.0, True)
    """
    running = Regret(reference)
    for record in records:
        X, _ = stream.take(len(record.y), record.start)
        yield running.update(X, record.y, record.predictions)


class _RowByRow:
    """A reference whose loss on a row depends on that row alone."""

    def __init__(self, loss: Callable[[Floats, NDArray[Any]], Floats]) -> None:
        self._loss_of = loss
        self._loss = 0.0

    def totals(self, X: Floats, y: NDArray[Any]) -> Floats:
        totals = _running_sums(self._loss, self._loss_of(X, y))
        self._loss = float(totals[-1]) if len(totals) else self._loss
        return totals


class _InHindsight:
    def __init__(self, intercept: bool) -> None:
        self._intercept = intercept
        self._least_squares = RunningLeastSquares()

    def totals(self, X: Floats, y: NDArray[Any]) -> Floats:
        rows = np.column_stack([X, np.ones(len(X))]) if self._intercept else X
        return self._least_squares.totals(rows, y.reshape(len(y), -1).astype(np.float64))


def _weighted(X: Floats, weights: Floats) -> Floats:
    if weights.shape[-1] != X.shape[1]:
        raise InvalidInput(
            f"The rows must have the {weights.shape[-1]} features of the known weights, got {X.shape[1]}."
        )
    return X @ weights.T


def _like(y: Floats, predictions: Floats) -> Floats:
    """Predictions (rows, outputs) in y's own shape."""
    outputs = 1 if y.ndim == 1 else y.shape[1]
    if predictions.shape[1] != outputs:
        raise InvalidInput(f"y must have the {predictions.shape[1]} outputs of the known weights, got {outputs}.")
    return predictions.reshape(y.shape)


def _numbers(values: NDArray[Any], name: str) -> Floats:
    """Finite numbers; truth values count as 0 and 1."""
    if values.dtype.kind not in "biuf":
        raise InvalidInput(f"{name} must hold numbers, got an array of {values.dtype}.")
    numbers = values.astype(np.float64)
    bad = numbers[~(np.abs(numbers) <= compiled.largest_value)]
    if bad.size:
        raise InvalidInput(f"{name} must hold finite numbers within ±{compiled.largest_value:g}, got {bad[0]}.")
    return numbers


def _keep(reference: KnownWeights | KnownLine, parameter: str, axes: tuple[int, ...]) -> None:
    """Replace an array among the parameters by tuples, which are compared and hashed as one expects."""
    given = getattr(reference, parameter)
    values = np.asarray(given)
    if values.dtype.kind not in "biuf" or values.ndim not in axes or values.size == 0 or not np.isfinite(values).all():
        rule = "be finite numbers in " + " or ".join(f"{count}" for count in axes) + " axes"
        raise InvalidParameter.of(type(reference).__name__, parameter, rule, given)
    object.__setattr__(reference, parameter, _tuples(values.astype(np.float64).tolist()))


def _tuples(values: Any) -> Any:
    return tuple(_tuples(value) for value in values) if isinstance(values, list) else values


def _squared(y: NDArray[Any], predictions: NDArray[Any]) -> Floats:
    return np.asarray(np.square(y - predictions).reshape(len(y), -1).sum(axis=1))


def _running_sums(before: float, losses: Floats) -> Floats:
    """Running sums that are the same however the rows are split."""
    return np.cumsum(np.append(before, losses))[1:]
