"""A disc and a bow on its edge, and the border of the kernel mean machine between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _gallery import border, points, tile, without_frame

from thalweg import KernelMeanClassifier
from thalweg.streams import DiscAndBow

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LOW, HIGH = (-5.4, -2.3), (5.4, 2.9)


def draw() -> Figure:
    """Eighty rows."""
    X, y = DiscAndBow(seed=2).take(80)
    figure, (axes,) = tile()
    points(axes, X, y, size=3)
    border(axes, KernelMeanClassifier().fit(X, y), LOW, HIGH)
    without_frame(axes, LOW, HIGH)
    return figure
