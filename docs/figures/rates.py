"""How much a row weighs, by its age; and a rate that follows the learner's own mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thalweg import OnlineLDC
from thalweg.rates import ErrorDriven
from thalweg.report import style
from thalweg.streams import Stagger

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

SEEN = 60
MEMORIES = {
    "hard, λ = 0.5": (0.5, "hard", style.GREY, (0, (2, 2))),
    "hard, λ = 0.9": (0.9, "hard", style.GREEN, (0, (4, 1.4, 1, 1.4))),
    "soft, λ = 0.05": (0.05, "soft", style.BLUE, "-"),
    "soft, λ = 0.2": (0.2, "soft", style.VERMILION, (0, (5, 1.6))),
}
STREAMS = 100


def shares(rate: float, counts: str) -> NDArray[np.float64]:
    """The share of each row in the class mean: row i is 1 in feature i alone, so the mean is the shares."""
    model = OnlineLDC(rate, counts=counts, warmup=0)
    return model.partial_fit(np.eye(SEEN), np.zeros(SEEN, dtype=int)).means_[0]


def draw() -> Figure:
    """Shares by age, and the mean course of the error-driven rate on STAGGER."""
    figure = style.new_figure(7.2, 3.3)
    left, right = figure.subplots(1, 2)
    for name, (rate, counts, colour, dashes) in MEMORIES.items():
        left.plot(np.arange(SEEN), shares(rate, counts)[::-1], color=colour, linestyle=dashes, label=name)
    left.set(title="What a class mean is made of", xlabel="age of a row (rows ago)", ylabel="share in the mean")
    left.set_xlim(0, SEEN - 1)
    left.set_ylim(0, 0.21)
    left.legend(loc="upper right")
    courses = []
    for seed in range(STREAMS):
        X, y = Stagger(seed=seed).take()
        model = OnlineLDC(ErrorDriven(start=0.5, window=10))
        courses.append(model.predict_then_learn(X, y, with_rate=True).rate)
    course = np.array(courses)
    right.fill_between(
        np.arange(1, course.shape[1] + 1),
        *np.quantile(course, [0.25, 0.75], axis=0),
        color=style.BLUE,
        alpha=0.2,
        linewidth=0,
        label="middle half of 100 streams",
    )
    right.plot(np.arange(1, course.shape[1] + 1), np.median(course, axis=0), color=style.BLUE, label="median")
    style.mark_changes(right, [40.5, 80.5])
    right.set(title="ErrorDriven on STAGGER", xlabel="rows seen", ylabel="rate λ")
    right.set_xlim(0, 120)
    right.set_ylim(0, 1)
    right.legend(loc="lower right", frameon=True, facecolor="white", edgecolor="none", framealpha=1.0)
    return figure
