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
from thalweg.tables.columns.category import CategoryColumn
from thalweg.tables.columns.column import Column
from thalweg.tables.columns.number import NumberColumn
from thalweg.tables.columns.time import TimeColumn
from thalweg.tables.columns.wide_category import HashedColumn, SparseCategoryColumn
from thalweg.tables.entry_counts import entry_counts
from thalweg.tables.plan import Plan

#: The category of all that have no feature of their own.
OTHER = "any other"


#: Seconds of the cycles of a time.
_PERIODS = {"hour": 86_400.0, "weekday": 604_800.0, "day of year": 365.2425 * 86_400.0}


def is_watched(column: Column) -> bool:
    return isinstance(column, NumberColumn | CategoryColumn | HashedColumn | TimeColumn) or column.sparse


def watched_columns(plan: Plan) -> list[str]:
    """Their names, in the order of the table."""
    return [column.name for column in plan.columns if is_watched(column)][:WIDEST]


def watched_values(
    plan: Plan, X: Features, gaps: NDArray[np.bool_], categories: Mapping[str, Sequence[str]]
) -> dict[str, Cells]:
    """The cells of the columns that can be watched, by name.

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
    dict
        Of numbers the number, of categories the category, of text and maps the number of entries; a row without an
        entry counts as missing. Of categories that are hashed only the number of the cell is known, and of times the
        seconds since their longest cycle began, a day, a week or a year.
    """
    named = X.first_features(len(plan.feature_names)) if isinstance(X, CompressedRows) else X
    counts = entry_counts(plan, X) if isinstance(X, CompressedRows) else {}
    found: dict[str, Cells] = {}
    start = number = 0
    behind = len(plan.feature_names)
    for column in plan.columns:
        if isinstance(column, NumberColumn):
            found[column.name] = np.where(gaps[:, number], np.nan, named[:, start])
            number += 1
        elif isinstance(column, CategoryColumn):
            own = named[:, start : start + column.width]
            known = categories.get(column.name, ())
            names = [*known, *(f"category {at + 1}" for at in range(len(known), column.room)), OTHER]
            found[column.name] = (np.where(own.any(axis=1), own.argmax(axis=1), -1), names)
        elif isinstance(column, HashedColumn):
            found[column.name] = _by_cell(named[:, start].astype(np.int64))
        elif isinstance(column, TimeColumn):
            found[column.name] = in_cycle(column, named[:, start : start + column.width])
        elif isinstance(column, SparseCategoryColumn):
            assert isinstance(X, CompressedRows)
            found[column.name] = _by_cell(_sparse_cells(column, X, behind))
        elif column.sparse:
            found[column.name] = counts[column.name]
        if column.sparse:
            behind += column.width
        else:
            start += column.width
    return found


def in_cycle(column: TimeColumn, waves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Seconds since the longest cycle of a time began, to the microsecond; NaN for a missing time."""
    sine, cosine = waves[:, -2], waves[:, -1]
    turn = np.arctan2(sine, cosine) / (2 * np.pi) % 1.0
    return np.where((sine == 0.0) & (cosine == 0.0), np.nan, np.round(turn * _PERIODS[column.cycles[-1]], 6))


def steps(column: TimeColumn, times: NDArray[np.float64], last: float) -> NDArray[np.float64]:
    """Seconds since the time before, of times as `watched_values` gives them; ``last`` is the one before the first.

    Steps of more than half a cycle count as steps back, and all those of a time of day as steps forward.

    Examples
    --------
    >>> week = 604_800.0
    >>> steps(TimeColumn("when", hours=True), np.array([week - 5.0, np.nan, 5.0, 3.0]), week - 65.0).tolist()
    [60.0, nan, 10.0, -2.0]
    """
    known = ~np.isnan(times)
    found = np.full(len(times), np.nan)
    if known.any():
        period = _PERIODS[column.cycles[-1]]
        behind = 0.0 if column.form == "hour:minute" else period / 2
        moved = (np.diff(times[known], prepend=last) + behind) % period - behind
        found[known] = np.round(moved, 6) if column.hours else 86_400.0 * np.round(moved / 86_400.0)
    return found


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
