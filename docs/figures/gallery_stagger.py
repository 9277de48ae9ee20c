"""STAGGER: three rules over size, colour and shape that replace one another."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from _gallery import points, tile, without_frame

from thalweg.streams import Stagger

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw() -> Figure:
    """Every one of the 27 things under each rule: sizes across, colours up, and the three shapes side by side."""
    stream = Stagger()
    things = np.array(list(product(range(3), repeat=3)))
    rows = np.eye(3)[things].reshape(27, 9)
    places = things[:, :2] + np.c_[0.24 * (things[:, 2] - 1), np.zeros(27)]
    figure, panels = tile(3)
    for concept, axes in enumerate(panels):
        points(axes, places, stream.concept(concept * stream.rows_per_concept).label(rows), size=5)
        without_frame(axes, (-0.6, -0.6), (2.6, 2.6))
        axes.set_xticks([0.5, 1.5], labels=[])
        axes.set_yticks([0.5, 1.5], labels=[])
        axes.tick_params(length=0)
        axes.grid(visible=True)
    return figure
