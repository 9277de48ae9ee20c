"""What a model predicted for rows whose labels have not come yet, a few dozen bytes a row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.errors import InvalidInput

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
#: Stands for a label that has no byte of its own.
_OTHER = 255
#: What is kept of a row whose target is a number, or several.
OF_NUMBERS = ("number", "prediction", "lower", "upper", "members")


class KeptPredictions:
    """What was predicted for some rows, by which `follow` judges it when a row's label comes.

    Each row holds what the model asks for: of a committee, for each member and mixture of members the predicted label
    and how likely it was; of a model that decides by the probabilities of another, the probabilities of the six
    likeliest labels; of a regressor with intervals the fields of `of_numbers`. Labels stand there as their places in
    ``labels`` plus 1. Zeros stand for a row that was not predicted, and a learner that judges nothing has no columns.

    Parameters
    ----------
    values : ndarray of bytes, shape (rows, bytes of a row)
    labels : sequence
        The labels that the places refer to, of which 254 have a place.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import AutoClassifier
    >>> model = AutoClassifier(curved=False).partial_fit(np.eye(2), ["a", "b"])
    >>> waiting = KeptPredictions.none(2)
    >>> _ = model.follow(np.eye(2), ["", ""], [0, 1], kept=waiting)
    >>> waiting.values.shape[0], waiting.labels
    (2, ['a', 'b'])
    """

    def __init__(self, values: Bytes, labels: Iterable[Any]) -> None:
        self.values = values
        self.labels = list(labels)
        #: Which columns hold places of labels, as the core says that wrote them.
        self._places = np.zeros(0, dtype=np.bool_)

    @classmethod
    def none(cls, rows: int) -> KeptPredictions:
        return cls(np.zeros((rows, 0), dtype=np.uint8), ())

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> KeptPredictions:
        return self._with(self.values[rows])

    def before(self, rows: int) -> KeptPredictions:
        """These, followed by some rows that are not predicted yet."""
        return self._with(np.concatenate([self.values, np.zeros((rows, self.values.shape[1]), dtype=np.uint8)]))

    def put(self, rows: Any, other: KeptPredictions) -> None:
        """Take what ``other``, which may know more labels, says of these rows."""
        self._have(other.values.shape[1], other._places)
        self.refer_to(other.labels)
        self.values[rows] = other.values

    def of(self, core: Any, labels: Iterable[Any]) -> Bytes | None:
        """The values as a core reads and writes them, with places among these labels; None where it keeps nothing."""
        size = getattr(core, "kept_size", 0)
        if size == 0:
            return None
        self._have(size, core.kept_classes)
        self.refer_to(labels)
        return self.values

    def of_numbers(self, outputs: int, opinions: int) -> NDArray[np.void]:
        """The values of a regressor with intervals by name; ``number`` is 0 for a row that was not predicted.

        Otherwise it is that of the row among all that were predicted, from 1. ``members`` are relative to
        the prediction, so that float32 is enough.
        """
        row = _row_of_numbers(outputs, opinions)
        self._have(row.itemsize, np.zeros(row.itemsize, dtype=np.bool_))
        return self.values.view(row)[:, 0]

    def interval(self) -> tuple[Floats, Floats]:
        """Of a regressor with one target, the ends; NaN for an interval without a width."""
        size = self.values.shape[1] - _row_of_numbers(1, 0).itemsize
        of_rows = self.of_numbers(1, max(size, 0) // 4)
        return ends_with_width(of_rows["lower"][:, 0], of_rows["upper"][:, 0])

    def refer_to(self, labels: Iterable[Any]) -> None:
        """Hold places among these labels, which may be more than before."""
        new = list(labels)
        if new != self.labels and len(self.labels) and self._places.any():
            code = {label: min(at, _OTHER) for at, label in enumerate(new, start=1)}
            renamed = np.zeros(256, dtype=np.uint8)
            renamed[_OTHER] = _OTHER
            for at, label in enumerate(self.labels[: _OTHER - 1], start=1):
                renamed[at] = code.get(label, _OTHER)
            self.values = np.where(self._places, renamed[self.values], self.values)
        self.labels = new

    def _have(self, size: int, places: NDArray[np.bool_]) -> None:
        if self.values.shape[1] != size:
            self.values = np.zeros((len(self), size), dtype=np.uint8)
        self._places = places

    def _with(self, values: Bytes) -> KeptPredictions:
        changed = KeptPredictions(values, self.labels)
        changed._places = self._places
        return changed


def ends_with_width(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Lower and upper ends; NaN for intervals without a width, which a model gives before it has any."""
    is_wide = upper > lower
    return np.where(is_wide, lower, np.nan), np.where(is_wide, upper, np.nan)


def _row_of_numbers(outputs: int, opinions: int) -> np.dtype[np.void]:
    number, *ends, members = OF_NUMBERS
    of_outputs = [(name, "<f8", (outputs,)) for name in ends]
    return np.dtype([(number, "<i8"), *of_outputs, (members, "<f4", (outputs * opinions,))])


def kept_size(core: Any) -> int:
    """The bytes that are kept of a row by a core, of a regressor by one with a single target."""
    if getattr(core, "coverages", None):
        return _row_of_numbers(1, core.n_opinions).itemsize
    return int(getattr(core, "kept_size", 0))


def steps_of(order: ArrayLike, rows: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The steps of `follow`, and which of the rows are learned."""
    steps = np.ascontiguousarray(order, dtype=np.int64)
    places = np.where(steps < 0, ~steps, steps)
    if steps.ndim != 1 or (len(steps) and places.max() >= rows):
        raise InvalidInput(f"order must hold numbers of the {rows} rows or their complements")
    taught = np.zeros(rows, dtype=np.bool_)
    taught[places[steps < 0]] = True
    return steps, taught
