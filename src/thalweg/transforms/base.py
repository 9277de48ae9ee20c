"""The base class of stream transformers, over a compiled core that holds the state."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin

from thalweg.errors import InvalidInput
from thalweg.kernels import compiled
from thalweg.learners.base.estimator import StreamEstimator
from thalweg.learners.base.rows import Floats, Row, clearer_error, names_of, rows_for, width_for_core
from thalweg.learners.base.sparse_rows import as_matrix


class StreamTransformer(TransformerMixin, StreamEstimator, abstract=True):
    """A transformer that learns a stream row by row, in constant memory, from the first row on.

    Attributes
    ----------
    n_features_in_ : int
        The width of a row.
    feature_names_in_ : ndarray of str
        The names of the features, where the first rows had names.
    """

    #: Whether what it gives out depends on the rows it has learned.
    _learns = True
    _why_not_sparse = "what it makes of them is dense; use X.toarray()"

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Forget everything and learn these rows; `partial_fit` continues from there. ``y`` is not looked at."""
        return self._fit(X)

    def _fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        rows = rows_for(X, self, "X", anew=True)
        masses = self._masses(sample_weight, len(rows), first=True)
        core = self._make_core(width_for_core(rows))
        core.begin(rows, **masses)
        self._begin_with(core, self._remember_columns(X))
        return self

    def partial_fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn these rows in order, be it a single one. ``y`` is not looked at."""
        return self._partial_fit(X)

    def _partial_fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        rows = rows_for(X, self, "X")
        masses = self._masses(sample_weight, len(rows), first=not self.__sklearn_is_fitted__())
        self._ready(rows, X).learn(rows, **masses)
        return self

    def transform_then_learn(self, X: ArrayLike) -> Floats:
        """Each row as transformed by what was known before it, which is then learned: one compiled call."""
        return self._transform_then_learn(X)

    def _transform_then_learn(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Floats:
        rows = rows_for(X, self, "X")
        masses = self._masses(sample_weight, len(rows), first=not self.__sklearn_is_fitted__())
        made: Floats = as_matrix(through(self._ready(rows, X).run, rows, self._core.n_outputs, **masses))
        return made

    def learn_one(self, x: Row) -> Self:
        """Learn one row: an array, a sequence of numbers, or a dict of feature name to number."""
        if self.__sklearn_is_fitted__():
            try:
                self._core.learn_one(x)
            except InvalidInput as error:
                raise clearer_error(error, x, self) from None
        else:
            core = self._core_for_row(x)
            core.learn_one(x)
            self._begin_with(core, names_of(x))
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Each row as transformed by what is known now. Nothing is learned."""
        rows = self._rows_to_predict(X)
        made: Floats = as_matrix(through(self._core.transform, rows, self._core.n_outputs))
        return made

    def transform_one(self, x: Row) -> Floats:
        """One row transformed. Before the first row it is what `transform_then_learn` gives for that one."""
        core = self._core if self.__sklearn_is_fitted__() else self._core_for_row(x)
        try:
            out: Floats = core.transform_one(x)
        except InvalidInput as error:
            raise clearer_error(error, x, self) from None
        return out

    @property
    def _n_features_out(self) -> int:
        return int(self._learned_core().n_outputs)

    def _ready(self, rows: Floats, X: ArrayLike) -> Any:
        if self.__sklearn_is_fitted__():
            self._require_same_parameters()
            self._require_same_columns(X)
        else:
            self._begin_with(self._make_core(width_for_core(rows)), self._remember_columns(X))
        return self._core


def through(step: Any, rows: Any, width: int, **masses: Any) -> Any:
    """What a core's step makes of rows: an array, or `SparseRows` with the columns that came in."""
    if isinstance(rows, compiled.SparseRows):
        values = np.empty(rows.n_values)
        step(rows, values, **masses)
        return rows.with_values(values)
    out = np.empty((len(rows), width))
    step(rows, out, **masses)
    return out


class WithRowWeights(StreamTransformer, abstract=True):
    """A transformer that learns rows by their weights."""

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and learn these rows; `partial_fit` continues from there. ``y`` is not looked at.

        ``sample_weight`` is how much each row counts: 1, or None, is an ordinary row, 0 is none, and more than 1 counts
        for more: as so many copies, or by a step so many times as large (the documentation's page on weights).
        """
        return self._fit(X, sample_weight)

    def partial_fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn these rows in order; ``sample_weight`` is how many rows each counts for. ``y`` is not looked at."""
        return self._partial_fit(X, sample_weight)

    def transform_then_learn(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Floats:
        """Each row as transformed by what was known before it, which is then learned: one compiled call.

        ``sample_weight`` is how many rows each row counts for; one of weight 0 is only transformed.
        """
        return self._transform_then_learn(X, sample_weight)
