"""The columns of rows, read back from their features: what a service watches for drift.

The journal keeps rows as features, with missing cells and new categories beside them. What is watched comes from these,
so that a replay watches the same values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.input_drift import WIDEST, Cells
from thalweg.service.journal.compressed_rows import CompressedRows, Features
from thalweg.tables.entry_counts import entry_counts
from thalweg.tables.kinds import CategoryColumn, Column, HashedColumn, NumberColumn
from thalweg.tables.plan import Plan
from thalweg.tables.sparse_category import SparseCategoryColumn

#: The category of all that have no feature of their own.
OTHER = "any other"


def is_watched(column: Column) -> bool:
    """Numbers and categories are. A time is kept as points on circles, and its steps are not known."""
    return isinstance(column, NumberColumn | CategoryColumn | HashedColumn) or column.sparse


def watched_columns(plan: Plan) -> list[str]:
    """Their names, in the order of the table."""
    return [column.name for column in plan.columns if is_watched(column)][:WIDEST]


def watched_values(
    plan: Plan, X: Features, gaps: NDArray[np.bool_], categories: Mapping[str, Sequence[str]]
) -> list[Cells]:
    """The cells of the watched columns.

    Parameters
    ----------
    plan : Plan
        The columns.
    X : features
        The rows.
    gaps : array of bool
        Which cells of the columns of numbers are missing.
    categories : mapping
        By column, the categories that have a feature of their own, in the order of the features.

    Returns
    -------
    list
        Of numbers the number, of categories the category, of text and maps the number of entries; a row without an
        entry counts as missing. Of categories that are hashed only the number of the cell is known.
    """
    named = X.first_features(len(plan.feature_names)) if isinstance(X, CompressedRows) else X
    counts = entry_counts(plan, X) if isinstance(X, CompressedRows) else {}
    found: list[Cells] = []
    start = number = 0
    behind = len(plan.feature_names)
    for column in plan.columns:
        if isinstance(column, NumberColumn):
            found.append(np.where(gaps[:, number], np.nan, named[:, start]))
            number += 1
        elif isinstance(column, CategoryColumn):
            own = named[:, start : start + column.width]
            known = categories.get(column.name, ())
            names = [*known, *(f"category {at + 1}" for at in range(len(known), column.room)), OTHER]
            found.append((np.where(own.any(axis=1), own.argmax(axis=1), -1), names))
        elif isinstance(column, HashedColumn):
            found.append(_by_cell(named[:, start].astype(np.int64)))
        elif isinstance(column, SparseCategoryColumn):
            assert isinstance(X, CompressedRows)
            found.append(_by_cell(_sparse_cells(column, X, behind)))
        elif column.sparse:
            found.append(counts[column.name])
        if column.sparse:
            behind += column.width
        else:
            start += column.width
    return found[:WIDEST]


def _sparse_cells(column: Column, X: CompressedRows, begin: int) -> NDArray[np.int64]:
    """The one entry of each row, -1 where there is none."""
    inside = np.flatnonzero((X.indices >= begin) & (X.indices < begin + column.width))
    cells = np.full(len(X), -1, dtype=np.int64)
    cells[np.searchsorted(X.indptr, inside, side="right") - 1] = X.indices[inside] - begin
    return cells


def _by_cell(cells: NDArray[np.int64]) -> Cells:
    """Categories by the number of their cell, -1 for a missing one."""
    distinct, places = np.unique(cells, return_inverse=True)
    return np.where(cells < 0, -1, places), [f"cell {cell}" for cell in distinct.tolist()]
