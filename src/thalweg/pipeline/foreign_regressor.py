"""A scikit-learn regressor as a core: by matrices of targets, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from thalweg.learners.rows import Floats


class ForeignRegressor:
    """A regressor with ``partial_fit`` that is not ours; it answers 0 before its first row.

    Parameters
    ----------
    features : int
        The width of a row.
    template : regressor
        Cloned at every start.
    """

    may_fail = True
    cuts = (0, 0, 0.0)

    def __init__(self, features: int, template: Any) -> None:
        self.n_features = features
        self.n_outputs = 1
        self.template = template
        self.model: Any = None

    def widen(self, outputs: int, /) -> None:
        """Make room for as many targets."""
        self.n_outputs = outputs

    def begin(self, X: Floats, Y: Floats, /) -> None:
        """Forget everything and begin from these rows, one by one."""
        self.model = None
        self.run(X, Y)

    def run(
        self, X: Floats, Y: Floats, answers: Floats | None = None, weights: object = None, intercepts: object = None
    ) -> None:
        """Test-then-train. Weights on the way cannot be had of it."""
        if weights is not None or intercepts is not None:
            raise TypeError(f"{type(self.template).__name__} does not tell its weights on the way")
        for i in range(len(X)):
            if answers is not None:
                self.answers(X[i : i + 1], answers[i : i + 1])
            model = clone(self.template) if self.model is None else self.model
            model.partial_fit(X[i : i + 1], Y[i : i + 1, 0] if self.n_outputs == 1 else Y[i : i + 1])
            self.model = model

    def answers(self, X: Floats, out: Floats, /) -> None:
        """Write the answers to each row."""
        out[:] = 0.0 if self.model is None else np.reshape(self.model.predict(X), out.shape)

    def answer_one(self, x: Floats, /) -> Floats:
        """The answers to one row."""
        out = np.empty((1, self.n_outputs))
        self.answers(x[None], out)
        return np.asarray(out[0])

    def answer_number(self, x: Floats, /) -> float:
        """The answer to one row, where there is one target."""
        return float(self.answer_one(x)[0])

    def learn_one(self, x: Floats, y: float | Floats, /) -> bool:
        """Learn one row; no step of it is ever cut."""
        self.run(x[None], np.reshape(np.asarray(y, dtype=np.float64), (1, self.n_outputs)))
        return False

    def adapters(self) -> list[Any]:
        """Itself: what it learned is an object."""
        return [self]

    def learned(self) -> tuple[int, Any]:
        """What it learned, for copies and pickles."""
        return self.n_outputs, self.model

    def take_back(self, what: tuple[int, Any]) -> None:
        """Go on from what `learned` gave."""
        self.n_outputs, self.model = what

    def state(self) -> dict[str, NDArray[Any]]:
        """Nothing that could be held in arrays."""
        return {}

    def restore(self, state: dict[str, NDArray[Any]], /) -> None:
        """Nothing to take back."""
