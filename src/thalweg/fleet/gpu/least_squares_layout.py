"""Records of recursive least squares: as the GPU keeps them, and as the host does.

Both have the same numbers in the same order. One of the host begins with the number of targets, and keeps whole
numbers as integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from thalweg.fleet.gpu.layout import Floats, Layout, Places


@dataclass(frozen=True)
class LeastSquaresLayout(Layout):
    """Records of regressors of one target, which has the place of a class."""

    penalty: float
    forgetting: float
    intercept: bool

    step: ClassVar[str] = "LeastSquares"

    def lengths(self) -> dict[str, int]:
        """The parts of a record, in order, and the numbers of each."""
        p = self.features
        lengths = {"rows": 1, "penalty_cursor": 1, "weight": 1, "origin": p, "mean": p, "scale": p, "penalty_held": p}
        return lengths | {"target_origin": 1, "target_mean": 1, "weights": p, "U": p * (p - 1) // 2, "D": p}

    def per_class(self) -> dict[str, int]:
        """Nothing: there are no classes."""
        return {}

    def scratch(self, lanes: int) -> int:
        """Numbers that lanes keep beside a record, as least_squares_step.cuh has them."""
        return 3 * self.features + lanes

    def options(self) -> NDArray[np.void]:
        """The options of the step, as C++ lays them out."""
        kinds = [("penalty", "f8"), ("forgetting", "f8"), ("intercept", "i4"), ("turns", "i4")]
        return np.array([(self.penalty, self.forgetting, self.intercept, self._turns())], dtype=kinds)

    def _turns(self) -> int:
        """Features whose penalty is topped up after a row, as `turns_to_hold` of triangle.hpp has it."""
        if self.penalty == 0 or self.forgetting == 0:
            return 0
        return min(max(math.ceil(self.features * (1 - (1 - self.forgetting)) / 0.69), 1), self.features)

    def targets(self, given: NDArray[Any]) -> NDArray[Any]:
        """The numbers whose bits these are."""
        return np.ascontiguousarray(given).view(np.float64)

    def from_host(self, records: Floats, lengths: Places) -> Floats:
        """Records of the GPU, one in a row, of those that `FleetCore.state` gives one behind the other."""
        words = np.ascontiguousarray(records).reshape(len(lengths), -1)
        found = words[:, 1:].copy()
        found[:, :2] = words.view(np.int64)[:, 1:3]
        return found

    def to_host(self, records: Floats) -> tuple[Floats, Places]:
        """Records of the host, one behind the other, and their lengths."""
        words = np.hstack([np.empty((len(records), 1)), records])
        integers = words.view(np.int64)
        integers[:, 0] = 1
        integers[:, 1:3] = records[:, :2]
        return words.reshape(-1), np.full(len(records), words.shape[1])
