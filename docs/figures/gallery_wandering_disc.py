"""A disc that wanders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _gallery import moments

from thalweg.streams import WanderingDisc

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw() -> Figure:
    """A third of a revolution from panel to panel."""
    return moments(WanderingDisc(seed=0, features=2, rows_per_turn=6), (0, 2, 4), 130, (-2.8, -2.8), (2.8, 2.8))
