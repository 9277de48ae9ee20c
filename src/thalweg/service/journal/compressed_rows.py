"""Rows of sparse features as the journal holds them: where each row begins, the indices of its entries, the values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.kernels import compiled

Floats = NDArray[np.float64]
Indices = NDArray[np.int32] | NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CompressedRows:
    """The three arrays of a CSR matrix, cut into rows without SciPy, which takes longer than to predict a row.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = CompressedRows.of(csr_array([[0.0, 1.5], [2.0, 0.0], [0.0, 0.0]]))
    >>> len(rows), rows[1:].matrix().toarray().tolist()
    (3, [[2.0, 0.0], [0.0, 0.0]])
    """

    indptr: Indices
    indices: Indices
    values: Floats
    width: int

    @classmethod
    def of(cls, X: Any) -> CompressedRows:
        """Rows of a `scipy.sparse.csr_array`."""
        kind = _index_type(X.shape[1])
        return cls(X.indptr.astype(kind, copy=False), X.indices.astype(kind, copy=False), X.data, X.shape[1])

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, rows: slice) -> CompressedRows:
        start, stop, _ = rows.indices(len(self))
        begin, end = int(self.indptr[start]), int(self.indptr[stop])
        indptr = self.indptr[start : stop + 1] - self.indptr[start]
        return CompressedRows(indptr, self.indices[begin:end], self.values[begin:end], self.width)

    @property
    def nbytes(self) -> int:
        return self.indptr.nbytes + self.indices.nbytes + self.values.nbytes

    def matrix(self) -> Any:
        """A `scipy.sparse.csr_array`, which learners take."""
        from scipy.sparse import csr_array

        arrays: Any = self.values, self.indices, self.indptr
        return csr_array(arrays, shape=(len(self), self.width))

    def first_features(self, count: int) -> Floats:
        """The first features of each row as an array."""
        features = np.zeros((len(self), count))
        if count:
            entries = np.flatnonzero(self.indices < count)
            rows = np.searchsorted(self.indptr, entries, side="right") - 1
            features[rows, self.indices[entries]] = self.values[entries]
        return features

    def without_values(self, rows: Sequence[int]) -> CompressedRows:
        """The same rows, some of them empty."""
        lengths = np.diff(self.indptr)
        stay = np.ones(len(self), dtype=np.bool_)
        stay[list(rows)] = False
        entries = np.repeat(stay, lengths)
        indptr = np.append(0, np.cumsum(lengths * stay)).astype(_index_type(self.width))
        return CompressedRows(indptr, self.indices[entries], self.values[entries], self.width)

    @classmethod
    def checked(cls, indptr: Indices, indices: Indices, values: Floats, width: int) -> CompressedRows:
        """From a file; a `ValueError` where these are no rows of this width."""
        rows = compiled.SparseRows(indptr.astype(np.int64, copy=False), indices, values, width)
        if indptr[-1] != len(values) or not rows.in_order or rows.first_bad != (-1, -1):
            raise ValueError("its sparse rows do not fit their entries")
        return cls(indptr, indices, values, width)


#: Rows as the journal holds them.
Features: TypeAlias = Floats | CompressedRows


def stacked(parts: Sequence[Features]) -> Features:
    """Rows of several records, all dense or all sparse, one below the other."""
    compressed = [part for part in parts if isinstance(part, CompressedRows)]
    if not compressed:
        return np.concatenate([part for part in parts if isinstance(part, np.ndarray)])
    first = compressed[0]
    if len(compressed) < len(parts) or any(part.width != first.width for part in compressed):
        raise ValueError("the rows of a model must be all dense or all sparse, and of one width")
    lengths = np.concatenate([part.indptr[1:] - part.indptr[:-1] for part in compressed])
    return CompressedRows(
        np.append(0, np.cumsum(lengths)).astype(_index_type(first.width)),
        np.concatenate([part.indices for part in compressed]),
        np.concatenate([part.values for part in compressed]),
        first.width,
    )


def as_learned(X: Features) -> Any:
    """Rows as learners take them: an array, or a `scipy.sparse.csr_array`."""
    return X.matrix() if isinstance(X, CompressedRows) else X


def _index_type(width: int) -> Any:
    return np.int32 if width <= np.iinfo(np.int32).max else np.int64
