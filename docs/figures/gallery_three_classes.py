"""Three Gaussian classes on a circle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _gallery import moments

from thalweg.streams import Circling, DriftingGaussians

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw() -> Figure:
    """A ninth of a turn from panel to panel."""
    return moments(
        DriftingGaussians(seed=0, scenario=Circling(radius=2.8, n_classes=3), covariance=0.6),
        (0, 40, 80),
        80,
        (-5, -5),
        (5, 5),
    )
