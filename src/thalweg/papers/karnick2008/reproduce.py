"""Karnick, Muhlbaier & Polikar (2008), Incremental learning in non-stationary environments with concept drift using a
multiple classifier based approach.

The paper prints no numbers, only curves: its Figures 3 and 4 are drawn again, and what they show is measured. Items
beyond the paper: other weightings of old errors, real data, and the time per block.

Where we depart
---------------
1. Equation (6) is read as in the text: the sigmoid weights the age of an error; see `LearnNSE`.
2. The network is trained by L-BFGS; the paper names the 25 units and the error goal of 0.1, and no method.
3. Features of SEA are scaled to [0, 1] for the SVM: rows are otherwise far apart for a kernel of width 0.5.

Where comparisons stop
----------------------
"Always as good as or better than the single classifier" holds on most blocks, not on all: the table has the share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from thalweg.papers.figures import Curve, Panel
from thalweg.papers.karnick2008 import beyond, figures
from thalweg.papers.karnick2008.data import Checkerboard
from thalweg.papers.karnick2008.figures import ENSEMBLE, SINGLE
from thalweg.papers.karnick2008.study import BEYOND, BOARD, DATA, FAST_DATA, LEARNERS, SEA, AccuracyStudy
from thalweg.papers.registry import Finding, Outcome, outcomes_of
from thalweg.papers.study import Request
from thalweg.report import tables

#: The turns of the board that Figure 2 shows, in degrees.
TURNS = (0, 30, 60, 90, 135, 180)
#: Cells along a side of the drawn boards.
CELLS = 400

_NOTE = (
    "Accuracy on fixed test points under their right labels of the time, after each block: a grid of 51 × 51 on the "
    "checkerboard, 2,500 rows on SEA. 'Alone' is the newest classifier of the ensemble by itself."
)
_FAST_NOTE = "The short version: fewer blocks and rows, so the board turns faster and SEA's concepts are shorter."


def reproduce(request: Request) -> list[Outcome]:
    """Run the experiments behind the items.

    Without ``runs``: 5 with naive Bayes, 3 with the network, 2 with the SVM; of the short version one each.
    """
    fast = request.fast
    if fast and not request.runs:
        request = replace(request, runs=1)
    study = AccuracyStudy(FAST_DATA if fast else DATA, request)
    makers: Mapping[str, Callable[[AccuracyStudy], Outcome]] = {
        "fig2": _boards,
        "fig3": partial(_curves, 3, BOARD),
        "fig4": partial(_curves, 4, SEA),
        "table": _table,
        "drifts": _drifts,
        "weightings": beyond.weightings,
        "real": partial(beyond.real, fast=fast),
        "time": beyond.timing,
    }
    outcomes = outcomes_of(study, request.items, makers)
    return [_noted(outcome, fast, study.timing()) if outcome.findings else outcome for outcome in outcomes]


def _noted(outcome: Outcome, fast: bool, timing: str) -> Outcome:
    accuracy = () if outcome.item in BEYOND else (_NOTE,)
    return replace(outcome, notes=(*accuracy, *outcome.notes, *((_FAST_NOTE,) if fast else ())), timing=timing)


def _boards(study: AccuracyStudy) -> Outcome:
    board = study.data[BOARD]
    assert isinstance(board, Checkerboard)
    stream = board.stream(study.seed)
    middles = (np.arange(CELLS) + 0.5) / CELLS
    cells = np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 2)
    shown = []
    for degrees in TURNS:
        block = round(degrees / 360 * (board.blocks - 1))
        colours = stream.concept(block).label(cells).reshape(CELLS, CELLS)
        shown.append(figures.board(f"{degrees}°, block {block + 1}", colours, *board.block(study.seed, block)))
    return Outcome("Figure 2. The rotating checkerboard", draw=partial(figures.draw_boards, shown))


def _curves(number: int, data: str, study: AccuracyStudy) -> Outcome:
    source = study.data[data]
    blocks = np.arange(1, source.blocks + 1)
    panels, measured = [], []
    for learner in LEARNERS:
        courses = study.courses(data, learner)
        ensemble, single = courses.ensemble.mean(axis=0), courses.single.mean(axis=0)
        panels.append(
            Panel(
                f"{learner}, {courses.words}: {ensemble.mean():.3f} beside {single.mean():.3f}",
                [Curve(SINGLE, blocks, single), Curve(ENSEMBLE, blocks, ensemble)],
                changes=[change + 0.5 for change in source.changes],
            )
        )
        measured += [
            beyond.measurement(source.name, f"{name}, {learner}", "accuracy", curves.mean(axis=1))
            for name, curves in ((ENSEMBLE, courses.ensemble), (SINGLE, courses.single))
        ]
    title = f"{source.name}: accuracy after each of {source.blocks} blocks"
    return Outcome(
        f"Figure {number}. {title}", tuple(measured), draw=partial(figures.draw_accuracy, panels, title=title)
    )


def _table(study: AccuracyStudy) -> Outcome:
    groups: dict[str, list[list[str]]] = {}
    measured = []
    for data in (BOARD, SEA):
        source = study.data[data]
        lines = groups.setdefault(f"{source.name}, {source.blocks} blocks", [])
        for learner in LEARNERS:
            courses = study.courses(data, learner)
            first, second = courses.halves
            means = {"ensemble": courses.ensemble.mean(axis=1), "alone": courses.single.mean(axis=1)}
            halves = {"first half": first, "second half": second}
            values = {**means, **halves, "share of blocks at least as good": courses.as_good}
            line = [beyond.measurement(source.name, learner, name, runs) for name, runs in values.items()]
            *accuracies, share = (finding.measured for finding in line)
            numbers = [*(f"{accuracy:.3f}" for accuracy in accuracies), f"{share:.0%}", str(courses.runs)]
            lines.append([f" {learner}", *numbers])
            measured += line
    headers = ("", "en-\nsemble", "alone", "first\nhalf", "second\nhalf", "as good\nor better", "runs")
    rises = []
    for learner in LEARNERS:
        first, second = study.courses(BOARD, learner).halves
        rises.append(f"{np.mean(second - first):+.3f} ({learner})")
    return Outcome(
        "Mean accuracy of the ensemble and of the newest classifier alone",
        tuple(measured),
        summary=(
            f"From the first half of the checkerboard's turn to the second, which repeats it: {', '.join(rises)}.",
            "'As good or better': share of the blocks on which the ensemble is no worse than the newest alone.",
        ),
        table=partial(tables.sections, headers, groups),
    )


def _drifts(study: AccuracyStudy) -> Outcome:
    source = study.data[SEA]
    concept = source.changes[0]
    groups: dict[str, list[list[str]]] = {}
    measured, slowest_mean, slowest_run = [], 0, 0
    for learner in LEARNERS:
        courses = study.courses(SEA, learner)
        lines = groups.setdefault(f"{learner}, {courses.words}", [])
        for number, change in enumerate(source.changes, start=1):
            drawn = courses.mean_course.recovery(change, concept)
            before, dip, blocks = float(drawn.before[0]), float(drawn.dip[0]), int(drawn.blocks[0])
            slowest = int(courses.recovery(change, concept).blocks.max())
            slowest_mean, slowest_run = max(slowest_mean, blocks), max(slowest_run, slowest)
            lines.append([f" block {change + 1}", f"{before:.3f}", f"{dip:.3f}", str(blocks), str(slowest)])
            values = {"before": before, "dip after": dip, "blocks to recover from": blocks, "slowest run from": slowest}
            for name, value in values.items():
                more = {"measure": f"{name} drift {number}"}
                measured.append(Finding(source.name, learner, value, runs=courses.runs, more=more))
    headers = ("", "before", "dip", "blocks until\nabove newest", "slowest\nrun")
    return Outcome(
        f"{source.name}: the mean course of the ensemble at the three sudden changes",
        tuple(measured),
        summary=(
            f"All mean courses pass the mean of the newest classifier alone within {slowest_mean} blocks, "
            f"all single runs within {slowest_run}.",
            "Dip: the least accuracy after one of the first ten blocks of the new concept.",
        ),
        table=partial(tables.sections, headers, groups),
    )
