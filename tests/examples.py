"""How many examples hypothesis tries of a property: `@examples(60)`.

The environment variable THALWEG_EXAMPLES scales all counts: `make test` tries a few, `make fuzz` fifty times more.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

SCALE = float(os.environ.get("THALWEG_EXAMPLES", "1"))


def examples(count: int, least: int = 3, **options: Any) -> settings:
    """Settings, as a decorator, for about so many examples, and `least` of them however few are asked for."""
    return settings(max_examples=max(least, round(count * SCALE)), **options)
