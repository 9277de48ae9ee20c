"""Predictions that look at no column: the last target that has come, the mean of all, the target one season ago."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class NumberBaselines:
    """The baselines of regression, for one target or several; they get a target when the model does.

    With ``season`` there is also the target so many rows ago. Where that has not come yet, the last one known at a
    multiple of as many rows ago, and the last value where there is none; of one target only.

    Examples
    --------
    >>> baselines = NumberBaselines(season=2)
    >>> order = np.array([0, ~0, 1, ~1, 2, ~2])
    >>> found = baselines.follow(order, np.array([5.0, 7.0, 9.0]), np.array([1, 2, 3]))
    >>> {name: values.tolist() for name, values in found.items()}
    {'last_value': [nan, 5.0, 7.0], 'running_mean': [nan, 5.0, 6.0], 'season': [nan, 5.0, 5.0]}
    """

    def __init__(self, season: int | None = None) -> None:
        self.names = ("last_value", "running_mean", *(("season",) if season else ()))
        self._total: Any = 0.0
        self._last: Any = np.nan
        self._count = 0
        #: By row number modulo the season: the last target, and the number of its row.
        self._season, self._held = np.full(season or 0, np.nan), np.zeros(season or 0, dtype=np.int64)

    def follow(self, order: Places, targets: Floats, number: Places) -> dict[str, Floats]:
        """What is predicted for each row, NaN before any target, in the order in which the model takes them."""
        asked = order >= 0
        learned = targets[~order[~asked]]
        before = np.cumsum(~asked)[asked]
        one = targets.shape[1:]
        totals = np.cumsum(np.concatenate([np.broadcast_to(self._total, (1, *one)), learned]), axis=0)
        lasts = np.concatenate([np.broadcast_to(self._last, (1, *one)), learned])
        counts = (self._count + before).reshape(-1, *[1] * len(one))
        found = {name: np.full(targets.shape, np.nan) for name in self.names}
        found["last_value"][order[asked]] = lasts[before]
        found["running_mean"][order[asked]] = np.where(counts > 0, totals[before] / np.maximum(counts, 1), np.nan)
        if "season" in found:
            season = self._seasonal(order, targets, number)
            found["season"] = np.where(np.isnan(season), found["last_value"], season)
        self._total, self._count, self._last = totals[-1], self._count + len(learned), lasts[-1]
        return found

    def _seasonal(self, order: Places, targets: Floats, number: Places) -> Floats:
        found = np.full(len(targets), np.nan)
        slots = (number % len(self._season)).tolist()
        for step in order.tolist():
            row = step if step >= 0 else ~step
            slot = slots[row]
            if step >= 0:
                found[row] = self._season[slot]
            elif number[row] > self._held[slot]:
                self._season[slot], self._held[slot] = targets[row], number[row]
        return found

    def state(self) -> list[Any]:
        return [float(self._total), self._count, None if np.isnan(self._last) else float(self._last)]

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"season": self._season, "season rows": self._held}

    def restore(self, state: list[Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._total, self._count = float(state[0]), int(state[1])
        self._last = np.nan if state[2] is None else float(state[2])
        self._season, self._held = arrays["season"].copy(), arrays["season rows"].copy()
