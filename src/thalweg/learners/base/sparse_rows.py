"""Sparse rows: a SciPy matrix or array as the compiled learners take it, in CSR form and never as a dense copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput, NotNumbers
from thalweg.kernels import compiled

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from thalweg.kernels._base import SparseRows

#: Cells of a sparse matrix that a model of dense rows still takes, as a dense copy.
_MOST_CELLS = 1 << 24


def is_sparse(X: Any) -> bool:
    """Whether these are rows in one of SciPy's sparse formats.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> is_sparse(csr_array([[0.0, 1.0]])), is_sparse([[0.0, 1.0]])
    (True, False)
    """
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def as_sparse_rows(X: Any, name: str) -> SparseRows:
    """Rows of finite numbers; `InvalidInput` says where they are not."""
    if X.ndim == 1:
        raise InvalidInput(
            f"{name} must be two-dimensional, got one row of {X.shape[0]}: X.reshape(1, -1) makes it one"
        )
    if X.ndim != 2 or 0 in X.shape:
        raise InvalidInput(
            f"{name} must be a two-dimensional array with at least one row and one column; found array with "
            f"{X.shape[0]} sample(s) and {X.shape[-1]} feature(s), while a minimum of 1 is required. Shape: {X.shape}"
        )
    if X.dtype.kind not in "biuf":
        raise NotNumbers(f"{name} must hold numbers, got a sparse matrix of {X.dtype}: Complex data not supported")
    try:
        rows = _rows_of(X.tocsr())
    except ValueError as error:
        raise InvalidInput(f"{name} is a damaged sparse matrix: {_damage(X) or error}") from error
    if not rows.in_order:  # the sum of all values of a column is what the matrix stands for
        tidy = X.tocsr(copy=True)
        tidy.sum_duplicates()
        rows = _rows_of(tidy)
    at, column = rows.first_bad
    if at >= 0:
        from thalweg.learners.base.rows import no_number, shown

        raise no_number(name, shown(X.tocsr()[at, column]), at, column)
    return rows


def _damage(X: Any) -> str:
    """What is wrong with the arrays of a compressed matrix; nothing where it is of another kind."""
    if getattr(X, "format", None) != "csr":
        return ""
    starts, columns, values = X.indptr, X.indices, X.data
    if len(columns) != len(values):
        return f"it has {len(columns)} column indices for {len(values)} values"
    if len(starts) != X.shape[0] + 1 or starts[0] != 0 or (np.diff(starts) < 0).any():
        return f"indptr must hold {X.shape[0] + 1} places that rise from 0"
    if starts[-1] > len(values):
        return f"indptr ends at {starts[-1]}, beyond the {len(values)} values"
    wrong = np.flatnonzero((columns < 0) | (columns >= X.shape[1]))
    return f"it has the column {columns[wrong[0]]}, and {X.shape[1]} columns" if len(wrong) else ""


def _rows_of(X: Any) -> SparseRows:
    columns = X.indices if X.indices.dtype == np.int32 else X.indices.astype(np.int64, copy=False)
    starts, values = X.indptr.astype(np.int64, copy=False), X.data.astype(np.float64, copy=False)
    return compiled.SparseRows(starts, np.ascontiguousarray(columns), np.ascontiguousarray(values), X.shape[1])


def as_matrix(rows: Any) -> Any:
    """`SparseRows` as a matrix of SciPy's, with arrays of its own; other rows as they are."""
    if not isinstance(rows, compiled.SparseRows):
        return rows
    from scipy.sparse import csr_array

    starts, columns, values = (np.array(part) for part in rows.arrays)
    return csr_array((values, columns, starts), shape=rows.shape)


def densified(X: Any, name: str) -> Any:
    """A dense copy for a model that began with dense rows, while that is small."""
    if X.shape[0] * X.shape[-1] > _MOST_CELLS:
        raise InvalidInput(
            f"{name} is sparse with {X.shape[1]:,} columns, but this model began with dense rows: give fewer rows at a "
            "time, or start a new model with sparse rows"
        )
    return X.toarray()


def from_dense(rows: Any) -> SparseRows:
    """Dense rows for a model that began with sparse ones."""
    from scipy.sparse import csr_array

    return _rows_of(csr_array(rows))


def sparse_weights(features: NDArray[np.int64], weights: NDArray[np.float64], width: int) -> csr_array:
    """Weights of the features that were seen, outputs x features, as a matrix over all features."""
    from scipy.sparse import csr_array

    order = np.argsort(features)
    starts = np.arange(len(weights) + 1) * len(features)
    columns = np.tile(features[order], len(weights))
    return csr_array((weights[:, order].ravel(), columns, starts), shape=(len(weights), width))
