"""SEA: a threshold on the sum of two features that jumps, and labels of which some are wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _gallery import points, tile, without_frame

from thalweg.report import style
from thalweg.streams import SEA

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw() -> Figure:
    """Rows of three concepts, the threshold of each as a line; the third feature says nothing and is not drawn."""
    stream = SEA(seed=0, noise=0.05)
    figure, panels = tile(3)
    for concept, axes in enumerate(panels):
        X, y = stream.concept(concept * stream.rows_per_concept).draw(140)
        points(axes, X[:, :2], y, size=2.5)
        axes.axline((0, stream.thresholds[concept]), slope=-1, color=style.GREY, linewidth=1.2)
        without_frame(axes, (-0.4, -0.4), (10.4, 10.4))
    return figure
