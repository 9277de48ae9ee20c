"""A checkerboard that turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _gallery import moments

from thalweg.streams import RotatingCheckerboard

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw() -> Figure:
    """A twelfth of a turn from panel to panel."""
    return moments(RotatingCheckerboard(seed=0, length=361), (0, 30, 60), 130, (-0.05, -0.05), (1.05, 1.05))
