"""Rows that wait until there are enough of them for a block."""

from __future__ import annotations

import numpy as np

from thalweg.learners.python_core import Codes
from thalweg.learners.rows import Floats


class PendingRows:
    """Rows with their classes and, where they were asked for already, the members' answers to them."""

    def __init__(self, features: int) -> None:
        self._features = features
        self.clear()

    def clear(self) -> None:
        """None any more."""
        self._rows: list[Floats] = []
        self._classes: list[Codes] = []
        self._answers: list[Codes | None] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, X: Floats, y: Codes, answers: Codes | None = None) -> None:
        """Some more rows; the arrays are copied."""
        self._rows.append(X.copy())
        self._classes.append(y.copy())
        self._answers.append(answers)
        self._length += len(X)

    def insert_class(self, at: int) -> None:
        """A class takes its place at index ``at``; answers in the old numbering are of no more use."""
        self._classes = [y + (y >= at) for y in self._classes]
        self._answers = [None] * len(self._answers)

    @property
    def rows(self) -> Floats:
        """The rows, in order."""
        return np.concatenate([np.empty((0, self._features)), *self._rows])

    @property
    def classes(self) -> Codes:
        """Their class indices."""
        return np.concatenate([np.empty(0, dtype=np.int64), *self._classes])

    @property
    def answers(self) -> Codes | None:
        """The members' answers, a row per row, or None where some were not asked for."""
        known = [part for part in self._answers if part is not None]
        return np.concatenate(known) if len(known) == len(self._answers) and known else None

    def with_more(self, X: Floats, y: Codes, answers: Codes | None) -> tuple[Floats, Codes, Codes | None]:
        """These rows and some more, as a block; nothing is added here."""
        if len(self) == 0:
            return X, y, answers
        before = self.answers
        together = None if before is None or answers is None else np.concatenate([before, answers])
        return np.concatenate([self.rows, X]), np.concatenate([self.classes, y]), together
