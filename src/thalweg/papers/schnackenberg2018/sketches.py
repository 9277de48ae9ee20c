"""Figures 1 to 3 of Schnackenberg, Ligges & Weihs (2018): drifting classes, and the lag of a running mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.online_ldc import OnlineLDC
from thalweg.papers.schnackenberg2018 import figures
from thalweg.streams import DriftingGaussians, Gliding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    clouds = [
        figures.Cloud("time $t$", here, COVARIANCE, heading=SHIFT),
        figures.Cloud("time $t + 1$", here + SHIFT, COVARIANCE),
    ]
    return figures.draw_contours([("", [figures.Moment("$\\mu_{t+1} = \\mu_t + \\beta_1$", clouds)])])


def shifted_times(seed: int) -> Figure:
    """Figure 2: a class on a line, its running mean, and the time at which that mean is right."""
    stream = DriftingGaussians(seed, Gliding(starts=[[0.0], [9.0]], velocities=[[1.0], [-1.0]]), covariance=0.6)
    observed = np.array([_row_of_class_0(stream, int(time) - 1) for time in OBSERVED])
    every_time = np.arange(1.0, OBSERVED[-1] + 1.0)
    panels = []
    for rate in RATES:
        means, shifted = _means_and_times(observed, OBSERVED, rate)
        panels.append(
            figures.TimePanel(
                f"λ = {rate}" + (": all rows weigh the same" if rate == 0.5 else ": late rows weigh more"),
                OBSERVED,
                observed,
                means,
                shifted,
                every_time,
                stream.means_at(every_time - 1.0)[:, 0, 0],
            )
        )
    return figures.draw_shifted_times(panels)


def _row_of_class_0(stream: DriftingGaussians, row: int) -> float:
    X, y = stream.concept(row).draw(64)
    return float(X[y == 0][0, 0])


def _means_and_times(
    x: NDArray[np.float64], times: NDArray[np.float64], rate: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
        moments = [figures.Moment(f"row {row:,}", _clouds(stream, row, AHEAD.get(name))) for row in MOMENTS[name]]
        arrows = f"\narrows: {AHEAD[name]} rows ahead" if name in AHEAD else ""
        rows.append((f"({letter}) {name}{arrows}", moments))
    return figures.draw_contours(rows)


def _clouds(stream: DriftingGaussians, row: int, ahead: int | None) -> list[figures.Cloud]:
    covariance = np.asarray(stream.covariance)
    headings = [None] * len(stream.classes) if ahead is None else list(stream.means_at(row + ahead))
    return [
        figures.Cloud(f"class {label}", mean, covariance, heading)
        for label, mean, heading in zip(stream.classes, stream.means_at(row), headings, strict=True)
    ]
