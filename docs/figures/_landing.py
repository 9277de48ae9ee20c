"""What the landing page's figure shows, wide or narrow: snapshots with borders, and the errors of three models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from thalweg import OnlineLDC
from thalweg.report import style
from thalweg.streams import Circling, DriftingGaussians

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

ROWS, FIRST, WINDOW = 4000, 400, 250
MOMENTS = (400, 1300, 2300, 3500)
SHOWN = 110  # points of a snapshot: the latest rows
REACH = 6.2
LOOKS = {
    "fitted once, to the first 400 rows": (style.GREY, (0, (4, 1.6))),
    "refitted, to all rows so far": (style.ORANGE, (0, (1.4, 1.1))),
    "thalweg: follows the stream": (style.BLUE, "-"),
}


def moments_and_errors(snapshots: Sequence[Axes], below: Axes, places: Sequence[tuple[float, float]]) -> None:
    """A snapshot for each of `MOMENTS`, with the borders in force; below, the errors, their names at ``places``."""
    X, y = DriftingGaussians(seed=4, scenario=Circling(degrees_per_row=0.05), covariance=1.6).take(ROWS)
    wrong, borders = _answers(X, y)
    for axes, moment in zip(snapshots, MOMENTS, strict=True):
        _snapshot(axes, X[moment - SHOWN : moment], y[moment - SHOWN : moment], borders[moment])
        axes.set_title(f"row {moment:,}", fontsize=10, fontweight="normal", loc="center")
        below.axvline(moment, color=style.GREY, linewidth=0.8, linestyle=(0, (1, 2)))
    rows = np.arange(WINDOW, ROWS + 1)
    for (name, (colour, dashes)), (x, height) in zip(LOOKS.items(), places, strict=True):
        windowed = np.convolve(wrong[name], np.ones(WINDOW) / WINDOW, mode="valid")
        below.plot(rows[rows >= FIRST + WINDOW], windowed[rows >= FIRST + WINDOW], color=colour, linestyle=dashes)
        below.text(x, height, name, color=colour, fontweight="bold" if "thalweg" in name else "normal", ha="right")
    below.set(xlim=(0, ROWS), ylim=(0, 1), xlabel="rows seen", ylabel=f"error of the last {WINDOW} rows")
    below.xaxis.set_major_formatter("{x:,.0f}")


def _answers(X: NDArray[np.float64], y: NDArray[np.int64]) -> tuple[dict[str, NDArray[np.bool_]], dict[int, list]]:
    """Every row answered by all three before its label is known, and the borders at the moments drawn."""
    once, again, following = LOOKS
    moving = OnlineLDC(rate=0.01, counts="soft").fit(X[:FIRST], y[:FIRST])
    frozen = LinearDiscriminantAnalysis().fit(X[:FIRST], y[:FIRST])
    wrong = {name: np.zeros(len(y), dtype=bool) for name in LOOKS}
    borders = {}
    for start in range(FIRST, ROWS, 50):
        rows = slice(start, start + 50)
        refitted = LinearDiscriminantAnalysis().fit(X[:start], y[:start])
        if start in MOMENTS:
            means, precision = moving.means_.copy(), moving.precision_.copy()
            borders[start] = [_line(each.coef_[0], each.intercept_[0]) for each in (frozen, refitted)]
            normal = precision @ (means[1] - means[0])
            offset = np.log(moving.priors_[1] / moving.priors_[0]) - normal @ (means[0] + means[1]) / 2
            borders[start].append(_line(normal, offset))
        for name, answers in (
            (once, frozen.predict(X[rows])),
            (again, refitted.predict(X[rows])),
            (following, moving.predict_then_learn(X[rows], y[rows])),
        ):
            wrong[name][rows] = answers != y[rows]
    return wrong, borders


def _line(normal: NDArray[np.float64], offset: float) -> NDArray[np.float64]:
    """Two points far out on the line where normal · x + offset is zero."""
    foot = -offset * normal / (normal @ normal)
    along = np.array([-normal[1], normal[0]]) / np.hypot(*normal)
    return np.array([foot - 20 * along, foot + 20 * along])


def _snapshot(axes: Axes, X: NDArray[np.float64], y: NDArray[np.int64], lines: list) -> None:
    for label, (colour, marker) in enumerate(((style.SKY, "o"), (style.VERMILION, "x"))):
        axes.plot(*X[y == label].T, marker, color=colour, markersize=3, markerfacecolor="none", alpha=0.8)
    for line, (colour, dashes) in zip(lines, LOOKS.values(), strict=True):
        axes.plot(*line.T, color=colour, linestyle=dashes, linewidth=2.4 if dashes == "-" else 1.6)
    axes.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.grid(visible=False)
