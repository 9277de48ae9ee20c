"""River's models as scikit-learn's, and so as ours: arrays in, row by row, for `thalweg.evaluate` and `Committee`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError

from thalweg.errors import InvalidInput, InvalidParameter, MissingExtra
from thalweg.learners.labels import as_labels
from thalweg.learners.rows import Floats, as_rows
from thalweg.learners.targets import as_targets


def from_river(model: Any, *, feature_names: Sequence[Hashable] | None = None) -> FromRiver:
    """A classifier or regressor of River's with ``partial_fit`` and ``predict``, over arrays.

    It begins fresh: what ``model`` has learned already is not taken over. Rows are asked and learned one by one, in
    Python, as River does.

    Parameters
    ----------
    model : river.base.Classifier or river.base.Regressor
        The template; a pipeline of River's that ends in one, too.
    feature_names : sequence, optional
        What River calls the columns, where the model asks for some by name. By default the names of a frame's columns,
        and for arrays 0, 1, 2, …

    Examples
    --------
    >>> from river import linear_model, preprocessing
    >>> from thalweg.evaluate import prequential, summarise
    >>> from thalweg.interop import from_river
    >>> from thalweg.streams import SEA
    >>> model = from_river(preprocessing.StandardScaler() | linear_model.LogisticRegression())
    >>> summarise(prequential(model, SEA(seed=1), rows=1000)).model.error < 0.2
    True
    """
    try:
        from river import base
    except ModuleNotFoundError as error:
        raise MissingExtra.of("River", "river", "from_river") from error
    if isinstance(model, base.Classifier):
        return FromRiverClassifier(model, feature_names)
    if isinstance(model, base.Regressor):
        return FromRiverRegressor(model, feature_names)
    raise InvalidParameter.of("from_river", "model", "be a classifier or a regressor of River's", model)


class FromRiver(BaseEstimator):
    """What both kinds share: the model inside, and rows as dicts.

    Attributes
    ----------
    river_ : river.base.Estimator
        The model that has learned.
    """

    river_: Any

    def __init__(self, model: Any, feature_names: Sequence[Hashable] | None = None) -> None:
        self.model = model
        self.feature_names = feature_names

    def _dicts(self, X: ArrayLike) -> Iterator[dict[Any, float]]:
        rows = as_rows(X, self, "X")
        names = self._names_of(X, rows)
        return (dict(zip(names, row, strict=True)) for row in rows.tolist())

    def _names_of(self, X: ArrayLike, rows: Floats) -> list[Any]:
        given = self.feature_names if self.feature_names is not None else getattr(X, "columns", range(rows.shape[1]))
        names = list(given)
        if len(names) != rows.shape[1]:
            raise InvalidInput(f"X must have a column for each of the {len(names)} feature names, got {rows.shape[1]}")
        return names

    def _learned(self) -> Any:
        if "river_" not in self.__dict__:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet: call partial_fit first.")
        return self.river_

    def _ready(self) -> Any:
        if "river_" not in self.__dict__:
            self.river_ = self.model.clone()
        return self.river_


class FromRiverClassifier(ClassifierMixin, FromRiver):
    """A classifier of River's over arrays; `from_river` makes one.

    A model of River's that knows True and False alone is given whether a label is the second of its two classes.

    Attributes
    ----------
    river_ : river.base.Classifier
        The model that has learned.
    classes_ : ndarray
        The labels seen or announced so far, sorted.
    """

    classes_: NDArray[Any]

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Forget everything and learn these rows in order."""
        for name in ("river_", "classes_"):
            self.__dict__.pop(name, None)
        return self.partial_fit(X, y)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn these rows in order. ``classes`` announces labels to come."""
        rows = list(self._dicts(X))
        labels = as_labels(y, len(rows), type(self).__name__)
        known = [self.classes_] if "classes_" in self.__dict__ else []
        wider = np.unique(np.concatenate([*known, labels, *([] if classes is None else [np.asarray(classes)])]))
        told_from_the_start = len(wider) == 2 and all(len(before) == 2 for before in known)
        if not (self.model._multiclass or told_from_the_start or set(wider.tolist()) <= {0, 1}):
            rule = "tells two classes apart, and must know both from the start: give them as 'classes'"
            raise InvalidInput(f"{self.model} {rule}, got {wider.tolist()}")
        model = self._ready()
        self.classes_ = wider
        for row, label in zip(rows, labels.tolist(), strict=True):
            model.learn_one(row, self._told(label))
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The answer to each row; the first of ``classes_`` where River's model has none."""
        self._learned()
        return np.array([self._answer(row) for row in self._dicts(X)], dtype=self.classes_.dtype)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """The probability of each of ``classes_``; all alike where River's model has none."""
        model = self._learned()
        return np.array([self._spread(model.predict_proba_one(row)) for row in self._dicts(X)])

    def learn_one(self, x: Iterable[float], y: Any) -> Self:
        """Learn one row."""
        return self.partial_fit([list(x)], [y])

    def predict_one(self, x: Iterable[float]) -> Any:
        """The answer to one row; None before any label."""
        return self.predict([list(x)]).item() if "river_" in self.__dict__ else None

    def _told(self, label: Any) -> Any:
        """A label as River's model is told it."""
        if self.model._multiclass:
            return label
        return bool(label == (self.classes_[1] if len(self.classes_) == 2 else 1))

    def _answer(self, row: dict[Any, float]) -> Any:
        answer = self.river_.predict_one(row)
        if answer is None:
            return self.classes_[0]
        return answer if self.model._multiclass else self.classes_[-1 if answer else 0]

    def _spread(self, given: dict[Any, float]) -> list[float]:
        shares = [given.get(self._told(label), 0.0) for label in self.classes_.tolist()]
        whole = sum(shares)
        return [share / whole for share in shares] if whole > 0 else [1.0 / len(shares)] * len(shares)


class FromRiverRegressor(RegressorMixin, FromRiver):
    """A regressor of River's over arrays; `from_river` makes one.

    Attributes
    ----------
    river_ : river.base.Regressor
        The model that has learned.
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Forget everything and learn these rows in order."""
        self.__dict__.pop("river_", None)
        return self.partial_fit(X, y)

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn these rows in order."""
        rows = list(self._dicts(X))
        targets, columns = as_targets(y, len(rows), type(self).__name__)
        if columns is not None:
            raise InvalidInput(f"y must be one-dimensional for {type(self).__name__}, got {columns} columns")
        model = self._ready()
        for row, target in zip(rows, targets[:, 0].tolist(), strict=True):
            model.learn_one(row, target)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """The answer to each row."""
        model = self._learned()
        return np.array([model.predict_one(row) for row in self._dicts(X)], dtype=np.float64)
