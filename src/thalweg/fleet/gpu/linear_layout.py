"""Records of perceptrons and logistic regressions: as the GPU keeps them, and as the host does.

One of the GPU has a weight vector for each class, biases, the order in which classes came (from 1; 0: not yet), and the
rows learned. One of the host has the same in another order, with its rate behind them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from thalweg.fleet.gpu.layout import Floats, Layout, Places, slices


@dataclass(frozen=True)
class LinearLayout(Layout):
    """Records of a weight vector for each class."""

    rate: float

    #: Whether a record of the host ends with the rows learned.
    counts_rows: ClassVar[bool]

    def lengths(self) -> dict[str, int]:
        """The parts of a record, in order, and the numbers of each."""
        return {"weights": self.classes * self.features, "bias": self.classes, "arrival": self.classes, "rows": 1}

    def per_class(self) -> dict[str, int]:
        """The parts that are class by class, and the numbers of a class."""
        return {"weights": self.features, "bias": 1, "arrival": 1}

    def scratch(self, lanes: int) -> int:
        """Numbers that lanes keep beside a record, as linear_step.cuh has them."""
        return (self.classes + 1) * lanes + 2 * self.classes + self.features

    def _host_parts(self) -> dict[str, slice]:
        c = self.classes
        lengths = {"n_classes": 1, "arrivals": 1, "arrival": c, "bias": c, "weights": c * self.features}
        lengths |= {"rate": 1, "rate_rows": 1, "rate_mistakes": 1} | ({"rows": 1} if self.counts_rows else {})
        return slices(lengths)

    def from_host(self, records: Floats, lengths: Places) -> Floats:
        """Records of the GPU, one in a row, of those that `FleetCore.state` gives one behind the other."""
        words = records.reshape(len(lengths), -1)
        integers = np.ascontiguousarray(words).view(np.int64)
        host, found = self._host_parts(), np.zeros((len(lengths), self.words))
        parts = self.parts()
        found[:, parts["weights"]], found[:, parts["bias"]] = words[:, host["weights"]], words[:, host["bias"]]
        found[:, parts["arrival"]] = integers[:, host["arrival"]] + 1
        if self.counts_rows:
            found[:, parts["rows"]] = integers[:, host["rows"]]
        return found

    def to_host(self, records: Floats) -> tuple[Floats, Places]:
        """Records of the host, one behind the other, and their lengths."""
        host, parts = self._host_parts(), self.parts()
        size = max(part.stop for part in host.values())
        words = np.zeros((len(records), size))
        integers = words.view(np.int64)
        integers[:, host["n_classes"]] = integers[:, host["arrivals"]] = self.classes
        integers[:, host["arrival"]] = records[:, parts["arrival"]].astype(np.int64) - 1
        words[:, host["bias"]], words[:, host["weights"]] = records[:, parts["bias"]], records[:, parts["weights"]]
        words[:, host["rate"]] = self.rate
        if self.counts_rows:
            integers[:, host["rows"]] = records[:, parts["rows"]].astype(np.int64)
        return words.reshape(-1), np.full(len(records), size)


@dataclass(frozen=True)
class PerceptronLayout(LinearLayout):
    """Records of perceptrons that do not average."""

    margin: float
    start_scale: float
    seed: int
    intercept: bool

    step: ClassVar[str] = "Perceptron"
    counts_rows: ClassVar[bool] = True

    def options(self) -> NDArray[np.void]:
        """The options of the step, as C++ lays them out."""
        kinds = [("rate", "f8"), ("margin", "f8"), ("start_scale", "f8"), ("seed", "u8"), ("intercept", "i8")]
        return np.array([(self.rate, self.margin, self.start_scale, self.seed, self.intercept)], dtype=kinds)


@dataclass(frozen=True)
class LogisticLayout(LinearLayout):
    """Records of logistic regressions with one rate for all features."""

    penalty: float

    step: ClassVar[str] = "Logistic"
    counts_rows: ClassVar[bool] = False

    def options(self) -> NDArray[np.void]:
        """The options of the step, as C++ lays them out."""
        return np.array([(self.rate, self.penalty)], dtype=[("rate", "f8"), ("penalty", "f8")])
