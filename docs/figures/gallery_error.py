"""Error beside the two baselines, and moments of change, as a report shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _gallery import tile

from thalweg import AutoClassifier
from thalweg.evaluate import Windowed, curve, prequential
from thalweg.report import style
from thalweg.streams import SEA

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CONCEPT = 4000


def draw() -> Figure:
    """SEA, whose threshold jumps three times."""
    stream = SEA(seed=3, rows_per_concept=CONCEPT)
    over_time = curve(prequential(AutoClassifier(), stream, rows=4 * CONCEPT), every=100, average=Windowed(600))
    figure, (axes,) = tile()
    axes.plot(over_time.rows, over_time.no_change.error, color=style.GREY, linestyle=(0, (2, 2)), linewidth=1.2)
    axes.plot(over_time.rows, over_time.majority.error, color=style.ORANGE, linestyle=(0, (1, 1.5)), linewidth=1.2)
    axes.plot(over_time.rows, over_time.model.error, color=style.BLUE)
    style.mark_changes(axes, [CONCEPT, 2 * CONCEPT, 3 * CONCEPT])
    axes.set(xlim=(600, 4 * CONCEPT), ylim=(0, 0.6), xticks=[], yticks=[0, 0.2, 0.4, 0.6])
    return figure
