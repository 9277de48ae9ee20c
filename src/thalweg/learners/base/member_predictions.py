"""What a model predicted for rows whose labels have not come yet, a few dozen bytes a row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
#: Stands for a label that has no byte of its own.
_OTHER = 255


class MemberPredictions:
    """What was predicted for some rows, by which `follow` judges it when a row's label comes.

    Each row holds what the model asks for: of a committee, for each member and mixture of members the predicted label
    and how likely it was; of a model that decides by the probabilities of another, the probabilities of the six
    likeliest labels. Labels stand there as their places in ``labels`` plus 1. Zeros stand for a row that was not
    predicted, and a learner that judges nothing has no columns.

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
    >>> waiting = MemberPredictions.none(2)
    >>> _ = model.follow(np.eye(2), ["", ""], [0, 1], member_predictions=waiting)
    >>> waiting.values.shape[0], waiting.labels
    (2, ['a', 'b'])
    """

    def __init__(self, values: Bytes, labels: Iterable[Any]) -> None:
        self.values = values
        self.labels = list(labels)
        #: Which columns hold places of labels, as the core says that wrote them.
        self._places = np.zeros(0, dtype=np.bool_)

    @classmethod
    def none(cls, rows: int) -> MemberPredictions:
        return cls(np.zeros((rows, 0), dtype=np.uint8), ())

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> MemberPredictions:
        return self._with(self.values[rows])

    def before(self, rows: int) -> MemberPredictions:
        """These, followed by some rows that are not predicted yet."""
        return self._with(np.concatenate([self.values, np.zeros((rows, self.values.shape[1]), dtype=np.uint8)]))

    def put(self, rows: Any, other: MemberPredictions) -> None:
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

    def _with(self, values: Bytes) -> MemberPredictions:
        found = MemberPredictions(values, self.labels)
        found._places = self._places
        return found
