"""A power law through costs: the slope of their logarithms over those of what grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.records import Record


class GrowthLaw(NamedTuple):
    """``cost = factor * size ** exponent``, as fitted from ``first`` to ``last``."""

    factor: float
    exponent: float
    first: int
    last: int

    def at(self, size: float) -> float:
        """The cost that the law gives."""
        return float(self.factor * size**self.exponent)


def law_of(records: Sequence[Record], over: str, first: int) -> GrowthLaw | None:
    """The law of one model's records from some size on, by least squares; None with fewer than three of them."""
    large = [record for record in records if record.setting[over] >= first]
    if len(large) < 3:
        return None
    sizes = [record.setting[over] for record in large]
    exponent, offset = np.polyfit(np.log(sizes), np.log([record.best for record in large]), 1)
    return GrowthLaw(float(np.exp(offset)), float(exponent), min(sizes), max(sizes))
