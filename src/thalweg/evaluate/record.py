"""What evaluation yields: a run of rows with the truth, the model's predictions and the baselines'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]
#: Labels as positions in the stream's sorted classes.
Codes: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

#: The code of "no prediction", and of a prediction that is no class of the stream: always a mistake.
NO_PREDICTION = -1


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


def encode(labels: Labels, classes: Labels) -> Codes:
    """Labels as positions in sorted ``classes``, `NO_PREDICTION` for those that are not among them.

    Examples
    --------
    >>> encode(np.array(["wet", "dry", "hot"]), np.array(["dry", "wet"]))
    array([ 1,  0, -1])
    """
    positions = np.searchsorted(classes, labels)
    found = classes[np.minimum(positions, len(classes) - 1)] == labels
    return np.where(found, positions, NO_PREDICTION)


def encode_truth(labels: Labels, classes: Labels) -> Codes:
    """The stream's labels as codes; each must be one of its classes."""
    codes = encode(labels, classes)
    if codes.size and codes.min() < 0:
        foreign = labels[codes < 0][0]
        raise InvalidInput(f"A stream's labels must be among its classes {classes.tolist()}, got {foreign!r}.")
    return codes
