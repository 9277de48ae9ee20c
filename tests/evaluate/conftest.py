"""A small learner with the compiled learners' interface, obvious enough to be checked by eye."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest


class CountedAnswers(NamedTuple):
    labels: np.ndarray
    proba: np.ndarray | None
    rate: np.ndarray | None
    weights: np.ndarray | None = None


class CountingLearner:
    """Answers the class most often seen with the row's sign of the first feature; rate 1 / (1 + rows)."""

    def __init__(self) -> None:
        self.counts: dict[object, np.ndarray] = {}
        self.rows = 0

    def __getattr__(self, name: str) -> object:
        if name == "classes_" and self.counts:
            return np.array(sorted(self.counts))
        raise AttributeError(name)

    @property
    def rate_(self) -> float:
        return 1.0 / (1.0 + self.rows)

    def fit(self, X: np.ndarray, y: np.ndarray) -> CountingLearner:
        self.__init__()  # type: ignore[misc]
        for x, label in zip(X, y, strict=True):
            self.learn_one(x, label)
        return self

    def learn_one(self, x: np.ndarray, label: object) -> None:
        self.counts.setdefault(label, np.zeros(2))[int(x[0] > 0)] += 1.0
        self.rows += 1

    def proba_one(self, x: np.ndarray) -> dict[object, float]:
        weights = {label: 1.0 + counts[int(x[0] > 0)] for label, counts in sorted(self.counts.items())}
        return {label: weight / sum(weights.values()) for label, weight in weights.items()}

    def predict_one(self, x: np.ndarray, zero: object) -> object:
        proba = self.proba_one(x)
        return max(proba, key=proba.__getitem__) if proba else zero

    def predict_then_learn(
        self,
        X: np.ndarray,
        y: np.ndarray,
        with_proba: bool = False,
        with_rate: bool = False,
        with_weights: bool = False,
    ) -> CountedAnswers:
        labels, probas, rates = np.zeros_like(y), [], []
        for row, (x, label) in enumerate(zip(X, y, strict=True)):
            labels[row] = self.predict_one(x, labels[row])
            probas.append(self.proba_one(x))
            self.learn_one(x, label)
            rates.append(self.rate_)
        proba = np.array([[known.get(label, 0.0) for label in sorted(self.counts)] for known in probas])
        return CountedAnswers(labels, proba if with_proba else None, np.array(rates) if with_rate else None)

    def learn_then_test(self, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> np.ndarray:
        mistakes = []
        for x, label, test_rows, test_labels in zip(X, y, X_test, y_test, strict=True):
            self.learn_one(x, label)
            mistakes.append(sum(self.predict_one(r, 0) != t for r, t in zip(test_rows, test_labels, strict=True)))
        return np.array(mistakes, dtype=np.int64)


@pytest.fixture
def counting_learner() -> type[CountingLearner]:
    return CountingLearner
