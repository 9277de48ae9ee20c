"""Where the rows of a rare class began to look different.

With one row in a hundred positive, the error hardly moves when the positives change their ways: a model that never
finds them errs on one row in a hundred. So the features of a rare class are watched themselves, by Page's cumulative
sums (E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954), up and down for every feature:

    S <- max(0, S + t - K),     t = (x - local mean of all rows) / deviation of all rows - mean of the class before,

cut at three. A change is found where a sum passes `H`. The local mean takes out what moves for all rows alike, such as
a clock, a season or a new level; what is left belongs to the class. The reference is the class's own rows, less the
last ones, which may belong to a change already.

A class is rare with less than a tenth of the rows and less than half of what it would have if all classes were equally
frequent. Cost: O(p) a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.saved import Saved

Floats = NDArray[np.float64]

#: A shift of twice K deviations is found soonest; a sum of H is a change.
K, H = 0.75, 8.0
#: Rows of the local mean, of the deviation, and of the class's own mean; the last ones that do not count for it.
LOCAL, LONG, OWN, LAG = 200, 2000, 200, 15
#: Means of all rows are renewed after so many rows, wherever chunks are cut.
BLOCK = 32
#: The first rows, in which nothing is sought, and rows of a class before its changes are.
GRACE, LEAST = 2000, 50
#: Features at the most, beyond which nothing is sought.
WIDEST = 200
MOST = 50
_RARE, _OF_EQUAL = 0.1, 0.5


class _Class(Saved):
    """What is known of the rows of one class."""

    _saved = ("rows", "mean", "recent", "sums", "since")

    def __init__(self, features: int = 0) -> None:
        self.rows = 0  # of the reference
        self.mean = np.zeros(features)
        self.recent: list[list[float]] = []
        self.sums = np.zeros((2, features))
        #: The row at which each sum began to grow.
        self.since = np.zeros((2, features), dtype=np.int64)

    def add(self, x: Floats, row: int) -> NDArray[np.int64] | None:
        """A further row; the features that changed, where a sum passes the bound."""
        changed = None
        if self.rows >= LEAST:
            off = np.clip(x - self.mean, -3.0, 3.0)
            self.since[self.sums == 0.0] = row
            self.sums = np.maximum(0.0, self.sums + np.stack([off, -off]) - K)
            if self.sums.max() > H:
                changed = np.flatnonzero((self.sums > H / 2).any(axis=0))
        self.recent.append(x.tolist())
        if len(self.recent) > LAG:
            self.rows += 1
            self.mean += (np.array(self.recent.pop(0)) - self.mean) * max(1.0 / self.rows, 1.0 / OWN)
        return changed


class _Levels(Saved):
    """The level of all rows, of the last ones and of many, and their deviation."""

    _saved = ("blocks", "filled", "_open", "_means")

    def __init__(self, features: int) -> None:
        self.blocks = self.filled = 0
        #: Sums of the open block and of its squares; means of the last rows, of many, and of their squares.
        self._open = np.zeros((2, features))
        self._means = np.zeros((3, features))

    def relative(self, X: Floats) -> Floats:
        """Each row less the local mean of the blocks before its own, in standard deviations; then the rows count."""
        end = self.filled + len(X)
        padded = np.zeros((-(-end // BLOCK) * BLOCK, 2, X.shape[1]))
        padded[self.filled : end] = np.stack([X, np.square(X)], axis=1)
        if self.filled:
            padded[self.filled - 1] = self._open
        # cumsum adds one by one, so that chunks do not matter to the last bit
        sums = np.cumsum(padded.reshape(-1, BLOCK, *padded.shape[1:]), axis=1)[:, -1]
        means = self._means_after(sums[: end // BLOCK, [0, 0, 1]] / BLOCK)
        self._means = means[-1].copy()
        self._open = sums[-1] if end % BLOCK else np.zeros_like(self._open)
        local, mean, square = means.swapaxes(0, 1)
        deviation = np.sqrt(np.maximum(square - np.square(mean), 1e-12 * square))
        block = np.arange(self.filled, end) // BLOCK
        self.filled = end % BLOCK
        off = np.divide(X - local[block], deviation[block], out=np.zeros_like(X), where=deviation[block] > 0)
        return np.asarray(np.clip(off, -10.0, 10.0))

    def _means_after(self, blocks: Floats) -> Floats:
        """The means as they are now, and after each further block."""
        counts = np.arange(self.blocks + 1, self.blocks + 1 + len(blocks))[:, np.newaxis, np.newaxis]
        gains = np.maximum(1.0 / counts, [[BLOCK / LOCAL], [BLOCK / LONG], [BLOCK / LONG]])
        means = np.empty((len(blocks) + 1, *self._means.shape))
        means[0] = now = self._means
        for at, (gain, block) in enumerate(zip(gains, blocks, strict=True), start=1):
            means[at] = now = now + gain * (block - now)
        self.blocks += len(blocks)
        return means


class ClassChangeDetector(Saved):
    """Marks where the features of a rare class change, relative to all rows.

    Labels are whole numbers of at least 0, in any order.

    Examples
    --------
    >>> from thalweg.streams import Fraud
    >>> X, y = Fraud(seed=1).take(40_000)
    >>> detector = ClassChangeDetector()
    >>> for at in range(0, 40_000, 500):
    ...     _ = detector.add(X[at : at + 500, :6], y[at : at + 500])
    >>> [change] = detector.changes
    >>> change["label"], 30_000 <= change["row"] < 30_500, change["found"] < 32_000
    (1, True, True)
    """

    _saved = ("rows", "changes", "_counts", "_classes", "_levels")
    _made = (("_classes", _Class),)

    def __init__(self) -> None:
        self.rows = 0
        #: The label, the first row after the change, the row at which it was found, and the places of the features that
        #: changed. Rows count from 1.
        self.changes: list[dict[str, Any]] = []
        self._counts: dict[int, int] = {}
        self._classes: dict[int, _Class] = {}
        self._levels = _Levels(0)

    def add(self, X: Floats, labels: NDArray[np.int64]) -> list[dict[str, Any]]:
        """Rows whose labels have come, in that order; the changes found now."""
        if len(X) == 0 or not 0 < X.shape[1] <= WIDEST:
            self.rows += len(X)
            return []
        if self.rows == 0:
            self._levels = _Levels(X.shape[1])
        relative = self._levels.relative(X)
        changes = []
        for at in self._candidates(labels).tolist():
            label, row = int(labels[at]), self.rows + at + 1
            self._counts[label] = self._counts.get(label, 0) + 1
            if not self._is_rare(label, row):
                self._classes.pop(label, None)
            elif row > GRACE:
                own = self._classes.setdefault(label, _Class(X.shape[1]))
                moved = own.add(relative[at], row)
                if moved is not None:
                    first = int(own.since.flat[own.sums.argmax()])
                    changes.append({"label": label, "row": first, "found": row, "features": moved.tolist()})
                    self._classes[label] = _Class(X.shape[1])
        self.rows += len(X)
        self.changes = (self.changes + changes)[-MOST:]
        return changes

    def _candidates(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows whose class may be rare; those of others are counted at once."""
        rare = np.ones(len(labels), dtype=np.bool_)
        for label, count in zip(*(column.tolist() for column in np.unique(labels, return_counts=True)), strict=True):
            before = self._counts.get(label, 0)
            if before >= _RARE * (self.rows + len(labels)):
                self._counts[label] = before + count
                self._classes.pop(label, None)
                rare &= labels != label
        return np.flatnonzero(rare)

    def _is_rare(self, label: int, rows: int) -> bool:
        share = self._counts[label] / rows
        return len(self._counts) > 1 and share < _RARE and share < _OF_EQUAL / len(self._counts)
