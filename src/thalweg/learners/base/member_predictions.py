"""What the members of a committee predicted for rows whose labels have not come yet, a few bytes a row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
#: Stands for a label that has no byte of its own.
_OTHER = 255
#: How many rows had been learned, at the end of each row (``kernels/ensemble/mixing.hpp``).
_COUNT_BYTES = 4


class MemberPredictions:
    """What members predicted for some rows, by which `follow` judges them when a row's label comes.

    Each row holds, for each member and mixture of members, the place of the predicted label in ``labels`` plus 1, then
    probabilities. Zeros stand for a row that was not predicted, and a learner without members has no columns.

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
        #: How many columns hold places of labels, as the core says that wrote them.
        self._places = 0

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
        """The values as a core reads and writes them, with places among these labels; None for one without members."""
        size = getattr(core, "kept_size", 0)
        if size == 0:
            return None
        self._have(size, size - _COUNT_BYTES - core.n_members)
        self.refer_to(labels)
        return self.values

    def refer_to(self, labels: Iterable[Any]) -> None:
        """Hold places among these labels, which may be more than before."""
        new = list(labels)
        if new != self.labels and len(self.labels) and self._places:
            code = {label: min(at, _OTHER) for at, label in enumerate(new, start=1)}
            renamed = np.zeros(256, dtype=np.uint8)
            renamed[_OTHER] = _OTHER
            for at, label in enumerate(self.labels[: _OTHER - 1], start=1):
                renamed[at] = code.get(label, _OTHER)
            self.values = np.concatenate(
                [renamed[self.values[:, : self._places]], self.values[:, self._places :]], axis=1
            )
        self.labels = new

    def _have(self, size: int, places: int) -> None:
        if self.values.shape[1] != size:
            self.values = np.zeros((len(self), size), dtype=np.uint8)
        self._places = places

    def _with(self, values: Bytes) -> MemberPredictions:
        found = MemberPredictions(values, self.labels)
        found._places = self._places
        return found
