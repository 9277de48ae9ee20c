"""What a user should know of the first rows of a table, in sentences."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from thalweg.tables.cells import parsed
from thalweg.tables.kinds import NumberColumn

if TYPE_CHECKING:
    from thalweg.tables.plan import Plan
    from thalweg.tables.rows import Chunk

#: Columns that are named one by one.
_MOST_NAMED = 5


def sentinels_in_words(head: Chunk, plan: Plan, given: Collection[str]) -> list[str]:
    """Which numbers were found to stand for a missing value, beside those that were given."""
    told = []
    detected = [column for column in plan.columns if isinstance(column, NumberColumn) and set(column.na) - set(given)]
    for column in detected[:_MOST_NAMED]:
        found = [value for value in column.na if value not in given]
        as_they_are = NumberColumn(column.name, indicator=False, decimal=column.decimal)
        values, _ = parsed(as_they_are, head.column(column.name))
        numbers = [float(value.replace(",", ".")) for value in found]
        counts = [int((values == number).sum()) for number in numbers]
        counted = " and ".join(f"{value} ({count:,} times)" for value, count in zip(found, counts, strict=True))
        others = column.without_na(values)
        told.append(
            f"column {column.name!r} has {counted} in the first {len(values):,} rows, far from its other values "
            f"({np.nanmin(others):g} to {np.nanmax(others):g}): {'it counts' if len(found) == 1 else 'they count'} as "
            f"missing; --keep-sentinels keeps {'it as a number' if len(found) == 1 else 'them as numbers'}"
        )
    if further := len(detected) - len(told):
        told.append(f"{further:,} further columns have such values, which count as missing: their treatment says which")
    return told
