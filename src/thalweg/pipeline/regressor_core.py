"""A regressor behind transformers, as one core."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.kernels._base import Vocabulary
from thalweg.learners.rows import Floats, Row
from thalweg.pipeline.chain import Chain


class RegressorCore:
    """Answers and learns each row as the transformers knew it before that row; then they learn it.

    Parameters
    ----------
    chain : Chain
        The transformers.
    last : core of a regressor
        As wide as the chain gives out.
    """

    def __init__(self, chain: Chain, last: Any) -> None:
        self.n_features = chain.n_features
        self.chain = chain
        self.last = last

    @property
    def n_outputs(self) -> int:
        """Of the regressor."""
        return int(self.last.n_outputs)

    @property
    def cuts(self) -> tuple[int, int, float]:
        """Of the regressor's steps."""
        cuts: tuple[int, int, float] = self.last.cuts
        return cuts

    def coefficients(self) -> tuple[Floats, Floats]:
        """Of the regressor: weights of the features that the transformers give out."""
        weights, intercepts = self.last.coefficients()
        return weights, intercepts

    def adapters(self) -> list[Any]:
        """Of the regressor."""
        return self.last.adapters() if hasattr(self.last, "adapters") else []

    def name_features(self, names: tuple[str, ...] | Vocabulary, /) -> None:
        """The names by which a row given as a dict is read."""
        self.chain.name_features(names)

    def widen(self, outputs: int, /) -> None:
        """Make room for as many targets."""
        self.last.widen(outputs)

    def begin(self, X: Floats, Y: Floats, /) -> None:
        """Each transformer learns all rows, then the regressor all rows as they are then transformed."""
        self.last.begin(self.chain.begin(X), Y)

    def run(
        self,
        X: Floats,
        Y: Floats,
        answers: Floats | None = None,
        weights: Floats | None = None,
        intercepts: Floats | None = None,
    ) -> None:
        """Test-then-train; warily where the last step is not ours and may raise an error."""
        wanted = (answers, weights, intercepts)
        for rows, Z in self.chain.causal(X, warily=getattr(self.last, "may_fail", False)):
            self.last.run(Z, Y[rows], *(None if out is None else out[rows] for out in wanted))

    def answers(self, X: Floats, out: Floats, /) -> None:
        """Write the answers to each row."""
        for rows, Z in self.chain.known(X):
            self.last.answers(Z, out[rows])

    def answer_one(self, x: Row, /) -> Floats:
        """The answers to one row."""
        return np.asarray(self.last.answer_one(self.chain.transform_one(x)))

    def answer_number(self, x: Row, /) -> float:
        """The answer to one row, where there is one target."""
        return float(self.last.answer_number(self.chain.transform_one(x)))

    def learn_one(self, x: Row, y: float | Floats, /) -> bool:
        """Learn one row; the regressor first, so that an error of its own leaves all as it was."""
        way = self.chain.way_of(x)
        cut: bool = self.last.learn_one(way[-1], y)
        self.chain.learn_way(way)
        return cut

    def check_one(self, x: Row, /) -> None:
        """Raise `InvalidInput` where a row is not one of this model's."""
        self.chain.check_one(x)

    def state(self) -> dict[str, NDArray[Any]]:
        """What the regressor learned, by its own names, and the transformers, by number and name."""
        return {**self.chain.state(), **self.last.state()}

    def restore(self, state: dict[str, NDArray[Any]], /) -> None:
        """Take back what `state` gave, or raise ValueError."""
        self.chain.restore(state)
        self.last.restore(state)
