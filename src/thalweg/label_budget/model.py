"""A classifier or regressor that asks for the labels it learns."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.label_budget.asking import Asking
from thalweg.label_budget.error_estimate import Estimate
from thalweg.label_budget.sampler import RULES, Strategy
from thalweg.label_budget.worth import Worth
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.kept_predictions import KeptPredictions, steps_of
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.learners.base.rows import Row


class Asked(NamedTuple):
    """A predicted row: whether to ask for its label, how probable that was, and the prediction."""

    ask: bool
    probability: float
    prediction: Any


class PredictionsWithAsked(NamedTuple):
    """Of each row the prediction before its label, whether the label was asked for, and how probable that was.

    ``positive`` is the probability of the label of interest before it, 0 where none is named or it is not known yet.
    """

    predictions: NDArray[Any]
    asked: NDArray[np.bool_]
    probability: NDArray[np.float64]
    positive: NDArray[np.float64]


def _learner_has(name: str) -> Any:
    return lambda model: hasattr(model.learner_ if model.__sklearn_is_fitted__() else model.learner, name)


class LabelBudget(MetaEstimatorMixin, BaseEstimator):
    """Asks for the labels of a share of the rows, learns those, and estimates its error over all rows.

    Whether to ask is decided row by row, before the label is known: more often where the prediction is uncertain, and
    with a known probability for every row. Labels that come unasked can be learned as well.

    Parameters
    ----------
    learner : classifier or regressor
        A learner of thalweg; a template that is never learned itself.
    budget : float in (0, 1], default 0.1
        Share of the rows to ask for. After the first 500 rows, on which it spends more at once, it is kept over any
        1,000 rows within 20 %, and within 1 % over all.
    strategy : {"auto", "random", "uncertain", "rare", "flagged"}, default "auto"
        Which rows are preferred. "uncertain": a small margin between the two likeliest labels, or a wide prediction
        interval. "rare": a high probability of the label ``positive``, and rows unlike those that were asked for.
        "auto": "rare" where ``positive`` is named and has less than a tenth of the rows, else "uncertain". "flagged":
        only the rows with the highest probability of ``positive``, as where nothing else is checked.
    explore : float in [0, 1], default 0.1
        Share of the budget that is spent on all rows alike, "flagged" included. Raising it narrows the interval of
        `error_` and costs accuracy. With 0 rows that no one asks for are not in the estimate.
    positive : label, optional
        The label of interest of "rare" and "flagged".
    seed : int >= 0, default 0
        Seed for the random number generator.

    Attributes
    ----------
    learner_ : classifier or regressor
        The model.
    error_ : Estimate
        The share of wrong predictions over all rows, or the mean absolute error, and an interval of 95 %.
    rows_, asked_ : int
        Rows so far, and how many were asked for.

    Examples
    --------
    >>> from thalweg import LabelBudget, OnlineLDC
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=1).take(5000)
    >>> model = LabelBudget(OnlineLDC(0.1, counts="soft"), budget=0.1)
    >>> predictions, asked, *_ = model.predict_then_learn(X, y)
    >>> int(asked.sum())
    501
    >>> low, high = model.error_.lower, model.error_.upper
    >>> bool(low < (predictions != y).mean() < high)
    True

    Row by row, as in production:

    >>> row = model.ask_one([0.0, 0.0])
    >>> if row.ask:  # the label may come much later
    ...     model = model.learn_one([0.0, 0.0], 1, row)
    """

    learner_: Any

    def __init__(
        self,
        learner: Any,
        budget: float = 0.1,
        *,
        strategy: Strategy = "auto",
        explore: float = 0.1,
        positive: Any = None,
        seed: int = 0,
    ) -> None:
        self.learner = learner
        self.budget = budget
        self.strategy = strategy
        self.explore = explore
        self.positive = positive
        self.seed = seed

    def _begin(self) -> None:
        owner = type(self).__name__
        RULES.check(self)
        if not isinstance(self.learner, StreamClassifier | StreamRegressor):
            raise InvalidParameter.of(owner, "learner", "be a classifier or regressor of thalweg", self.learner)
        if self.strategy in ("rare", "flagged") and self.positive is None:
            raise InvalidParameter.of(owner, "positive", f'be named with strategy="{self.strategy}"', None)
        self.learner_ = clone(self.learner)
        about = {"positive": self.positive, "numeric": isinstance(self.learner, StreamRegressor)}
        self._asking = Asking(self.budget, self.strategy, self.explore, self.seed, **about)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learner_")

    def ask_one(self, x: Row) -> Asked:
        """Predict one row and decide whether to ask for its label; the row counts from here on."""
        if not self.__sklearn_is_fitted__():
            self._begin()
        prediction = self.learner_.predict_one(x)
        values = [x[name] for name in getattr(self.learner_, "feature_names_in_", x)] if isinstance(x, dict) else x
        worth = Worth.of(self.learner_, np.asarray([values], dtype=np.float64), self.positive)
        return Asked(*self._asking.decide(worth, 0), prediction)

    def learn_one(self, x: Row, y: Any, asked: Asked | None = None) -> Self:
        """Learn one row; ``asked`` is what `ask_one` gave for it, by which the row counts for `error_`."""
        if not self.__sklearn_is_fitted__():
            self._begin()
        self.learner_.learn_one(x, y)
        if asked is not None and asked.ask and asked.prediction is not None:
            self._came(np.array([y]), np.array([asked.prediction]), np.array([asked.probability]))
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn rows whose labels came unasked; they count for no budget and for no estimate."""
        if not self.__sklearn_is_fitted__():
            self._begin()
        self.learner_.partial_fit(X, y)
        self._asking.learned_unasked(np.asarray(X))
        return self

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Forget everything and learn all of these rows."""
        self._begin()
        self.learner_.fit(X, y)
        return self

    def predict_then_learn(self, X: ArrayLike, y: ArrayLike) -> PredictionsWithAsked:
        """Predict each row, and learn it if its label was asked for, before the next one is predicted.

        ``y`` has all labels; those that were not asked for are not read.
        """
        rows = np.arange(len(np.asarray(y)))
        return self.follow(X, y, np.stack([rows, ~rows], axis=1).ravel())

    def follow(self, X: ArrayLike, y: ArrayLike, order: ArrayLike) -> PredictionsWithAsked:
        """Predict rows and learn those that were asked for, in any order: what late labels need.

        ``i`` predicts row i, ``~i`` learns it. A row that is learned and was not predicted in this call came unasked.
        """
        if not self.__sklearn_is_fitted__():
            self._begin()
        X, y = np.asarray(X), np.asarray(y)
        if X.ndim != 2 or len(X) != len(y):
            raise InvalidInput(f"X must be two-dimensional with a row for each of the {len(y)} labels of y")
        steps, _ = steps_of(order, len(y))
        probability = np.full(len(y), np.nan)
        asked = np.ones(len(y), dtype=np.bool_)
        asked[steps[steps >= 0]] = False
        numeric = isinstance(self.learner, StreamRegressor)
        predictions = np.full(len(y), np.nan) if numeric else np.zeros(len(y), dtype=y.dtype)
        predicted = np.zeros(len(y), dtype=np.bool_)
        kept = KeptPredictions.none(len(y))
        of_interest = np.zeros(len(y))

        def worth(rows: NDArray[np.int64]) -> Worth:
            of_rows = Worth.of(self.learner_, X[rows], self.positive)
            of_interest[rows] = of_rows.positive
            return of_rows

        for part in self._asking.parts(steps, asked, probability, worth):
            places = np.where(part < 0, ~part, part)
            rows, among = np.unique(places, return_inverse=True)
            own, fresh = kept[rows], part[part >= 0]
            is_fitted = self.learner_.__sklearn_is_fitted__()
            given = self.learner_.follow(X[rows], y[rows], np.where(part < 0, ~among, among), kept=own)[0]
            kept.put(rows, own)
            predictions[fresh] = given[among[part >= 0]]
            predicted[fresh] = is_fitted
            came = ~part[(part < 0)]
            came = came[predicted[came]]
            self._came(y[came], predictions[came], probability[came])
        return PredictionsWithAsked(predictions, asked, probability, of_interest)

    def _came(self, y: NDArray[Any], predictions: NDArray[Any], probability: NDArray[np.float64]) -> None:
        if len(y) == 0:
            return
        if isinstance(self.learner, StreamRegressor):
            losses = np.abs(y - predictions).reshape(len(y), -1).mean(axis=1)
            self._asking.came(losses, probability)
        else:
            positive = None if self.positive is None else y == self.positive
            self._asking.came((y != predictions).astype(np.float64), probability, positive)

    @property
    def error_(self) -> Estimate:
        """The error over all rows, estimated from the asked ones."""
        return self._asking.error()

    @property
    def rows_(self) -> int:
        """Rows so far."""
        return self._asking.sampler.rows

    @property
    def asked_(self) -> int:
        """Rows that were asked for."""
        return self._asking.sampler.asked

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict each row; nothing is asked or learned."""
        predictions: NDArray[Any] = self.learner_.predict(X)
        return predictions

    def predict_one(self, x: Row) -> Any:
        """Predict one row; None from a model that has learned nothing."""
        return self.learner_.predict_one(x) if self.__sklearn_is_fitted__() else None

    @available_if(_learner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The probability of each class of ``learner_.classes_``."""
        proba: NDArray[np.float64] = self.learner_.predict_proba(X)
        return proba

    def state(self) -> dict[str, Any]:
        """What was asked and estimated, beside the model."""
        return self._asking.state()

    @classmethod
    def of_learned(cls, learner: Any, parameters: dict[str, Any], state: dict[str, Any]) -> Self:
        """A model around a learner that has learned already, continuing from what `state` gave."""
        model = cls(clone(learner), **parameters)
        model._begin()
        model.learner_ = learner
        model._asking.restore(state)
        return model
