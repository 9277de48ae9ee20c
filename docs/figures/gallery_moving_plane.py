"""Moving plane: a straight border that turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _gallery import moments

from thalweg.streams import MovingPlane

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw() -> Figure:
    """A turn of 45 degrees from panel to panel."""
    return moments(MovingPlane(seed=0), (0, 45, 90), 70, (-1.1, -1.1), (1.1, 1.1))
