"""A core written in Python, for classifiers that work in whole blocks; it can all that a compiled core can."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.kernels import compiled
from thalweg.learners.base.rows import Floats, Row

if TYPE_CHECKING:
    from thalweg.kernels._base import Vocabulary


def posteriors(scores: Floats, confidence: float) -> Floats:
    """The probability of each class, a row of scores each; NaN stays NaN.

    Parameters
    ----------
    scores : ndarray of shape (rows, classes)
        Logarithms of densities times priors, up to a constant; minus infinity for a class that was never seen.
    confidence : float > 0
        How much the scores are to be believed; they are multiplied by it.

    Examples
    --------
    >>> import numpy as np
    >>> posteriors(np.array([[0.0, np.log(3.0)], [-np.inf, -np.inf]]), 1.0).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    # Class by class: with few classes, sums along short rows would cost eight times as much.
    by_class = np.ascontiguousarray(scores.T)
    largest = by_class.max(axis=0)
    unknown = np.isneginf(largest)
    if unknown.any():
        by_class = np.where(unknown, 0.0, by_class)
        largest[unknown] = 0.0
    shares = np.exp(confidence * (by_class - largest))
    shares /= shares.sum(axis=0)
    return np.ascontiguousarray(shares.T)


Codes = NDArray[np.int64]


class PythonCore(ABC):
    """The state of a classifier: rows and class indices in, class indices out. A subclass writes six methods."""

    n_members = 0
    rate = float("nan")
    confidence = 1.0
    #: Whether a prediction may be another class than that of the highest score.
    decides = False

    def __init__(self, features: int) -> None:
        self.n_features = features
        self.n_classes = 0
        self._reader = compiled.RowReader(features)
        self._known: tuple[dict[Any, int], frozenset[type]] = {}, frozenset()

    @abstractmethod
    def insert(self, at: int) -> None:
        """A class takes its place at index ``at``; those behind it move up. It is inert until its first row."""

    @abstractmethod
    def forget(self) -> None:
        """As before the first row; the classes stay announced."""

    @abstractmethod
    def learn(self, X: Floats, y: Codes) -> None:
        """Learn these rows in order."""

    @abstractmethod
    def discriminants(self, X: Floats) -> Floats:
        """One score per row and class; minus infinity for a class never seen."""

    @abstractmethod
    def state(self) -> dict[str, NDArray[Any]]:
        """All that was learned, as arrays by name; ``n_classes`` is one of them."""

    @abstractmethod
    def restore(self, state: dict[str, NDArray[Any]], /) -> None:
        """Take back what `state` gave, or raise ValueError."""

    def shares(self) -> Floats:
        """The share of each member in the next prediction."""
        return np.empty(0)

    def answers_of(self, X: Floats) -> Codes:
        """The class of the highest score, the lowest index at a tie, -1 where no class was seen."""
        scores = self.discriminants(X)
        return np.where(np.isneginf(scores).all(axis=1), -1, scores.argmax(axis=1))

    def adapters(self) -> list[Any]:
        """The members that are not ours, which give out and take back what they learned as objects."""
        return []

    def name_features(self, names: tuple[str, ...] | Vocabulary, /) -> None:
        self._reader.name(names)

    def announce(self, at: int, /) -> None:
        self.insert(at)
        self.n_classes += 1
        self._known = {}, frozenset()  # places behind it have moved

    def begin(self, X: Floats, y: Codes, /) -> None:
        self.forget()
        self.learn(X, y)

    def run(
        self,
        X: Floats,
        y: Codes,
        answers: Codes | None = None,
        scores: Floats | None = None,
        rates: Floats | None = None,
        shares: Floats | None = None,
    ) -> None:
        """Test-then-train, row by row; in one piece where no prediction is wanted."""
        if answers is None and scores is None and rates is None and shares is None:
            self.learn(X, y)
            return
        for i in range(len(X)):
            if answers is not None:
                answers[i] = self.answers_of(X[i : i + 1])[0]
            if scores is not None:
                scores[i] = self.discriminants(X[i : i + 1])[0]
            if shares is not None:
                shares[i] = self.shares()
            self.learn(X[i : i + 1], y[i : i + 1])
            if rates is not None:
                rates[i] = self.rate

    def follow(self, X: Floats, y: Codes, order: Codes, answers: Codes, scores: Floats | None = None) -> None:
        """Predict and learn in any order: i stands for "predict row i", ~i for "learn row i"."""
        rows = order[::2]
        in_pairs = len(order) and len(order) % 2 == 0 and rows[0] >= 0 and (order[1::2] == ~rows).all()
        if in_pairs and (np.diff(rows) == 1).all():
            taken = slice(int(rows[0]), int(rows[-1]) + 1)  # each row learned as soon as it is predicted
            self.run(X[taken], y[taken], answers[taken], None if scores is None else scores[taken])
            return
        turns = np.flatnonzero(np.diff(order < 0)) + 1
        for part in np.split(order, turns):
            if len(part) and part[0] >= 0:
                answers[part] = self.answers_of(X[part])
                if scores is not None:
                    scores[part] = self.discriminants(X[part])
            elif len(part):
                self.learn(X[~part], y[~part])

    def learn_then_test(self, X: Floats, y: Codes, test_X: Floats, test_y: Codes, mistakes: Codes, /) -> None:
        for i in range(len(X)):
            self.learn(X[i : i + 1], y[i : i + 1])
            tests = slice(i * test_y.shape[1], (i + 1) * test_y.shape[1])
            mistakes[i] = (self.answers_of(test_X[tests]) != test_y[i]).sum()

    def answers(self, X: Floats, out: Codes, /) -> None:
        out[:] = self.answers_of(X)

    def scores(self, X: Floats, out: Floats, /) -> None:
        out[:] = self.discriminants(X)

    def answer_one(self, x: Row, /) -> int:
        return int(self.answers_of(self._reader.read(x)[None])[0])

    def probabilities_one(self, x: Row, /) -> list[float]:
        """The probability of each class; all alike where none was seen."""
        given: list[float] = posteriors(self.discriminants(self._reader.read(x)[None]), self.confidence)[0].tolist()
        return given

    def learn_one(self, x: Row, k: int, /) -> None:
        self.learn(self._reader.read(x)[None], np.array([k]))

    def know(self, codes: dict[Any, int], types: frozenset[type], /) -> None:
        """The labels' places and their usual types, until another class is announced."""
        self._known = codes, types

    def learn_known(self, x: Row, y: object, /) -> bool:
        """Learn one row by its label itself, where that is known; False where it is not."""
        codes, types = self._known
        code = codes.get(y) if type(y) in types else None
        if code is not None:
            self.learn_one(x, code)
        return code is not None

    def check_one(self, x: Row, /) -> None:
        self._reader.read(x)
