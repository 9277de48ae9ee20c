"""The curved border of the kernel mean machine on a checkerboard that turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _gallery import border, points, tile, without_frame

from thalweg import KernelMeanClassifier
from thalweg.streams import RotatingCheckerboard

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LOW, HIGH = (-0.05, -0.05), (1.05, 1.05)


def draw() -> Figure:
    """Three moments: the last rows and the border in force."""
    X, y = RotatingCheckerboard(seed=0, length=60_000).take(10_000)
    model = KernelMeanClassifier(budget=128, forgetting=0.002)
    figure, panels = tile(3)
    for axes, (start, stop) in zip(panels, ((0, 2000), (2000, 6000), (6000, 10_000)), strict=True):
        model.partial_fit(X[start:stop], y[start:stop])
        points(axes, X[stop - 130 : stop], y[stop - 130 : stop], size=2.5)
        border(axes, model, LOW, HIGH)
        without_frame(axes, LOW, HIGH)
    return figure
