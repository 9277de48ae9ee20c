"""A classifier behind transformers, as one core."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.kernels._base import Vocabulary
from thalweg.learners.contract import StreamCore
from thalweg.learners.python_core import Codes, PythonCore
from thalweg.learners.rows import Floats, Row
from thalweg.pipeline.chain import Chain


class ClassifierCore(PythonCore):
    """Answers and learns each row as the transformers knew it before that row; then they learn it.

    Parameters
    ----------
    chain : Chain
        The transformers.
    last : core of a classifier
        As wide as the chain gives out.
    """

    def __init__(self, chain: Chain, last: StreamCore) -> None:
        super().__init__(chain.n_features)
        self.chain = chain
        self.last = last

    @property
    def n_members(self) -> int:  # type: ignore[override]
        """Of the classifier."""
        return self.last.n_members

    @property
    def rate(self) -> float:  # type: ignore[override]
        """Of the classifier."""
        return self.last.rate

    @property
    def confidence(self) -> float:  # type: ignore[override]
        """Of the classifier."""
        return self.last.confidence

    def shares(self) -> Floats:
        """Of the classifier's members."""
        return self.last.shares()

    def adapters(self) -> list[Any]:
        """Of the classifier."""
        return self.last.adapters()

    def name_features(self, names: tuple[str, ...] | Vocabulary, /) -> None:
        """The names by which a row given as a dict is read."""
        self.chain.name_features(names)

    def insert(self, at: int) -> None:
        """A class takes its place."""
        self.last.announce(at)

    def forget(self) -> None:
        """As before the first row."""
        self.begin(np.empty((0, self.n_features)), np.empty(0, dtype=np.int64))

    def begin(self, X: Floats, y: Codes, /) -> None:
        """Each transformer learns all rows, then the classifier all rows as they are then transformed."""
        self.last.begin(self.chain.begin(X), y)

    def learn(self, X: Floats, y: Codes) -> None:
        """Learn these rows in order."""
        self.run(X, y)

    def run(
        self,
        X: Floats,
        y: Codes,
        answers: Codes | None = None,
        scores: Floats | None = None,
        rates: Floats | None = None,
        shares: Floats | None = None,
    ) -> None:
        """Test-then-train; warily where the last step is not ours and may raise an error."""
        wanted: tuple[Any, ...] = (answers, scores, rates, shares)
        for rows, Z in self.chain.causal(X, warily=getattr(self.last, "may_fail", False)):
            self.last.run(Z, y[rows], *(None if out is None else out[rows] for out in wanted))

    def learn_then_test(self, X: Floats, y: Codes, test_X: Floats, test_y: Codes, mistakes: Codes, /) -> None:
        """After each row, the mistakes on that row's own test rows."""
        answers = np.empty(test_y.shape[1], dtype=np.int64)
        for i in range(len(X)):
            self.run(X[i : i + 1], y[i : i + 1])
            self.answers(test_X[i], answers)
            mistakes[i] = (answers != test_y[i]).sum()

    def answers(self, X: Floats, out: Codes, /) -> None:
        """Write the class of each row."""
        for rows, Z in self.chain.known(X):
            self.last.answers(Z, out[rows])

    def scores(self, X: Floats, out: Floats, /) -> None:
        """Write the discriminants of each row."""
        for rows, Z in self.chain.known(X):
            self.last.scores(Z, out[rows])

    def discriminants(self, X: Floats) -> Floats:
        """One score per row and class."""
        out = np.empty((len(X), self.n_classes))
        self.scores(X, out)
        return out

    def answer_one(self, x: Row, /) -> int:
        """The class of one row."""
        return self.last.answer_one(self.chain.transform_one(x))

    def probabilities_one(self, x: Row, /) -> list[float]:
        """The probability of each class."""
        return self.last.probabilities_one(self.chain.transform_one(x))

    def learn_one(self, x: Row, k: int, /) -> None:
        """Learn one row; the classifier first, so that an error of its own leaves all as it was."""
        way = self.chain.way_of(x)
        self.last.learn_one(way[-1], k)
        self.chain.learn_way(way)

    def check_one(self, x: Row, /) -> None:
        """Raise `InvalidInput` where a row is not one of this model's."""
        self.chain.check_one(x)

    def state(self) -> dict[str, NDArray[Any]]:
        """What the classifier learned, by its own names, and the transformers, by number and name."""
        return {**self.chain.state(), **self.last.state()}

    def restore(self, state: dict[str, NDArray[Any]], /) -> None:
        """Take back what `state` gave, or raise ValueError."""
        self.chain.restore(state)
        self.last.restore(state)
        self.n_classes = self.last.n_classes
