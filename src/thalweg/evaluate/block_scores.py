"""Bounded scores of columns, as means of blocks of rows: what changes of a column are found by.

A number has three scores: psi, its distance from the median of a reference in robust standard deviations, cut at `CUT`;
the absolute value of psi; and whether it is missing. A category has the indicators of the most frequent categories of
the reference, of any other, and of a missing cell. Cost: O(p) a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

BLOCK, CUT = 64, 2.0
#: The smallest changes that count: of location and of spread, in robust standard deviations, and of a share.
LEAST_MEAN, LEAST_SPREAD, LEAST_SHARE = 0.25, 0.2, 0.02
#: Categories whose shares are compared, and those that have a number of their own, at the most.
FREQUENT, MOST_CATEGORIES = 8, 4096
_SLOTS = FREQUENT + 2  # any other, and missing
#: Where there is no spread, any departure is as large as can be.
_STEEPEST = 1e200
_DEVIATION_OF_IQR = 1.349


class BlockScores:
    """The scores of all columns side by side: means, spreads and gaps of numbers, then the categories.

    Parameters
    ----------
    categorical : sequence of bool
        Which columns hold the numbers of categories; NaN stands for a missing value in all.
    """

    def __init__(self, categorical: Sequence[bool]) -> None:
        is_category = np.array(categorical, dtype=np.bool_)
        self.numbers, self.categories = np.flatnonzero(~is_category), np.flatnonzero(is_category)
        count, shares = len(self.numbers), np.ones(len(self.categories) * _SLOTS)
        #: Of each score: its column, what it measures (the slot of a category), how far apart its values can lie, and
        #: the smallest change.
        self.column = np.concatenate([np.tile(self.numbers, 3), np.repeat(self.categories, _SLOTS)])
        self.what = [kind for kind in ("mean", "spread", "missing") for _ in range(count)]
        self.what += [*map(str, range(FREQUENT + 1)), "missing"] * len(self.categories)
        self.range = np.concatenate([np.repeat([2 * CUT, CUT, 1.0], count), shares])
        self.least = np.concatenate([np.repeat([LEAST_MEAN, LEAST_SPREAD, LEAST_SHARE], count), LEAST_SHARE * shares])
        #: By column, settled by a reference: median and inverse spread of numbers, slots of categories.
        self.centre, self.inverse = np.zeros(len(is_category)), np.ones(len(is_category))
        self.slots = np.full((len(is_category), MOST_CATEGORIES + 1), FREQUENT, dtype=np.int8)

    def settle(self, columns: Places, rows: Floats) -> None:
        """Take these rows for the reference of these columns."""
        for at in columns.tolist():
            present = rows[:, at][~np.isnan(rows[:, at])]
            if at in self.categories:
                counts = np.bincount(present.astype(np.int64), minlength=MOST_CATEGORIES + 1)
                frequent = np.argsort(-counts[:MOST_CATEGORIES], kind="stable")[:FREQUENT]
                frequent = frequent[counts[frequent] > 0]
                self.slots[at] = FREQUENT
                self.slots[at, frequent] = np.arange(len(frequent))
            elif len(present):
                low, self.centre[at], high = np.quantile(present, [0.25, 0.5, 0.75])
                spread = (high - low) / _DEVIATION_OF_IQR or present.max() - present.min()
                self.inverse[at] = 1.0 / max(float(spread), 1.0 / _STEEPEST)

    def of_rows(self, values: Floats, score: int) -> Floats:
        """One score of each row, from the values of its column; NaN where a number is missing."""
        column, what = self.column[score], self.what[score]
        gaps = np.isnan(values)
        if what == "missing":
            return gaps.astype(np.float64)
        if column in self.categories:
            slots = self.slots[column, np.where(gaps, 0, values).astype(np.int64)]
            return np.asarray(~gaps & (slots == int(what)), dtype=np.float64)
        with np.errstate(over="ignore"):
            psi = np.clip((values - self.centre[column]) * self.inverse[column], -CUT, CUT)
        return np.asarray(np.abs(psi) if what == "spread" else psi)

    def of_blocks(self, blocks: Floats) -> tuple[Floats, Floats]:
        """Means and mean squares of all scores by block, from (blocks, rows, columns); NaN where all is missing."""
        numbers = blocks[:, :, self.numbers] if len(self.categories) else blocks
        with np.errstate(over="ignore"):
            psi = (numbers - self.centre[self.numbers]) * self.inverse[self.numbers]
        gaps = np.isnan(psi)
        some = bool(gaps.any())
        if some:
            psi[gaps] = 0.0
        np.clip(psi, -CUT, CUT, out=psi)
        rows = blocks.shape[1]
        missing = gaps.sum(axis=1) / rows if some else np.zeros((len(blocks), len(self.numbers)))
        with np.errstate(invalid="ignore", divide="ignore"):
            present = rows - gaps.sum(axis=1) if some else float(rows)
            mean = psi.sum(axis=1) / present
            square = np.square(psi).sum(axis=1) / present
            spread = np.abs(psi, out=psi).sum(axis=1) / present
        shares = self._shares(blocks)
        return (
            np.concatenate([mean, spread, missing, shares], axis=1),
            np.concatenate([square, square, missing, shares], axis=1),
        )

    def _shares(self, blocks: Floats) -> Floats:
        count, rows = blocks.shape[:2]
        wide = len(self.categories)
        if not wide:
            return np.empty((count, 0))
        codes = blocks[:, :, self.categories]
        gaps = np.isnan(codes)
        known = np.where(gaps, 0, codes).astype(np.int64)
        slots = np.where(gaps, FREQUENT + 1, self.slots[self.categories, known])
        places = (np.arange(count)[:, None, None] * wide + np.arange(wide)) * _SLOTS + slots
        counts = np.bincount(places.ravel(), minlength=count * wide * _SLOTS)
        return np.asarray(counts.reshape(count, wide * _SLOTS) / rows)

    def state(self) -> dict[str, Any]:
        """What references settled; the numbers of the frequent categories of each column, -1 for none."""
        frequent = np.full((len(self.slots), FREQUENT), -1, dtype=np.int64)
        column, code = np.nonzero(self.slots < FREQUENT)
        frequent[column, self.slots[column, code]] = code
        return {"centre": self.centre, "inverse": self.inverse, "frequent": frequent}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.centre, self.inverse = state["centre"].copy(), state["inverse"].copy()
        column, slot = np.nonzero(state["frequent"] >= 0)
        self.slots[column, state["frequent"][column, slot]] = slot
