"""The border of O-LDC follows two classes that circle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _gallery import border, points, tile, without_frame

from thalweg import OnlineLDC
from thalweg.streams import Circling, DriftingGaussians

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LOW, HIGH = (-5.5, -5.5), (5.5, 5.5)


def draw() -> Figure:
    """After 300, 700 and 1,100 rows: the last rows and the border in force."""
    X, y = DriftingGaussians(seed=5, scenario=Circling(degrees_per_row=0.15, radius=2.2), covariance=1.2).take(1100)
    model = OnlineLDC(rate=0.02, counts="soft")
    figure, panels = tile(3)
    for axes, (start, stop) in zip(panels, ((0, 300), (300, 700), (700, 1100)), strict=True):
        model.partial_fit(X[start:stop], y[start:stop])
        points(axes, X[stop - 80 : stop], y[stop - 80 : stop], size=2.5)
        border(axes, model, LOW, HIGH)
        without_frame(axes, LOW, HIGH)
    return figure
