"""Sparse rows: a SciPy matrix or array as the compiled learners take it, in CSR form and never as a dense copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
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


def compressed(X: Any) -> SparseRows:
    """A matrix in CSR form as kernels take it, without a copy where the types allow."""
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

    return compressed(csr_array(rows))


def sparse_weights(features: NDArray[np.int64], weights: NDArray[np.float64], width: int) -> csr_array:
    """Weights of the features that were seen, outputs x features, as a matrix over all features."""
    from scipy.sparse import csr_array

    order = np.argsort(features)
    starts = np.arange(len(weights) + 1) * len(features)
    columns = np.tile(features[order], len(weights))
    return csr_array((weights[:, order].ravel(), columns, starts), shape=(len(weights), width))
