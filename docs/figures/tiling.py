"""What random tilings learn on three boundaries that no line follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thalweg import TilingClassifier
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

ROWS, SHOWN = 4000, 400


def disc(X: NDArray[np.float64]) -> NDArray[np.int64]:
    """Inside and outside of a circle."""
    return (np.hypot(*X.T) > 1.0).astype(np.int64)


def checkerboard(X: NDArray[np.float64]) -> NDArray[np.int64]:
    """Squares of side one."""
    return (np.floor(X).sum(axis=1) % 2).astype(np.int64)


def product(X: NDArray[np.float64]) -> NDArray[np.int64]:
    """The sign of a product, turned by 30 degrees."""
    turn = np.deg2rad(30)
    a, b = X @ np.array([np.cos(turn), np.sin(turn)]), X @ np.array([-np.sin(turn), np.cos(turn)])
    return (a * b > 0).astype(np.int64)


def draw() -> Figure:
    """The regions as colours, the last rows as points, the true boundary as a line."""
    figure = style.new_figure(7.2, 2.9)
    side = np.linspace(-2, 2, 201)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    for axes, (title, concept) in zip(
        figure.subplots(1, 3, sharey=True),
        {"A disc": disc, "A checkerboard": checkerboard, "The sign of a product": product}.items(),
        strict=True,
    ):
        X = np.random.default_rng(0).uniform(-2, 2, (ROWS, 2))
        y = concept(X)
        model = TilingClassifier()
        wrong = model.predict_then_learn(X, y) != y
        found = model.predict_proba(grid)[:, 1].reshape(len(side), -1)
        axes.contourf(side, side, found, levels=[0, 0.5, 1], colors=[style.BLUE, style.ORANGE], alpha=0.25)
        axes.contour(side, side, concept(grid).reshape(len(side), -1), levels=[0.5], colors="black", linewidths=0.8)
        for label, colour, marker in ((0, style.BLUE, "o"), (1, style.ORANGE, "s")):
            points = X[-SHOWN:][y[-SHOWN:] == label]
            axes.plot(*points.T, linestyle="", marker=marker, markersize=2, color=colour)
        axes.set(title=f"{title}\nerror {wrong[-1000:].mean():.3f}", xlabel="feature 1", aspect="equal", xlim=(-2, 2))
    figure.axes[0].set(ylabel="feature 2", ylim=(-2, 2))
    return figure
