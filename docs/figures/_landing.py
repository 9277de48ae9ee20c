"""What the landing page's figure shows, wide or narrow: snapshots with borders, and the errors of three models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from thalweg import AutoClassifier
from thalweg.report import style
from thalweg.streams import WanderingDisc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

# The stream of `thalweg demo`. The fits are those of `thalweg run --against frozen,retrained`, but a later one sees
# the last 2,000 rows only, which suits this stream better than the last 10,000.
ROWS, FITTED, WINDOW = 20_000, 2_000, 500
MOMENTS = (2_000, 7_000, 12_000, 17_000)
EVERY = 50  # rows between points of a curve
SHOWN = 350  # points of a snapshot: the latest rows
REACH = 2.6
LOOKS = {
    "boosted trees, fitted once": (style.GREY, (0, (4, 1.6))),
    "boosted trees, refitted every 2,000 rows": (style.ORANGE, (0, (1.4, 1.1))),
    "thalweg": (style.BLUE, "-"),
}


def moments_and_errors(snapshots: Sequence[Axes], below: Axes, places: Sequence[tuple[float, float]]) -> None:
    """A snapshot for each of `MOMENTS`, with the borders in force; below, the errors, their names at ``places``."""
    X, y = WanderingDisc(seed=0, rows_per_turn=ROWS).take(ROWS)
    wrong, borders = _predictions(X, y)
    for axes, moment in zip(snapshots, MOMENTS, strict=True):
        rows = slice(moment - SHOWN, moment)
        _snapshot(axes, X[rows, :2], y[rows], borders[moment])
        axes.set_title(f"row {moment:,}", fontsize=10, fontweight="normal", loc="center")
        below.axvline(moment, color=style.GREY, linewidth=0.8, linestyle=(0, (1, 2)))
    rows = np.arange(WINDOW, ROWS + 1, EVERY)
    for (name, (colour, dashes)), (x, height) in zip(LOOKS.items(), places, strict=True):
        windowed = np.convolve(wrong[name], np.ones(WINDOW) / WINDOW, mode="valid")[::EVERY]
        drawn = (rows >= FITTED + WINDOW) | (name == "thalweg")
        below.plot(rows[drawn], windowed[drawn], color=colour, linestyle=dashes)
        below.text(x, height, name, color=colour, fontweight="bold" if name == "thalweg" else "normal", ha="right")
    below.set(xlim=(0, ROWS), ylim=(0, 0.7), xlabel="rows seen", ylabel=f"error of the last {WINDOW} rows")
    below.xaxis.set_major_formatter("{x:,.0f}")


def _predictions(X: NDArray[np.float64], y: NDArray[np.int64]) -> tuple[dict[str, NDArray[np.bool_]], dict[int, list]]:
    """Mistakes of all three, each row predicted before its label is known, and what they predict at the moments."""
    once, again, following = LOOKS
    moving = AutoClassifier()
    wrong = {name: np.zeros(len(y), dtype=bool) for name in LOOKS}
    wrong[following][:FITTED] = moving.predict_then_learn(X[:FITTED], y[:FITTED]) != y[:FITTED]
    frozen = refitted = _boosting(X[:FITTED], y[:FITTED])
    borders = {}
    for start in range(FITTED, ROWS, 1_000):
        rows = slice(start, start + 1_000)
        if start % FITTED == 0:
            refitted = _boosting(X[start - FITTED : start], y[start - FITTED : start])
        if start in MOMENTS:
            borders[start] = [_predicted_on_the_plane(model, X.shape[1]) for model in (frozen, refitted, moving)]
        for name, predicted in (
            (once, frozen.predict(X[rows])),
            (again, refitted.predict(X[rows])),
            (following, moving.predict_then_learn(X[rows], y[rows])),
        ):
            wrong[name][rows] = predicted != y[rows]
    return wrong, borders


def _boosting(X: NDArray[np.float64], y: NDArray[np.int64]) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(early_stopping=False, random_state=0).fit(X, y)


def _predicted_on_the_plane(model: Any, features: int, points: int = 90) -> NDArray[np.float64]:
    """P(1) over a grid of the first two features, the others at their mean."""
    across = np.linspace(-REACH, REACH, points)
    grid = np.zeros((points * points, features))
    grid[:, 0], grid[:, 1] = (each.ravel() for each in np.meshgrid(across, across))
    return model.predict_proba(grid)[:, 1].reshape(points, points)


def _snapshot(axes: Axes, X: NDArray[np.float64], y: NDArray[np.int64], predicted: list) -> None:
    for label, (colour, marker) in enumerate(((style.SKY, "o"), (style.VERMILION, "x"))):
        axes.plot(*X[y == label].T, marker, color=colour, markersize=2.5, markerfacecolor="none", alpha=0.7)
    across = np.linspace(-REACH, REACH, len(predicted[0]))
    for surface, (colour, dashes) in zip(predicted, LOOKS.values(), strict=True):
        width = 2.4 if dashes == "-" else 1.4
        axes.contour(across, across, surface, [0.5], colors=[colour], linestyles=[dashes], linewidths=width)
    axes.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.grid(visible=False)
