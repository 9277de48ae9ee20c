"""Four quadrants that turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _gallery import moments

from thalweg.streams import TurningXOR

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw() -> Figure:
    """A twelfth of a turn from panel to panel."""
    stream = TurningXOR(seed=0, features=2, noise=0.0, rows_per_turn=12)
    return moments(stream, (0, 1, 2), 130, (-2.8, -2.8), (2.8, 2.8))
