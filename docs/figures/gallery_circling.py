"""Two Gaussian classes that circle round each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _gallery import moments

from thalweg.streams import Circling, DriftingGaussians

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw() -> Figure:
    """A sixth of a turn from panel to panel."""
    return moments(
        DriftingGaussians(seed=0, scenario=Circling(radius=2.5), covariance=0.8), (0, 60, 120), 70, (-5, -5), (5, 5)
    )
