"""Blocks for tests of learners that work block by block."""

from __future__ import annotations

import numpy as np


def blocks_of(seed, count, rows=14, classes=3, features=2):
    """Blocks of a drifting, noisy problem; now and then a class is missing."""
    rng = np.random.default_rng(seed)
    for t in range(count):
        y = rng.integers(0, classes - (t % 3 == 1), rows)
        centre = np.column_stack([np.cos(0.2 * t + 2 * y), np.sin(0.2 * t + 2 * y)] + [y * 0.1] * (features - 2))
        yield centre + rng.normal(size=(rows, features)), y
