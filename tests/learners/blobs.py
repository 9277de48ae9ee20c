"""Rows of overlapping classes, two of each class at the least."""

from __future__ import annotations

import numpy as np


def blobs(rows=60, features=3, classes=2, seed=0, spread=1.5):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    y[: 2 * classes] = np.repeat(np.arange(classes), 2)
    return rng.normal(size=(rows, features)) + spread * y[:, None] / classes, y
