"""The borders of three linear learners after the same rows of a plane that moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _gallery import border, points, tile, without_frame

from thalweg import BalancedWinnow, OnlineLogistic, Perceptron
from thalweg.streams import MovingPlane

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw() -> Figure:
    """Perceptron, Winnow and logistic regression: the last rows and the border in force."""
    X, y = MovingPlane(seed=2, degrees_per_row=0.1).take(1500)
    low, high = X.min(axis=0), X.max(axis=0)
    figure, panels = tile(3)
    learners = {"Perceptron": Perceptron(0.2), "Winnow": BalancedWinnow(0.7), "logistic": OnlineLogistic(0.5)}
    for axes, (name, model) in zip(panels, learners.items(), strict=True):
        model.partial_fit(X, y)
        points(axes, X[-90:], y[-90:], size=2.5)
        border(axes, model, low, high)
        without_frame(axes, low, high)
        axes.set_title(name, fontsize=9, fontweight="normal", loc="center")
    return figure
