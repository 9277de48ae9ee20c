"""The first component, learned row by row: still data, and data whose axis turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _curves import legend_below

from thalweg import CCIPCA
from thalweg.evaluate import axis_distance
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, RUNS = 1000, 20
STEPS = np.unique(np.geomspace(3, ROWS, 40).astype(int))
MODELS = {
    "amnesic = 0": ({"amnesic": 0.0}, style.ORANGE, (0, (5, 1.6))),
    "amnesic = 2 (default)": ({}, style.BLUE, "-"),
    "forgetting = 0.02": ({"forgetting": 0.02}, style.GREEN, (0, (4, 1.4, 1, 1.4))),
}


def rows_of(seed: int, degrees_per_row: float) -> tuple[np.ndarray, np.ndarray]:
    """Normal rows in five features about (1, …, 1), longest along an axis that may turn; and the axes."""
    rng = np.random.default_rng(seed)
    angle = np.deg2rad(degrees_per_row * np.arange(ROWS))
    axes = np.zeros((ROWS, 5))
    axes[:, 0], axes[:, 1] = np.cos(angle), np.sin(angle)
    spread = 0.6 * rng.normal(size=(ROWS, 5))
    return 1.0 + spread + 2.0 * rng.normal(size=(ROWS, 1)) * axes, axes


def draw() -> Figure:
    """Distance between the learned and the true axis, medians of 20 runs."""
    figure = style.new_figure(7.2, 3.5)
    panels = figure.subplots(1, 2, sharey=True)
    for panel, (title, pace) in zip(panels, {"A still axis": 0.0, "It turns by 0.1° a row": 0.1}.items(), strict=True):
        courses: dict[str, list[list[float]]] = {name: [] for name in (*MODELS, "batch PCA of all rows so far")}
        for seed in range(RUNS):
            X, axes = rows_of(seed, pace)
            for name, (parameters, *_) in MODELS.items():
                model, start, course = CCIPCA(1, **parameters), 0, []
                for step in STEPS:
                    model.partial_fit(X[start:step])
                    start = step
                    course.append(axis_distance(model.components_[0], axes[step - 1]))
                courses[name].append(course)
            courses["batch PCA of all rows so far"].append(
                [axis_distance(batch(X[:step]), axes[step - 1]) for step in STEPS]
            )
        looks = {name: look for name, (_, *look) in MODELS.items()} | {
            "batch PCA of all rows so far": (style.GREY, (0, (2, 2)))
        }
        for name, (colour, dashes) in looks.items():
            panel.plot(STEPS, np.median(courses[name], axis=0), color=colour, linestyle=dashes, label=name)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xticks([3, 10, 30, 100, 300, 1000], ["3", "10", "30", "100", "300", "1,000"])
        panel.minorticks_off()
        panel.set(title=title, xlabel="rows seen", xlim=(3, ROWS))
    panels[0].set_ylabel("distance to the true axis")
    panels[0].set_yticks([0.01, 0.03, 0.1, 0.3, 1.0], ["0.01", "0.03", "0.1", "0.3", "1"])
    legend_below(figure, panels, 2)
    return figure


def batch(X: np.ndarray) -> np.ndarray:
    """The first component of all rows at once."""
    return np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][0]
