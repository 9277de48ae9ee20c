"""Rows of a drifting stream, with what may go wrong in them."""

from __future__ import annotations

from typing import Any

import numpy as np

SCHEMA = {
    "columns": [
        {"name": "level", "kind": "number", "missing": True},
        {"name": "rain", "kind": "number"},
        {"name": "wind", "kind": "category", "categories": ["north", "south"]},
        {"name": "when", "kind": "time"},
    ]
}


def stream(rows: int, seed: int = 8) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows with a category that comes late, a time and gaps; and their labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, rows)
    level = rng.normal(size=rows) + truth * np.where(np.arange(rows) < rows // 2, 2.0, -2.0)
    found = [
        {
            "level": round(float(level[i]), 3) if i % 17 else None,
            "rain": round(float(rng.normal() + truth[i]), 3) if i % 23 else None,
            "wind": str(rng.choice(["north", "south"] if i < rows // 2 else ["north", "east", "calm"])),
            "when": str(np.datetime64("2024-01-01T00") + 2 * i),
        }
        for i in range(rows)
    ]
    return found, [["low", "high", "flood"][code] for code in truth]
