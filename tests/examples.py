"""How many examples hypothesis tries of a property: `@examples(60)`.

The environment variable THALWEG_EXAMPLES scales all counts: `make test` tries a few, `make fuzz` fifty times more.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

SCALE = float(os.environ.get("THALWEG_EXAMPLES", "1"))


def examples(count: int, **options: Any) -> settings:
    """Settings, as a decorator, for about so many examples and never fewer than three."""
    return settings(max_examples=max(3, round(count * SCALE)), **options)
