"""What our models share as River's: a learner inside, a vocabulary of features that grows, and columns added to a
learner.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from river import base
from scipy.sparse import csr_array
from sklearn.base import clone

from thalweg.errors import UnknownFeature
from thalweg.frames.frame import NamedRows
from thalweg.kernels import compiled
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.estimator import StreamEstimator
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.learners.base.rows import Floats, as_rows

if TYPE_CHECKING:
    from thalweg.kernels._base import Vocabulary

Arrays = dict[str, NDArray[Any]]

#: The size of the row that stands for a feature's past.
_NEXT_TO_NOTHING = 1e-6


class CannotWiden(Exception):
    """The state of this learner is more than arrays over features: it was made with scikit-learn's classifiers."""


def widen(learner: StreamEstimator, features: int) -> None:
    """Make room for more features behind those the learner knows; `CannotWiden`, and nothing changed, where it cannot.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.river.open_learner import widen
    >>> model = OnlineLDC().partial_fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> before = model.decision_function([[1.7]])
    >>> widen(model, 2)
    >>> bool(before == model.decision_function([[1.7, 0.0]]))
    True
    """
    if learner._adapters():
        raise CannotWiden
    before = learner._core.n_features
    narrow, wide = (_blank(learner, width).state() for width in (before, features))
    learned: Arrays = learner._core.state()
    if not learned.keys() <= wide.keys():
        raise CannotWiden
    grown = {name: _laid_into(wide[name], narrow[name], array, before, features) for name, array in learned.items()}
    for name, array in grown.items():
        prefix = name.removesuffix("factor_diagonal")
        if prefix != name and f"{prefix}log_prior" in grown:
            _begin_with_next_to_nothing(array, learned[name], int(learned[f"{prefix}rows"][0]))
    core = learner._make_core(features)
    try:
        core.restore(grown)
    except ValueError as error:  # of so many features fewer rows are held
        raise CannotWiden from error
    learner._core = core
    learner.n_features_in_ = features


def _blank(learner: StreamEstimator, features: int) -> Any:
    core = learner._make_core(features)
    if isinstance(learner, StreamClassifier):
        for code in range(learner._core.n_classes):
            core.announce(code)
    elif isinstance(learner, StreamRegressor):
        core.widen(learner._core.n_outputs)
    return core


def _laid_into(
    wide: NDArray[Any], narrow: NDArray[Any], learned: NDArray[Any], before: int, features: int
) -> NDArray[Any]:
    axes = list(zip(narrow.shape, wide.shape, learned.shape, strict=True))
    shape = tuple(length if small == large else large for small, large, length in axes)
    grown = wide.copy() if wide.shape == shape else np.zeros(shape, dtype=learned.dtype)
    places = [
        np.arange(length) if small == large else _places(small, large, before, features)
        for small, large, length in axes
    ]
    grown[np.ix_(*places)] = learned
    return grown


def _places(small: int, large: int, before: int, features: int) -> NDArray[np.int64]:
    """Where the entries of an axis over features are found on the wider axis."""
    if small * features == large * before:  # feature by feature, be it with several numbers each
        return np.arange(small)
    kept = np.arange(before)
    and_constant = np.append(kept, features)
    if (small, large) == (_pairs(before), _pairs(features)):
        return _places_of_pairs(kept, features)
    if (small, large) == (before + 1, features + 1):
        return and_constant
    if (small, large) == (_pairs(before + 1), _pairs(features + 1)):
        return _places_of_pairs(and_constant, features + 1)
    if (small, large) == (_terms(before), _terms(features)):
        return np.append(_places_of_products(before, features), large - 1)
    few, many = _multiplied(small), _multiplied(large)
    if few == before < many <= features:  # products of the first features only
        return _places_of_products(few, many)
    raise CannotWiden


def _pairs(entries: int) -> int:
    return entries * (entries - 1) // 2


def _terms(features: int) -> int:
    """Features, their squares and products, and the constant."""
    return features + _pairs(features + 1) + 1


def _multiplied(terms: int) -> int:
    """How many features, with their squares and products, are so many terms; 0 where none are."""
    features = (math.isqrt(8 * terms + 9) - 3) // 2
    return features if _terms(features) - 1 == terms else 0


def _places_of_products(before: int, features: int) -> NDArray[np.int64]:
    """Where features, and their products behind them, are found among those of more features."""
    products = np.empty((features, features), dtype=np.int64)
    products[np.triu_indices(features)] = features + np.arange(_pairs(features + 1))
    return np.concatenate([np.arange(before), products[np.triu_indices(before)]])


def _places_of_pairs(kept: NDArray[np.int64], entries: int) -> NDArray[np.int64]:
    """Where the pairs of these entries are among all: the rows of a triangle above the diagonal, in turn."""
    upper = np.empty((entries, entries), dtype=np.int64)
    upper[np.triu_indices(entries, 1)] = np.arange(_pairs(entries))
    first, second = np.triu_indices(len(kept), 1)
    return upper[kept[first], kept[second]]


def _begin_with_next_to_nothing(diagonal: NDArray[Any], learned: NDArray[Any], rows: int) -> None:
    fresh = np.ones(diagonal.shape, dtype=bool)
    fresh[tuple(slice(length) for length in learned.shape)] = False
    diagonal[fresh] = max(1, rows) / _NEXT_TO_NOTHING**2  # of the inverse covariance, ours


Features = dict[Any, Any]


class OpenLearner(base.Estimator):
    """A stream learner over rows that are dicts, whose features may come and go.

    Parameters
    ----------
    model : classifier, regressor or transformer of thalweg
        The template.
    missing : {"zero", "mean"}, default "zero"
        What a feature is in a row that lacks it.
    """

    def __init__(self, model: Any, missing: str = "zero") -> None:
        self.model = model
        self.missing = missing
        self._learner = clone(model)
        self._vocabulary: Vocabulary | None = None
        self._can_grow = True
        self._takes_rows_as_they_are = False  # no more to a row than what the compiled code reads of it

    def take_over(self, learned: Any) -> None:
        """Continue with what a model has learned from rows with names; it stays as it is."""
        self._learner = copy.deepcopy(learned)
        self._open(tuple(learned.feature_names_in_.tolist()))

    @property
    def learner_(self) -> Any:
        """The learner inside. Its ``n_features_in_`` is the number of features met so far."""
        if self._is_sparse and self._has_begun:
            self._learner.n_features_in_ = len(self.feature_names_)
        return self._learner

    @property
    def feature_names_(self) -> tuple[Any, ...]:
        """The features met so far, in the order of the learner's columns."""
        if self._is_sparse and self._has_begun:
            names: tuple[Any, ...] = self._learner._core.feature_names
            return names
        return () if self._vocabulary is None else self._vocabulary.names

    @property
    def _is_sparse(self) -> bool:
        """Whether the core takes sparse rows, and knows the names of the features itself."""
        return bool(self._learner._has_open_names)

    @property
    def _has_begun(self) -> bool:
        return bool(self._learner.__sklearn_is_fitted__())

    def _learn(self, x: Features, *target: Any) -> None:
        if self._is_sparse:
            self._learner.learn_one(x, *target)
            self._takes_rows_as_they_are = True
        elif self._vocabulary is None:
            if x:  # without any feature there is nothing to begin with
                names = in_order(x)
                self._learner.learn_one({name: x[name] for name in names}, *target)
                self._open(names)
        else:
            try:
                self._learner.learn_one(x, *target)
            except UnknownFeature:
                x = self._with_room(x)
                self._learner.learn_one(x, *target)
        if self.missing == "mean" and self._vocabulary is not None:
            self._vocabulary.observe(x if isinstance(x, dict) else dict(x))

    def _open(self, names: tuple[Any, ...]) -> Vocabulary:
        """From here on the learner is given dicts, and these are the names of its columns."""
        self._vocabulary = compiled.Vocabulary(names, self.missing == "mean")
        self._takes_rows_as_they_are = self.missing == "zero"
        self._learner._core.name_features(self._vocabulary)
        self._learner.__dict__.pop("feature_names_in_", None)  # names are in the vocabulary, which can grow
        return self._vocabulary

    def _with_room(self, x: Features) -> Features:
        """The row, with room made for what it brings; or what the learner knows of it, where there can be none."""
        values_of(x, tuple(x))  # refused before anything changes
        self._make_room(x)
        return x if self._can_grow else self._familiar(x)

    def _make_room(self, names: Iterable[Any]) -> None:
        known = self._vocabulary
        assert known is not None
        new = in_order(name for name in names if name not in known.names)
        if not new or not self._can_grow:
            return
        try:
            widen(self._learner, len(known.names) + len(new))
        except CannotWiden:
            self._can_grow = False
            return
        known.add(new)
        self._learner._core.name_features(known)

    def _familiar(self, x: Features) -> Features:
        """The row without the features that the learner does not know: they can have no part in a prediction."""
        return {name: x[name] for name in self.feature_names_ if name in x}

    def _learn_frame(self, X: Any, *targets: Any) -> None:
        names = tuple(X.columns)
        if not names or not len(X):
            return
        if self._is_sparse:
            self._learn_sparse_frame(names, self._numbers(X), *targets)
        elif self._vocabulary is None:
            ordered = in_order(names)
            self._learner.partial_fit(NamedRows(self._numbers(X[list(ordered)]), ordered), *targets)
            self._open(ordered)
        else:
            rows = self._numbers(X)  # refused before anything changes
            self._make_room(names)
            self._learner.partial_fit(self._columns(names, rows), *targets)
        self._observe_frame(X)

    def _learn_sparse_frame(self, names: tuple[Any, ...], rows: Floats, *targets: Any) -> None:
        known = self.feature_names_
        new = set(names) - set(known)
        try:
            wider = (*known, *sorted(new))  # as a single row numbers its new names
        except TypeError:  # names that cannot be compared
            wider = (*known, *(name for name in names if name in new))
        learner = self._learner
        if self._has_begun:
            learner._core.name_features(wider)
            learner.n_features_in_ = len(wider)
        learner.partial_fit(_sparse_columns(names, rows, wider), *targets)
        learner._core.name_features(wider)
        self._takes_rows_as_they_are = True

    def _rows_to_predict(self, X: Any) -> Any:
        names, rows = tuple(X.columns), self._numbers(X)
        return _sparse_columns(names, rows, self.feature_names_) if self._is_sparse else self._columns(names, rows)

    def _numbers(self, X: Any) -> Floats:
        return as_rows(X, self._learner, "X")

    def _columns(self, names: tuple[Any, ...], rows: Floats) -> Floats:
        known = self._vocabulary
        assert known is not None
        if known.names == names:
            return rows
        stand_in = known.means()[1] if self.missing == "mean" else np.zeros(len(known.names))
        columns = np.tile(stand_in, (len(rows), 1))
        for j, name in enumerate(known.names):
            if name in names:
                columns[:, j] = rows[:, names.index(name)]
        return columns

    def _observe_frame(self, X: Any) -> None:
        known = self._vocabulary
        if self.missing != "mean" or known is None:
            return
        counts, means = known.means()
        for j, name in enumerate(known.names):
            if name in X.columns:
                counts[j] += len(X)
                means[j] += (X[name].to_numpy(dtype=np.float64) - means[j]).sum() / counts[j]
        known.take_means(counts, means)

    def __str__(self) -> str:
        return type(self.model).__name__

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """A fresh one with the same parameters; with ``include_attributes`` one that has learned the same."""
        twin: Self = super().clone(new_params)
        if include_attributes:
            learned = copy.deepcopy(self.__getstate__())
            twin.__setstate__({**learned, "model": twin.model, "missing": twin.missing})
        return twin

    @property
    def _raw_memory_usage(self) -> int:
        core = self._learner.__dict__.get("_core")  # compiled: River's own count cannot look inside
        python: int = super()._raw_memory_usage
        return python + (0 if core is None else sum(a.nbytes for a in core.state().values()))

    def __getstate__(self) -> dict[str, Any]:
        known = self._vocabulary
        return {**self.__dict__, "_vocabulary": None if known is None else (known.names, *known.means())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if state["_vocabulary"] is not None:
            names, counts, means = state["_vocabulary"]
            self._open(names).take_means(counts, means)


class OpenSupervisedLearner(OpenLearner):
    """One that learns labels or numbers.

    Parameters
    ----------
    sparse : bool, optional
        Whether the learner is given the features that a row has and no others. By default it is where that makes no
        other model.
    """

    def __init__(self, model: Any, missing: str = "zero", sparse: bool | None = None) -> None:
        super().__init__(model, missing)
        self.sparse = sparse
        can = missing == "zero" and model._takes_sparse
        self._learner._has_open_names = can and (model._same_from_sparse if sparse is None else sparse)

    def learn_one(self, x: Features, y: Any) -> None:
        """Learn one row; its features may be new, and its label too."""
        if self._takes_rows_as_they_are:
            try:
                self._learner.learn_one(x, y)
            except UnknownFeature:
                self._learn(x, y)
        else:
            self._learn(x, y)

    def learn_many(self, X: Any, y: Any) -> None:
        self._learn_frame(X, y.to_numpy())


def in_order(names: Iterable[Any]) -> tuple[Any, ...]:
    """Names in an order of their own, whatever the order of a dict: numbers in them by value.

    Examples
    --------
    >>> in_order({"x10": 0, "x9": 0, 2: 0})
    (2, 'x9', 'x10')
    """
    return tuple(sorted(names, key=_place))


def _place(name: Any) -> tuple[list[Any], str]:
    parts = re.split("([0-9]+)", str(name))
    return [int(part) if i % 2 else part for i, part in enumerate(parts)], f"{name} {type(name).__name__}"


def _sparse_columns(names: tuple[Any, ...], rows: Floats, wider: tuple[Any, ...]) -> csr_array:
    """Rows of these features as sparse rows of others, in their order; what is not among them is left out."""
    places = {name: place for place, name in enumerate(wider)}
    kept = [column for column, name in enumerate(names) if name in places]
    sparse = csr_array(rows[:, kept])
    columns = np.array([places[names[column]] for column in kept], dtype=np.int64)
    return csr_array((sparse.data, columns[sparse.indices], sparse.indptr), shape=(len(rows), max(1, len(wider))))


def values_of(x: Features, names: tuple[Any, ...]) -> Floats:
    """The numbers of a row, in the order of its names; `InvalidInput` where one is none."""
    reader = compiled.RowReader(len(names))
    reader.name(compiled.Vocabulary(names, False))
    return reader.read(x)
