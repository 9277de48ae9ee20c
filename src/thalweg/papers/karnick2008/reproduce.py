"""Karnick, Muhlbaier & Polikar (2008), Incremental learning in non-stationary environments with concept drift using a
multiple classifier based approach.

The paper prints no numbers, only curves: its Figures 3 and 4 are drawn again, and what they show is measured. Beyond
the paper stand other weightings of old errors, real data, and how long a block takes.

Where we depart
---------------
1. Equation (6) is read as the text says it: the sigmoid weighs the age of an error; `LearnNSE` says the rest.
2. The network is trained by L-BFGS; the paper names the 25 units and the error goal of 0.1, and no method.
3. Features of SEA are scaled to [0, 1] for the SVM, whose kernel of width 0.5 would otherwise see each row alone.

Where comparisons stop
----------------------
"Always as good as or better than the single classifier" holds on most blocks, not on all: the table has the share.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from thalweg.papers.karnick2008 import beyond, figures
from thalweg.papers.karnick2008.data import Checkerboard
from thalweg.papers.karnick2008.figures import ENSEMBLE, SINGLE
from thalweg.papers.karnick2008.study import BOARD, DATA, FAST_DATA, LEARNERS, SEA, Study
from thalweg.papers.records import Measurement
from thalweg.papers.registry import PAPERS, Meter, Outcome, Progress
from thalweg.report import tables

PAPER = "karnick2008"
ITEMS = PAPERS[PAPER].items
#: The turns of the board that Figure 2 shows, in degrees.
TURNS = (0, 30, 60, 90, 135, 180)
#: Cells along a side of the drawn boards.
CELLS = 400

_RUNS = "runs of Learn++.NSE"
_NOTE = (
    "Accuracy on fixed test points under their right labels of the time, after each block: a grid of 51 × 51 on the "
    "checkerboard, 2,500 rows on SEA. 'Alone' is the newest classifier of the ensemble by itself."
)
_FAST_NOTE = "The short version: fewer blocks and rows, so the board turns faster and SEA's concepts are shorter."


def reproduce(
    items: Sequence[str],
    *,
    runs: int | None = None,
    seed: int = 0,
    workers: int = 1,
    progress: Progress = lambda share, label: None,
    fast: bool = False,
) -> list[Outcome]:
    """Run the experiments behind the items; see `thalweg.papers.registry.Reproduction`.

    Without ``runs``: 5 with naive Bayes, 3 with the network, 2 with the SVM; of the short version one each.
    """
    wanted = PAPERS[PAPER].wanted(items, runs)
    began = time.perf_counter()
    study = Study(wanted, FAST_DATA if fast else DATA, runs=1 if fast and runs is None else runs, seed=seed)
    work = {_RUNS: study.work, **{item: beyond.SECONDS[item] for item in wanted if item in beyond.SECONDS}}
    meter = Meter({label: seconds for label, seconds in work.items() if seconds}, progress)
    if study.work:
        study.measure(workers, meter.stage(_RUNS))
    makers: Mapping[str, Callable[[], Outcome]] = {
        "fig2": partial(_boards, study, seed),
        "fig3": partial(_curves, "fig3", 3, BOARD, study),
        "fig4": partial(_curves, "fig4", 4, SEA, study),
        "table": partial(_table, study),
        "drifts": partial(_drifts, study),
        "weightings": partial(beyond.weightings, study),
        "real": lambda: beyond.real(workers, meter.stage("real"), fast=fast),
        "time": lambda: beyond.timing(study, seed, meter.stage("time")),
    }
    outcomes = [makers[item]() for item in wanted]
    timing = f"Measured in {time.perf_counter() - began:,.0f} s."
    return [_noted(outcome, fast, timing) if outcome.findings else outcome for outcome in outcomes]


def _noted(outcome: Outcome, fast: bool, timing: str) -> Outcome:
    accuracy = () if outcome.item in beyond.SECONDS else (_NOTE,)
    return replace(outcome, notes=(*accuracy, *outcome.notes, *((_FAST_NOTE,) if fast else ())), timing=timing)


def _boards(study: Study, seed: int) -> Outcome:
    board = study.data[BOARD]
    assert isinstance(board, Checkerboard)
    stream = board.stream(seed)
    middles = (np.arange(CELLS) + 0.5) / CELLS
    cells = np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 2)
    shown = []
    for degrees in TURNS:
        block = round(degrees / 360 * (board.blocks - 1))
        colours = stream.concept(block).label(cells).reshape(CELLS, CELLS)
        shown.append(figures.Board(f"{degrees}°, block {block + 1}", colours, *board.block(seed, block)))
    return Outcome(PAPER, "fig2", "Figure 2. The rotating checkerboard", (), draw=partial(figures.draw_boards, shown))


def _curves(item: str, number: int, data: str, study: Study) -> Outcome:
    source = study.data[data]
    panels, measured = [], []
    for learner in LEARNERS:
        courses = study.courses(data, learner)
        title = f"{learner}, {courses.runs} run{'s' if courses.runs > 1 else ''}"
        panels.append(figures.Panel(title, courses.ensemble.mean(axis=0), courses.single.mean(axis=0)))
        measured += [
            Measurement.of_runs(PAPER, item, source.name, f"{name}, {learner}", "accuracy", curves.mean(axis=1))
            for name, curves in ((ENSEMBLE, courses.ensemble), (SINGLE, courses.single))
        ]
    title = f"{source.name}: accuracy after each of {source.blocks} blocks"
    return Outcome(
        PAPER,
        item,
        f"Figure {number}. {title}",
        tuple(measured),
        draw=partial(figures.draw_accuracy, panels, title=title, changes=source.changes),
    )


def _table(study: Study) -> Outcome:
    groups: dict[str, dict[str, list[str]]] = {}
    measured = []
    for data in (BOARD, SEA):
        source = study.data[data]
        lines = groups.setdefault(f"{source.name}, {source.blocks} blocks", {})
        for learner in LEARNERS:
            courses = study.courses(data, learner)
            first, second = courses.halves
            values = {
                "ensemble": courses.ensemble.mean(axis=1),
                "alone": courses.single.mean(axis=1),
                "first half": first,
                "second half": second,
                "share of blocks at least as good": courses.as_good,
            }
            line = [
                Measurement.of_runs(PAPER, "table", source.name, learner, name, runs) for name, runs in values.items()
            ]
            *accuracies, share = line
            lines[learner] = [f"{each.value:.3f}" for each in accuracies] + [f"{share.value:.0%}", str(courses.runs)]
            measured += line
    headers = ("en-\nsemble", "alone", "first\nhalf", "second\nhalf", "as good\nor better", "runs")
    rises = []
    for learner in LEARNERS:
        first, second = study.courses(BOARD, learner).halves
        rises.append(f"{np.mean(second - first):+.3f} ({learner})")
    return Outcome(
        PAPER,
        "table",
        "Mean accuracy of the ensemble and of the newest classifier alone",
        tuple(measured),
        summary=(
            f"From the first half of the checkerboard's turn to the second, which repeats it: {', '.join(rises)}.",
            "'As good or better': share of the blocks on which the ensemble is no worse than the newest alone.",
        ),
        table=partial(tables.sections, headers, groups),
    )


def _drifts(study: Study) -> Outcome:
    source = study.data[SEA]
    concept = source.changes[0]
    groups: dict[str, dict[str, list[str]]] = {}
    measured, slowest_mean, slowest_run = [], 0, 0
    for learner in LEARNERS:
        courses = study.courses(SEA, learner)
        lines = groups.setdefault(f"{learner}, {courses.runs} run{'s' if courses.runs > 1 else ''}", {})
        for number, change in enumerate(source.changes, start=1):
            drawn = courses.mean_course.recovery(change, concept)
            before, dip, blocks = float(drawn.before[0]), float(drawn.dip[0]), int(drawn.blocks[0])
            slowest = int(courses.recovery(change, concept).blocks.max())
            slowest_mean, slowest_run = max(slowest_mean, blocks), max(slowest_run, slowest)
            lines[f"block {change + 1}"] = [f"{before:.3f}", f"{dip:.3f}", str(blocks), str(slowest)]
            values = {"before": before, "dip after": dip, "blocks to recover from": blocks, "slowest run from": slowest}
            measured += [
                Measurement(PAPER, "drifts", source.name, learner, f"{name} drift {number}", value, None, courses.runs)
                for name, value in values.items()
            ]
    headers = ("before", "dip", "blocks until\nabove newest", "slowest\nrun")
    return Outcome(
        PAPER,
        "drifts",
        f"{source.name}: the mean course of the ensemble at the three sudden changes",
        tuple(measured),
        summary=(
            f"All mean courses pass the mean of the newest classifier alone within {slowest_mean} blocks, "
            f"all single runs within {slowest_run}.",
            "Dip: the least accuracy after one of the first ten blocks of the new concept.",
        ),
        table=partial(tables.sections, headers, groups),
    )
