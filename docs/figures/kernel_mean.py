"""A curved border from kept rows, and one from 128 centroids that turns with the stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thalweg import KernelMeanClassifier
from thalweg.report import style
from thalweg.streams import RotatingCheckerboard

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GRID = 121
MOMENTS = (2000, 4000, 6000)


def border(axes: Axes, model: KernelMeanClassifier, low: float, high: float) -> None:
    """Where the two classes are equally likely."""
    side = np.linspace(low, high, GRID)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    scores = model.decision_function(points)
    height = scores if scores.ndim == 1 else scores[:, 1] - scores[:, 0]
    axes.contour(side, side, height.reshape(GRID, GRID), levels=[0.0], colors=style.INK, linewidths=1.6)


def draw() -> Figure:
    """A ring learned at once, and the board at three moments of the stream."""
    figure = style.new_figure(7.2, 2.5)
    ring, *boards = figure.subplots(1, 4)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (np.hypot(*X.T) > 1.2).astype(int)
    points(ring, X, y)
    border(ring, KernelMeanClassifier(progress=False).fit(X, y), -2.9, 2.9)
    ring.set(title="300 rows, all kept", xlim=(-2.9, 2.9), ylim=(-2.9, 2.9))
    stream = RotatingCheckerboard(seed=0, length=16_000)
    X, y = stream.take(MOMENTS[-1])
    model = KernelMeanClassifier(budget=128, forgetting=0.005)
    start = 0
    for axes, moment in zip(boards, MOMENTS, strict=True):
        model.partial_fit(X[start:moment], y[start:moment])
        start = moment
        grid, colours = stream.grid_at(moment, points=101)
        axes.contourf(
            *[grid[:, i].reshape(101, 101) for i in range(2)],
            colours.reshape(101, 101),
            levels=[-0.5, 0.5, 1.5],
            colors=[style.BLUE, style.VERMILION],
            alpha=0.25,
        )
        border(axes, model, 0.0, 1.0)
        axes.set(title=f"row {moment:,}", xlim=(0, 1), ylim=(0, 1))
    for axes in (ring, *boards):
        axes.set_aspect("equal")
        axes.grid(visible=False)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_visible(True)
    return figure


def points(axes: Axes, X: np.ndarray, y: np.ndarray) -> None:
    """Rows of two classes."""
    for label, marker in enumerate("xo"):
        axes.plot(*X[y == label].T, marker, color=style.PALETTE[label], markersize=3, markerfacecolor="none", alpha=0.7)
