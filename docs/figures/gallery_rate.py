"""A rate that follows the learner's own error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _gallery import tile

from thalweg import OnlineLDC
from thalweg.rates import ErrorDriven
from thalweg.report import style
from thalweg.streams import DriftingGaussians, Jumping

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ROWS = 2400


def draw() -> Figure:
    """The rate over rows whose classes jump twice."""
    jumps = {ROWS // 3: 90.0, 2 * ROWS // 3: 180.0}
    X, y = DriftingGaussians(seed=1, scenario=Jumping(jumps=jumps)).take(ROWS)
    rates = OnlineLDC(ErrorDriven(0.2, window=100), ridge=1e-3).predict_then_learn(X, y, with_rate=True).rate
    figure, (axes,) = tile()
    axes.plot(rates, color=style.PURPLE, linewidth=1.3)
    style.mark_changes(axes, list(jumps))
    axes.set(xlim=(0, ROWS), ylim=(0, 1), xticks=[], yticks=[0, 0.5, 1])
    return figure
