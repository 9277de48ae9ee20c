"""ADWIN, slowly, by its definition."""

from __future__ import annotations

import math

import numpy as np


class SlowAdwin:
    """Buckets that hold the values themselves; every cut asks for both sides afresh; rows enter them in blocks."""

    def __init__(self, delta: float, block: int = 1) -> None:
        self.delta, self.block = delta, block
        self.youngest: list[float] = []
        self.seen = 0
        self.buckets: list[list[float]] = []  # oldest first

    def update(self, value: float) -> tuple[int, float, float] | None:
        self.seen += 1
        self.youngest.append(value)
        size = self.block
        if len(self.youngest) < size:
            return None
        self.buckets.append(self.youngest)
        self.youngest = []
        while len(same := [at for at, bucket in enumerate(self.buckets) if len(bucket) == size]) > 5:
            self.buckets[same[0] : same[1] + 1] = [self.buckets[same[0]] + self.buckets[same[1]]]
            size *= 2
        if self.seen % 32:
            return None
        found = self.clearest()
        while self.clearest():
            del self.buckets[0]
        return found

    def clearest(self) -> tuple[int, float, float] | None:
        window = [value for bucket in self.buckets for value in bucket]
        best, found, n0 = 1.0, None, 0
        for bucket in self.buckets[:-1]:
            n0 += len(bucket)
            older, newer = window[:n0], window[n0:]
            m = 1 / (1 / len(older) + 1 / len(newer))
            log = math.log(2 * math.log(len(window)) / self.delta)
            cut = math.sqrt(2 / m * np.var(window) * log) + 2 / (3 * m) * log
            factor = abs(np.mean(older) - np.mean(newer)) / cut
            if factor > best * (1 + 1e-9):  # of equal cuts the oldest
                best, found = factor, (len(newer), float(np.mean(older)), float(np.mean(newer)))
        return found
