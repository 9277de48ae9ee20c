"""Small clouds that move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _gallery import moments

from thalweg.streams import RandomRBFDrift

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw() -> Figure:
    """A quarter of the square's side from panel to panel."""
    stream = RandomRBFDrift(seed=0, features=2, n_classes=3, centroids=9, scale=0.12)
    return moments(stream, (0, 250, 500), 130, (-0.2, -0.2), (1.2, 1.2))
