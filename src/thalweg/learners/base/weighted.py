"""The methods of learners whose rows may have weights; what a weight means to each is in ``sample_weight.py``."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike, NDArray

from thalweg.learners.base.classifier import Answers, StreamClassifier
from thalweg.learners.base.regressor import LinearAnswers, StreamRegressor
from thalweg.learners.base.rows import Floats


class WithWeights(StreamClassifier):
    """A classifier whose rows may have weights."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and start from these rows; `partial_fit` goes on from there.

        ``sample_weight`` is how much each row counts: 1, or None, is an ordinary row, 0 is none, and more than 1 counts
        for more: as so many copies, or by a step so many times as large (the documentation's page on weights).
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn these rows in order, at the rate.

        ``classes`` may announce labels to come; it is never needed. ``sample_weight`` is how many rows each row counts
        for.
        """
        return self._partial_fit(X, y, classes, sample_weight)

    def predict_then_learn(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        with_proba: bool = False,
        with_rate: bool = False,
        with_weights: bool = False,
    ) -> NDArray[Any] | Answers:
        """Answer each row before its label is seen, then learn it: the whole stream in one compiled call.

        Parameters
        ----------
        X, y : array or frame of shape (rows, features), array of shape (rows,)
            The rows and their labels, in the order in which they came.
        sample_weight : array of shape (rows,), optional
            How much each row counts, 1 each by default; a row of weight 0 is only answered.
        with_proba, with_rate, with_weights : bool
            Whether to give, beside each answer, the class probabilities, the rate in force after the row, and the
            shares that the members of a learner made of others had in the answer.

        Returns
        -------
        ndarray or Answers
            The answers; with one of the switches an `Answers` that also holds what was asked for (probabilities with
            columns as in ``classes_`` after the call), or None where the learner has no such thing. Before any label
            is known the answer is the zero of the labels' type: 0, False or "".
        """
        return self._predict_then_learn(X, y, with_proba, with_rate, with_weights, sample_weight=sample_weight)


class WithTargetWeights(StreamRegressor):
    """A regressor whose rows may have weights."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and start from these rows; `partial_fit` goes on from there.

        ``sample_weight`` is how much each row counts: 1, or None, is an ordinary row, 0 is none, and more than 1 counts
        for more: as so many copies, or by a step so many times as large (the documentation's page on weights).
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn these rows in order; ``sample_weight`` is how many rows each row counts for."""
        return self._partial_fit(X, y, sample_weight)

    def predict_then_learn(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        with_coef: bool = False,
    ) -> Floats | LinearAnswers:
        """Answer each row before its target is seen, then learn it: the whole stream in one compiled call.

        ``sample_weight`` is how many rows each row counts for; one of weight 0 is only answered. With ``with_coef``
        the linear model after each row is returned beside the answers.
        """
        return self._predict_then_learn(X, y, with_coef, sample_weight)
