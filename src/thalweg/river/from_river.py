"""River's models as scikit-learn's, and so as ours: arrays in, row by row, for `thalweg.evaluate` and `Committee`; and
River's data sets as streams.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import islice
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError

from thalweg.errors import InvalidInput, InvalidParameter, MissingExtra
from thalweg.frames.frame import NamedRows
from thalweg.frames.reading import names_of_columns
from thalweg.labels import Labels, as_labels
from thalweg.learners.base.estimator import WithColumns
from thalweg.learners.base.regressor import as_targets
from thalweg.learners.base.rows import Floats, Row, as_rows
from thalweg.parameters import whole_number
from thalweg.streams.table import Table


def from_river(model: Any, *, feature_names: Sequence[Hashable] | None = None) -> FromRiver:
    """A classifier or regressor of River's with ``partial_fit`` and ``predict``, over arrays.

    It begins fresh: what ``model`` has learned already is not taken over. Rows are asked and learned one by one, in
    Python, as River does. It is for comparing errors, not speeds: in `prequential` a row takes about ten times as long
    as in a River loop, since it is checked, made a dict and asked for probabilities by itself.

    Parameters
    ----------
    model : river.base.Classifier or river.base.Regressor
        The template; a pipeline of River's that ends in one, too.
    feature_names : sequence, optional
        What River calls the columns, where the model asks for some by name. By default the names that the first rows
        have, of a frame or of a stream that knows them, and for arrays 0, 1, 2, … Later rows must have the same columns
        in the same order; arrays are then read by the names that are known.

    Examples
    --------
    >>> from river import linear_model, preprocessing
    >>> from thalweg.evaluate import prequential, summarise
    >>> from thalweg.river import from_river
    >>> from thalweg.streams import SEA
    >>> model = from_river(preprocessing.StandardScaler() | linear_model.LogisticRegression())
    >>> summarise(prequential(model, SEA(seed=1), rows=1000)).model.error < 0.2
    True
    """
    MissingExtra.import_module("river", "river", "from_river", "River")
    from river import base

    if isinstance(model, base.Classifier):
        return FromRiverClassifier(model, feature_names)
    if isinstance(model, base.Regressor):
        return FromRiverRegressor(model, feature_names)
    raise InvalidParameter.of("from_river", "model", "be a classifier or a regressor of River's", model)


class FromRiver(WithColumns):
    """What both kinds share: the model inside, and rows as dicts.

    Attributes
    ----------
    river_ : river.base.Estimator
        The model that has learned.
    n_features_in_ : int
        The width of a row.
    feature_names_in_ : ndarray of str
        The names of the features, where the first rows had names.
    """

    river_: Any
    _keys: list[Any]

    def __init__(self, model: Any, feature_names: Sequence[Hashable] | None = None) -> None:
        self.model = model
        self.feature_names = feature_names

    def _dicts(self, X: ArrayLike) -> list[dict[Any, float]]:
        """Rows as River is given them, by the names that its model began with."""
        rows = as_rows(X, self, "X")
        keys = self._keys_of(X, rows)
        if self.__sklearn_is_fitted__():
            self._require_same_columns(X)
            if names_of_columns(X) is None:
                keys = self._keys
            elif keys != self._keys:  # names other than words, which scikit-learn does not look at
                raise InvalidInput(f"X must have the columns {self._keys}, as when learning began, got {keys}")
        return [dict(zip(keys, row, strict=True)) for row in rows.tolist()]

    def _keys_of(self, X: ArrayLike, rows: Floats) -> list[Any]:
        given = names_of_columns(X) if self.feature_names is None else list(self.feature_names)
        keys = list(range(rows.shape[1])) if given is None else given
        if len(keys) != rows.shape[1]:
            raise InvalidInput(f"X must have a column for each of the {len(keys)} feature names, got {rows.shape[1]}")
        return keys

    def _row(self, x: Row) -> Any:
        """A single row as rows, in the order of the columns where it has names of its own or takes the known ones."""
        if isinstance(x, Mapping):
            known = self.__dict__.get("_keys", list(x))
            keys = known if set(known) == set(x) else list(x)
            return NamedRows(as_rows([[x[key] for key in keys]], self, "x"), keys)
        row = [list(x)]
        if "feature_names_in_" in self.__dict__ and len(row[0]) == len(self._keys):
            return NamedRows(as_rows(row, self, "x"), self._keys)
        return row

    def _has_use_for(self, names: list[Any]) -> bool:
        return not self.__sklearn_is_fitted__() or names == self._keys

    def _learned(self) -> Any:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet: call partial_fit first.")
        return self.river_

    def _ready(self, X: ArrayLike, rows: list[dict[Any, float]]) -> Any:
        if not self.__sklearn_is_fitted__():
            self._remember_columns(X)
            self.n_features_in_ = len(rows[0])
            self._keys = list(rows[0])
            self.river_ = self.model.clone()
        return self.river_

    def _forget(self) -> None:
        for name in ("river_", "_keys", "classes_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)

    def __sklearn_is_fitted__(self) -> bool:
        return "river_" in self.__dict__


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
        self._forget()
        return self.partial_fit(X, y)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn these rows in order. ``classes`` announces labels to come."""
        rows = self._dicts(X)
        labels = as_labels(y, len(rows), type(self).__name__)
        known = Labels(self.classes_) if "classes_" in self.__dict__ else Labels.none()
        announced = labels[:0] if classes is None else as_labels(classes, np.size(classes), type(self).__name__)
        wider = known.with_labels(labels).with_labels(announced).values
        known_from_the_start = len(wider) == 2 and len(known) in (0, 2)
        if not (self.model._multiclass or known_from_the_start or set(wider.tolist()) <= {0, 1}):
            rule = "distinguishes two classes, and must know both from the start: give them as 'classes'"
            raise InvalidInput(f"{self.model} {rule}, got {wider.tolist()}")
        model = self._ready(X, rows)
        self.classes_ = wider
        for row, label in zip(rows, labels.tolist(), strict=True):
            model.learn_one(row, self._river_label(label))
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The prediction for each row; the first of ``classes_`` where River's model has none."""
        self._learned()
        return np.array([self._predicted(row) for row in self._dicts(X)], dtype=self.classes_.dtype)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """The probability of each of ``classes_``; all alike where River's model has none."""
        model = self._learned()
        return np.array([self._spread(model.predict_proba_one(row)) for row in self._dicts(X)])

    def learn_one(self, x: Row, y: Any) -> Self:
        """Learn one row: an array, a sequence of numbers, or a dict of feature name to number."""
        return self.partial_fit(self._row(x), [y])

    def predict_one(self, x: Row) -> Any:
        """The prediction for one row; None before any label."""
        return self.predict(self._row(x)).item() if self.__sklearn_is_fitted__() else None

    def _river_label(self, label: Any) -> Any:
        """A label in the form that River's model gets."""
        if self.model._multiclass:
            return label
        return bool(label == (self.classes_[1] if len(self.classes_) == 2 else 1))

    def _predicted(self, row: dict[Any, float]) -> Any:
        predicted = self.river_.predict_one(row)
        if predicted is None:
            return self.classes_[0]
        return predicted if self.model._multiclass else self.classes_[-1 if predicted else 0]

    def _spread(self, given: dict[Any, float]) -> list[float]:
        shares = [given.get(self._river_label(label), 0.0) for label in self.classes_.tolist()]
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
        self._forget()
        return self.partial_fit(X, y)

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        rows = self._dicts(X)
        targets, columns = as_targets(y, len(rows), type(self).__name__)
        if columns is not None:
            raise InvalidInput(f"y must be one-dimensional for {type(self).__name__}, got {columns} columns")
        model = self._ready(X, rows)
        for row, target in zip(rows, targets[:, 0].tolist(), strict=True):
            model.learn_one(row, target)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        model = self._learned()
        return np.array([model.predict_one(row) for row in self._dicts(X)], dtype=np.float64)


def river_stream(dataset: Iterable[tuple[dict[Any, Any], Any]], *, limit: int | None = None) -> Table:
    """The rows of anything that yields pairs of a dict and a label, as River's data sets do.

    Parameters
    ----------
    dataset : iterable of pairs of a dict and a label or number
        A data set or generator of River's.
    limit : int, optional
        How many rows to take; River's generators need one, being endless.

    Returns
    -------
    Table
        Columns in the order in which features were first met; 0 where a row lacks one, as in River's linear models.

    Examples
    --------
    >>> from river.datasets import synth
    >>> from thalweg import OnlineLDC
    >>> from thalweg.evaluate import prequential, summarise
    >>> from thalweg.river import river_stream
    >>> stream = river_stream(synth.SEA(seed=1), limit=1000)
    >>> stream.feature_names, summarise(prequential(OnlineLDC(), stream)).model.error < 0.15
    (('0', '1', '2'), True)
    """
    most = None if limit is None else whole_number("river_stream", "limit", limit, least=1)
    rows, labels = [], []
    columns: dict[Any, int] = {}
    for x, y in islice(dataset, most):
        for name in x:
            columns.setdefault(name, len(columns))
        rows.append(x)
        labels.append(y)
    if not columns:
        raise InvalidInput("a stream needs rows with features, got none")
    X = np.zeros((len(rows), len(columns)))
    for i, row in enumerate(rows):
        for name, value in row.items():
            if not isinstance(value, Real | np.bool_):
                raise InvalidInput(f"a stream's features must be numbers, got {value!r} in column {name!r} of row {i}")
            X[i, columns[name]] = float(value)
    return Table(X, labels, list(columns))
