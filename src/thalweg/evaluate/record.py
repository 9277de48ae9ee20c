"""What evaluation yields: rows one after the other with the truth, the model's predictions and the baselines'."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.evaluate.metrics import Rows

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]
#: Labels as positions in the stream's sorted classes.
Codes: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

#: The code of "no prediction", and of a prediction that is no class of the stream: always a mistake.
NO_PREDICTION = -1
_ALL = slice(None)
_NUMBER_BASELINES = ("last_value", "running_mean", "running_median")


@dataclass(frozen=True, slots=True)
class Record:
    """Consecutive rows of a stream, each predicted before its label was learned.

    Labels are codes, positions in ``classes`` (``record.classes[record.y]`` are the labels themselves);
    `NO_PREDICTION` stands where there was none, which is until the first label has come.

    Attributes
    ----------
    start : int
        Number of the first row, from 0.
    classes : array
        The stream's labels, sorted.
    y, predictions, no_change, majority : arrays of int
        The truth, the model's predictions, the last label that had come by then, the most frequent one (the lowest at
        a tie).
    proba : array of shape (rows, classes), or None
        The model's probabilities: zero for a class it had not met, all alike while it had met none.
    rate : array, or None
        The learning rate in force after each row.
    weights : array of shape (rows, members), or None
        The share each member of a learner made of others had in the prediction.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.evaluate import prequential
    >>> from thalweg.streams import Table
    >>> (record,) = prequential(NoChange(), Table([[0.0]] * 3, ["a", "b", "b"]))
    >>> record.y.tolist(), record.predictions.tolist(), record.mistakes.tolist()
    ([0, 1, 1], [-1, 0, 1], [True, True, False])
    """

    start: int
    classes: Labels
    y: Codes
    predictions: Codes
    no_change: Codes
    majority: Codes
    proba: Floats | None = None
    rate: Floats | None = None
    weights: Floats | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def mistakes(self) -> Flags:
        """Where the model's prediction was wrong, or there was none."""
        return np.not_equal(self.predictions, self.y)

    @property
    def unpredicted(self) -> int:
        """How many rows came before the first label was learned, and have no prediction."""
        return int((self.predictions == NO_PREDICTION).sum())

    def predicted(self) -> Record:
        """The rows that have a prediction."""
        if not self.unpredicted:
            return self
        known = self.predictions != NO_PREDICTION
        codes = (values[known] for values in (self.y, self.predictions, self.no_change, self.majority))
        others = (None if values is None else values[known] for values in (self.proba, self.rate, self.weights))
        return Record(self.start + self.unpredicted, self.classes, *codes, *others)

    def as_rows(self, rows: slice = _ALL) -> Rows:
        """Some of the rows, as metrics take them."""
        y = self.y[rows]
        given = {"model": self.predictions, "no_change": self.no_change, "majority": self.majority}
        of_truth = squared = None
        if self.proba is not None:
            proba = self.proba[rows]
            of_truth = proba[np.arange(len(y)), y]
            squared = np.square(proba - (y[:, np.newaxis] == np.arange(len(self.classes)))).sum(axis=1)
        return Rows(y, {name: codes[rows] for name, codes in given.items()}, of_truth, squared)


@dataclass(frozen=True, slots=True)
class RegressionRecord:
    """Consecutive rows of a stream, each predicted before its target was learned.

    Attributes
    ----------
    start : int
        Number of the first row, from 0.
    y, predictions : arrays of shape (rows,) or (rows, outputs)
        The truth and the model's predictions.
    running_mean, running_median, last_value : arrays shaped like y
        The predictions every model must beat: the mean of the targets before, the median of the last 1,000 of them, and
        the target before; 0 at first.
    lower, upper : arrays shaped like y, or None
        The ends of the interval of each row, where a coverage was asked for; NaN while the model has none, which is
        where it would have no width.
    coverage : float or None
        What the intervals were asked for.
    unpredicted : int
        Rows at the start that came before any target, where targets come late; no score counts them.

    Examples
    --------
    >>> from thalweg import OnlineLinearRegression
    >>> from thalweg.evaluate import prequential
    >>> from thalweg.streams import LinearResponse
    >>> (record,) = prequential(OnlineLinearRegression(), LinearResponse(seed=1), rows=10)
    >>> len(record), record.predictions.shape, float(record.predictions[0])
    (10, (10,), 0.0)
    """

    start: int
    y: Floats
    predictions: Floats
    running_mean: Floats
    running_median: Floats
    last_value: Floats
    lower: Floats | None = None
    upper: Floats | None = None
    coverage: float | None = None
    unpredicted: int = 0

    def __len__(self) -> int:
        return len(self.y)

    def predicted(self) -> RegressionRecord:
        """The rows that came after the first target."""
        if not self.unpredicted:
            return self
        later = slice(self.unpredicted, None)
        series = {field.name: getattr(self, field.name) for field in fields(self)}
        cut: dict[str, Any] = {name: values[later] for name, values in series.items() if isinstance(values, np.ndarray)}
        return replace(self, start=self.start + self.unpredicted, unpredicted=0, **cut)

    def as_rows(self, rows: slice = _ALL) -> Rows:
        """Some of the rows, as metrics take them."""
        given = {"model": self.predictions} | {name: getattr(self, name) for name in _NUMBER_BASELINES}
        lower, upper = (None if bound is None else bound[rows] for bound in (self.lower, self.upper))
        predictions = {name: values[rows] for name, values in given.items()}
        return Rows(self.y[rows], predictions, lower=lower, upper=upper, coverage=self.coverage)


def encode(labels: Labels, classes: Labels) -> Codes:
    """Labels as positions in sorted ``classes``, `NO_PREDICTION` for those that are not among them.

    Examples
    --------
    >>> encode(np.array(["wet", "dry", "hot"]), np.array(["dry", "wet"]))
    array([ 1,  0, -1])
    """
    positions = np.searchsorted(classes, labels)
    is_known = classes[np.minimum(positions, len(classes) - 1)] == labels
    return np.where(is_known, positions, NO_PREDICTION)


def encode_truth(labels: Labels, classes: Labels) -> Codes:
    """The stream's labels as codes; each must be one of its classes."""
    codes = encode(labels, classes)
    if codes.size and codes.min() < 0:
        foreign = labels[codes < 0][0]
        raise InvalidInput(f"A stream's labels must be among its classes {classes.tolist()}, got {foreign!r}.")
    return codes
