"""The compressed machine on drifting streams that are not linearly separable, beside linear learners.

Rotating checkerboard: 700 blocks of 100 rows, the board turned once about its corner. Measured are the prequential
error and, after every tenth block, the error on a 51 x 51 grid of the block's own board. Circling pairs: four
Gaussians on a circle, opposite ones of one class, turned by half a degree a row. Circling: the two Gaussians of
Schnackenberg, Ligges & Weihs, one degree a row, which a line does separate.

All streams have the same setting. The forgetting of the single machine was chosen on these streams, as a compromise
between a board for which 0.01 is best and circles for which 0.05 to 0.1 is. "3 memories" are three machines that
differ only in their forgetting, mixed by `Committee`, so that the speed of the drift need not be known. Of the two sets
of three tried on these streams it is the better one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.auto import AutoClassifier
from thalweg.learners.committee import Committee
from thalweg.learners.kernel_mean.classifier import KernelMeanClassifier
from thalweg.learners.online_ldc import OnlineLDC
from thalweg.papers.figures import Curve, Panel, draw_progression
from thalweg.papers.registry import Finding, Outcome
from thalweg.papers.study import run_each, seeds_of_run
from thalweg.report import tables
from thalweg.streams import Circling, DriftingGaussians, RotatingCheckerboard
from thalweg.streams.stream import Rows

#: More runs make means no clearer than the curves show.
MOST_RUNS = 10
BUDGET, FORGETTING, MEMORIES = 128, 0.05, (0.003, 0.02, 0.1)
#: Blocks of the checkerboard and the rows of each; the grid is asked after every so many blocks.
BLOCKS, BLOCK, ASKED_EVERY = 700, 100, 10
GRID_SIDE = 51

OURS, MEMORIES_NAME, LINEAR, AUTO = "128 centroids", "3 memories", "O-LDC", "Auto, linear"
MODELS: Mapping[str, Callable[[], Any]] = {
    OURS: lambda: KernelMeanClassifier(budget=BUDGET, forgetting=FORGETTING),
    MEMORIES_NAME: lambda: Committee([KernelMeanClassifier(budget=BUDGET, forgetting=memory) for memory in MEMORIES]),
    LINEAR: lambda: OnlineLDC("auto", counts="soft"),
    AUTO: partial(AutoClassifier, curved=False),
}


@dataclass(frozen=True)
class Case:
    """A stream: its rows by seed, how many make a point of the picture, and a test grid if it has one."""

    name: str
    rows: Callable[[int], Rows]
    block: int
    grid: Callable[[int], Rows] | None = None


def checkerboard(seed: int) -> Rows:
    """Every block from a board of its own."""
    board = RotatingCheckerboard(seed=seed, length=BLOCKS)
    return board.sampler().rows_at(np.repeat(np.arange(BLOCKS), BLOCK))


def grid(block: int) -> Rows:
    """The board of a block, without noise, over the unit square."""
    side = np.linspace(0.0, 1.0, GRID_SIDE)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    return points, RotatingCheckerboard(length=BLOCKS).label_at(np.array(block), points)


def circling_pairs(seed: int) -> Rows:
    """Four Gaussians on a circle, opposite ones of one class."""
    X, y = DriftingGaussians(seed=seed, scenario=Circling(n_classes=4, degrees_per_row=0.5), covariance=0.5).take()
    return X, y % 2


CASES = (
    Case("Rotating checkerboard", checkerboard, ASKED_EVERY * BLOCK, grid),
    Case("Circling pairs", circling_pairs, BLOCK),
    Case("Circling", lambda seed: DriftingGaussians(seed=seed, scenario="circular").take(), BLOCK),
)
GRID = "Rotating checkerboard, grid"

_NOTES = (
    "Share of wrong predictions, test-then-train; grid: of 51 x 51 points of the board in force, "
    f"after every tenth block. {OURS}: forgetting {FORGETTING}; {MEMORIES_NAME}: a committee of those "
    f"that forget at {', '.join(map(str, MEMORIES))}; O-LDC: soft counts, rates of 0.0003 to 0.3 side by side. One "
    "setting for all streams.",
)


def outcome(seed: int, runs: int, workers: int, finished: Callable[[float], None]) -> Outcome:
    """Errors of all models on all cases, as a table and over time."""
    runs = min(runs, MOST_RUNS)
    tasks = [partial(_walk, case, seed, run) for case in CASES for run in range(runs)]
    walks = dict(run_each(tasks, workers, finished))
    errors: dict[str, dict[str, NDArray[np.float64]]] = {}
    panels = []
    for place, case in enumerate(CASES):
        over_time, on_grid = zip(*(walks[place * runs + run] for run in range(runs)), strict=True)
        errors[case.name] = {name: np.array([run[name].mean() for run in over_time]) for name in MODELS}
        if case.grid is not None:
            errors[GRID] = {name: np.array([run[name] for run in on_grid]) for name in MODELS}
        panels.append(_panel(case, {name: np.mean([run[name] for run in over_time], axis=0) for name in MODELS}))
    findings = [
        Finding.of_runs(data, name, of_runs) for data, by_model in errors.items() for name, of_runs in by_model.items()
    ]
    means = {name: [float(by_model[name].mean()) for by_model in errors.values()] for name in MODELS}
    headers = [name.replace(" ", "\n") for name in errors]
    return Outcome(
        f"Streams: prequential error, mean of {runs} runs",
        tuple(findings),
        notes=_NOTES,
        table=partial(tables.errors, headers, [means]),
        draw=partial(draw_progression, panels),
    )


def _walk(case: Case, seed: int, run: int) -> tuple[dict[str, NDArray[np.float64]], dict[str, float]]:
    """Each model's error by block, and on the grid where there is one."""
    X, y = case.rows(seeds_of_run(seed, run)[0])
    by_block, on_grid = {}, {}
    for name, make in MODELS.items():
        model, wrong, missed = make(), [], []
        for start in range(0, len(y), case.block):
            rows = slice(start, start + case.block)
            wrong.append(np.mean(model.predict_then_learn(X[rows], y[rows]) != y[rows]))
            if case.grid is not None:
                points, colours = case.grid((start + case.block) // BLOCK - 1)
                missed.append(np.mean(model.predict(points) != colours))
        by_block[name] = np.array(wrong)
        on_grid[name] = float(np.mean(missed)) if missed else np.nan
    return by_block, on_grid


def _panel(case: Case, errors: Mapping[str, NDArray[np.float64]]) -> Panel:
    return Panel(
        case.name,
        [Curve(name, case.block * np.arange(1, len(curve) + 1), curve) for name, curve in errors.items()],
        "rows learned",
        f"error (share of\n{case.block:,} rows)",
    )
