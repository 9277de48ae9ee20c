"""Rows of a stream that drifts, with their labels, as a service is told them."""

from __future__ import annotations

import numpy as np

FEATURES = 10


def drifting_rows(count: int, seed: int) -> list[tuple[dict[str, float], str]]:
    """Rows whose border turns from seed to seed."""
    numbers = np.random.default_rng(seed).normal(size=(count, FEATURES)).round(4)
    up = numbers[:, 0] * np.cos(seed / 1e5) + numbers[:, 1] * np.sin(seed / 1e5) > 0
    names = [f"x{i}" for i in range(FEATURES)]
    return [
        (dict(zip(names, row, strict=True)), "up" if is_up else "down")
        for row, is_up in zip(numbers.tolist(), up.tolist(), strict=True)
    ]
