"""The figures of the paper: error over time by rate and window, drifting classes as ellipses, and how late a running
mean is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.online_ldc import OnlineLDC
from thalweg.papers.figures import IN_PLANE, SMALL, Floats, Mark, Panel, arrow, draw, plain, square_around, thousands
from thalweg.report import style
from thalweg.streams import DriftingGaussians, Gliding

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
_TICKS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


def thinned(values: NDArray[np.generic], steps: int) -> Floats:
    """Means of so many steps each, the last of what is left.

    Examples
    --------
    >>> thinned(np.array([1.0, 3.0, 5.0]), 2)
    array([2., 5.])
    """
    starts = np.arange(0, len(values), steps)
    counts = np.diff(np.append(starts, len(values)))
    return np.asarray(np.add.reduceat(values.astype(np.float64), starts) / counts)


def draw_curves(panels: Sequence[Panel], *, title: str, steps_per_point: int = 1) -> Figure:
    """The panels in rows of three on common scales, with one legend."""
    marks: tuple[Mark, ...] = (methodcaller("locator_params", axis="x", nbins=4), thousands)
    last = partial(_root_scale, top=max(panel.top for panel in panels))
    return draw(
        [
            replace(
                panel,
                settings={"xlim": (0.0, 100.0 * np.ceil(panel.curves[0].x[-1] / 100.0))},
                marks=(*marks, last) if panel is panels[-1] else marks,
            )
            for panel in panels
        ],
        (12.0, 3.1 * -(-len(panels) // COLUMNS) + 1.0),
        columns=COLUMNS,
        share="xy",
        labels=("rows learned", "error (share of test rows,\nsquare-root scale)"),
        title=f"{title}, each point a mean of {steps_per_point} steps",
        font=SMALL,
        curve=lambda _: {"linewidth": 1.2},
        changes=(style.GREY, 0.8),
        legend={"handlelength": 2.8},
    )


def _root_scale(axes: Axes, top: float) -> None:
    axes.set_yscale("function", functions=(lambda y: np.sqrt(np.maximum(y, 0.0)), np.square))
    highest = min(1.0, top * 1.06)
    axes.set_ylim(0.0, highest)
    axes.set_yticks([tick for tick in _TICKS if tick <= highest])
    plain(axes)


_LOOKS = ((style.BLUE, "o"), (style.VERMILION, "s"), (style.GREEN, "^"), (style.PURPLE, "D"))


@dataclass(frozen=True)
class Cloud:
    """A Gaussian: its name, mean and covariance, and where its mean goes next."""

    name: str
    mean: Floats
    covariance: Floats
    heading: Floats | None = None

    def ellipse(self, deviations: float) -> Floats:
        angles = np.linspace(0.0, 2.0 * np.pi, 181)
        circle = deviations * np.stack([np.cos(angles), np.sin(angles)])
        return np.asarray(self.mean[:, np.newaxis] + np.linalg.cholesky(self.covariance) @ circle)

    def marks(self, colour: str, marker: str) -> list[Mark]:
        """One and two standard deviations, the mean and an arrow."""
        ellipses = [(self.ellipse(deviations), 1.6 / deviations) for deviations in (1.0, 2.0)]
        look = {"linestyle": "none", "color": colour, "label": self.name}
        return [
            *(methodcaller("plot", *ellipse, color=colour, linewidth=width) for ellipse, width in ellipses),
            methodcaller("plot", *self.mean, marker=marker, markersize=5, **look),
            *([] if self.heading is None else [arrow(self.mean, self.heading, style.INK)]),
        ]


#: A title and the Gaussians of one time.
Moment: TypeAlias = tuple[str, Sequence[Cloud]]


def draw_contours(rows: Sequence[tuple[str, Sequence[Moment]]]) -> Figure:
    """A row of times for each name, square and on one scale within the row."""
    columns = max(len(moments) for _, moments in rows)
    side = 2.45 if columns > 1 else 4.0
    panels: list[Panel | None] = []
    for name, moments in rows:
        ellipses = [cloud.ellipse(2.2) for _, clouds in moments for cloud in clouds]
        limits = square_around(np.concatenate(ellipses, axis=1).T, 0.5)
        for place, (title, clouds) in enumerate(moments):
            marks = [mark for cloud, look in zip(clouds, _LOOKS, strict=False) for mark in cloud.marks(*look)]
            settings = {"xlim": limits[0], "ylim": limits[1], "aspect": "equal"}
            label = f"{name}\n{IN_PLANE[1]}".strip() if place == 0 else ""
            marks.insert(0, methodcaller("locator_params", nbins=5))
            panels.append(Panel(title, y_label=label, settings=settings, marks=marks))
        panels += [None] * (columns - len(moments))
    return draw(
        panels,
        (side * columns + 0.6, (side + 0.15) * len(rows) + 0.5),
        columns=columns,
        labels=(IN_PLANE[0], ""),
        font={"fontsize": 9.5, "fontweight": "normal"},
        settle=True,
    )


def draw_shifted_times(panels: Sequence[Panel]) -> Figure:
    """The panels side by side on one scale, with one legend."""
    size = 5.2 * len(panels) + 0.3, 4.6
    return draw(panels, size, share="y", labels=("time $i$ (rows)", "feature (no unit)"))


def time_panel(
    title: str, times: Floats, x: Floats, means: Floats, shifted: Floats, trend: tuple[Floats, Floats]
) -> Panel:
    """Observations of a class, after each its running mean and the time at which that is right, and expected values."""
    hollow = {"color": style.BLUE, "markersize": 7, "markerfacecolor": "white"}
    lines: list[tuple[Floats, Floats, str, str, Mapping[str, Any]]] = [
        (*trend, "o-", "expected value", {"color": "#B5B5B5", "linewidth": 1.0, "markersize": 7}),
        (times, x, "x", "observation of the class", {"color": style.INK, "markersize": 6}),
        (times, means, "o", "running mean, at the time it is known", hollow),
        (shifted, means, "D", "the same, at its shifted time", {"color": style.VERMILION, "markersize": 5}),
    ]
    marks: list[Mark] = [methodcaller("plot", at, y, form, label=name, **look) for at, y, form, name, look in lines]
    moved = zip(times, shifted, means, strict=True)
    marks += [arrow((now, y), (then, y), style.SKY, shrinkB=4) for now, then, y in moved if now != then]
    return Panel(title, settings={"xticks": trend[0]}, marks=marks)


COVARIANCE = np.array([[2.0, 0.8], [0.8, 1.0]])
SHIFT = np.array([2.4, 1.2])

#: Rows at which each situation is shown.
MOMENTS: Mapping[str, tuple[int, ...]] = {
    "Circular": (0, 45, 90, 135, 180),
    "Crossing": (0, 1000, 2000, 3000, 3999),
    "Passing": (0, 1000, 2000, 3000, 3999),
    "Sudden": (999, 1999, 2999, 3999),
}
#: Rows that an arrow looks ahead; so slow a drift shows no arrow otherwise.
AHEAD = {"Circular": 30, "Crossing": 600, "Passing": 600}

#: The paper's times, from 1, at which the class has a row.
OBSERVED = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 7.0, 10.0])
RATES = (0.5, 0.9)


def shift() -> Figure:
    """Figure 1: one class whose mean shifts and whose covariance does not."""
    here = np.zeros(2)
    clouds = [Cloud("time $t$", here, COVARIANCE, heading=SHIFT), Cloud("time $t + 1$", here + SHIFT, COVARIANCE)]
    return draw_contours([("", [("$\\mu_{t+1} = \\mu_t + \\beta_1$", clouds)])])


def shifted_times(seed: int) -> Figure:
    """Figure 2: a class on a line, its running mean, and the time at which that mean is right."""
    stream = DriftingGaussians(seed, Gliding(starts=[[0.0], [9.0]], velocities=[[1.0], [-1.0]]), covariance=0.6)
    observed = np.array([_row_of_class_0(stream, int(time) - 1) for time in OBSERVED])
    every_time = np.arange(1.0, OBSERVED[-1] + 1.0)
    trend = every_time, stream.means_at(every_time - 1.0)[:, 0, 0]
    panels = []
    for rate in RATES:
        means, shifted = _means_and_times(observed, OBSERVED, rate)
        weights = "all rows weigh the same" if rate == 0.5 else "late rows weigh more"
        panels.append(time_panel(f"λ = {rate}: {weights}", OBSERVED, observed, means, shifted, trend))
    return draw_shifted_times(panels)


def _row_of_class_0(stream: DriftingGaussians, row: int) -> float:
    X, y = stream.concept(row).draw(64)
    return float(X[y == 0][0, 0])


def _means_and_times(x: Floats, times: Floats, rate: float) -> tuple[Floats, Floats]:
    """O-LDC's running mean after each row of a class, and of the times of those rows: its shifted time."""
    model = OnlineLDC(rate=rate, warmup=0)
    after = []
    for row in zip(x, times, strict=True):
        model.learn_one(row, 0)
        after.append(model.means_[0])
    means, shifted = np.array(after).T
    return means, shifted


def situations(streams: Mapping[str, DriftingGaussians]) -> Figure:
    """Figure 3: both classes of every situation at several times."""
    rows = []
    for letter, (name, stream) in zip("abcd", streams.items(), strict=True):
        moments = [(f"row {row:,}", _clouds(stream, row, AHEAD.get(name))) for row in MOMENTS[name]]
        arrows = f"\narrows: {AHEAD[name]} rows ahead" if name in AHEAD else ""
        rows.append((f"({letter}) {name}{arrows}", moments))
    return draw_contours(rows)


def _clouds(stream: DriftingGaussians, row: int, ahead: int | None) -> list[Cloud]:
    covariance = np.asarray(stream.covariance)
    headings = [None] * len(stream.classes) if ahead is None else list(stream.means_at(row + ahead))
    return [
        Cloud(f"class {label}", mean, covariance, heading)
        for label, mean, heading in zip(stream.classes, stream.means_at(row), headings, strict=True)
    ]
