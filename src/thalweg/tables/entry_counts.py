"""How many entries each row has in a sparse column: the length of a text or of a map."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.tables.plan import Plan


def entry_counts(plan: Plan, X: Any) -> dict[str, NDArray[np.float64]]:
    """By sparse column, the entries of each row; NaN for a row without any, which counts as missing.

    ``X`` holds compressed rows, as a `scipy.sparse.csr_array` does: ``indptr`` and ``indices``.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from thalweg.tables.columns.map import MapColumn
    >>> plan = Plan((MapColumn("words", keys="name", hash_bits=3),), {}, ("words",), marks_gaps=False)
    >>> entry_counts(plan, csr_array([[0, 1, 0, 2, 0, 0, 0, 0], [0] * 8]))["words"]
    array([ 2., nan])
    """
    found: dict[str, NDArray[np.float64]] = {}
    begin = len(plan.feature_names)
    for column in plan.sparse_columns:
        counts = np.diff(X.indptr).astype(np.float64)
        if begin or column.width < plan.width:  # other features than those of this column
            inside = (X.indices >= begin) & (X.indices < begin + column.width)
            counts = np.diff(np.append(0, np.cumsum(inside))[X.indptr]).astype(np.float64)
        found[column.name] = np.where(counts > 0.0, counts, np.nan)
        begin += column.width
    return found
