"""What Karnick, Muhlbaier & Polikar (2008) do not measure: other weightings of old errors, real data, time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from thalweg.errors import DataUnavailable
from thalweg.experiments.karnick2008_real import (
    CASES,
    MEMBERS,
    NO_CHANGE,
    OLDC,
    OLDC_BY_BLOCK,
    ensemble_of,
    single_of,
    tasks_of,
)
from thalweg.experiments.karnick2008_study import BAYES, BOARD, WEIGHTINGS, Study
from thalweg.experiments.karnick2008_time import timed
from thalweg.experiments.outcome import Outcome
from thalweg.experiments.workers import run_in_processes, seeds_of_run
from thalweg.report import block_times, tables
from thalweg.report.accuracy_course import ENSEMBLE
from thalweg.report.measurement import Measurement

PAPER = "karnick2008"
LOOP = "loop over scikit-learn's members"
#: Seconds, roughly, to weigh progress by.
SECONDS = {"real": 180.0, "time": 20.0}

_WEIGHTING_NOTES = {
    "age": "the age of the error: what the paper's text says",
    "lifetime": "the age its classifier had when it made the error",
    "recursive": "the same, normalised once when the error is made and never again",
}


def weightings(study: Study) -> Outcome:
    """The three weightings on the checkerboard, the same classifiers in each run."""
    source = study.data[BOARD]
    measured: list[Measurement] = []
    lines: dict[str, list[float]] = {}
    for weighting in WEIGHTINGS:
        courses = study.courses(BOARD, BAYES, weighting)
        parts = {"accuracy": courses.ensemble.mean(axis=1)}
        parts["first half"], parts["second half"] = courses.halves
        line = [
            Measurement.of_runs(PAPER, "weightings", source.name, weighting, name, runs) for name, runs in parts.items()
        ]
        lines[weighting] = [each.value for each in line]
        measured += line
    return Outcome(
        PAPER,
        "weightings",
        f"{source.name}, {source.blocks} blocks, naive Bayes: three weightings of old errors",
        tuple(measured),
        summary=tuple(f"{name}: {meaning}." for name, meaning in _WEIGHTING_NOTES.items()),
        table=partial(tables.scores, ("accuracy", "first half", "second half"), lines),
    )


def real(workers: int, finished: Callable[[float], None], *, fast: bool = False) -> Outcome:
    """Errors on NOAA weather and ELEC2, by model and case; a data set that is not at hand is left out."""
    cases, tasks, notes = [], [], []
    for case in CASES:
        try:
            tasks_here = tasks_of(case, fast)
        except DataUnavailable as error:
            notes.append(f"Left out: {error}")
            continue
        cases.append(case)
        tasks += [(case, task) for task in tasks_here]
    errors: dict[str, dict[str, float]] = {case.header: {} for case in cases}
    results = run_in_processes([task for _, task in tasks], workers)
    for done, (number, found) in enumerate(results, start=1):
        errors[tasks[number][0].header] |= found
        finished(done / len(tasks))
    kinds = (
        [name(member) for member in MEMBERS for name in (ensemble_of, single_of)],
        [OLDC, OLDC_BY_BLOCK, NO_CHANGE],
    )
    groups = [{model: [errors[case.header][model] for case in cases] for model in kind} for kind in kinds]
    return Outcome(
        PAPER,
        "real",
        "Real data: error, every block answered before it is learned",
        tuple(
            Measurement(PAPER, "real", f"{case.name}, blocks of {case.block}", model, "error", error, None, 1)
            for case in cases
            for model, error in errors[case.header].items()
        ),
        summary=(
            "All are scored on the rows after the first block. O-LDC (bank of rates, nothing chosen) and no change "
            "have each label before the next row; 'by block' gets labels as late as the ensembles do.",
        )
        if cases
        else (),
        notes=tuple(dict.fromkeys(notes)),
        table=partial(tables.errors, [case.header for case in cases], groups) if cases else None,
    )


def timing(study: Study, seed: int, finished: Callable[[float], None]) -> Outcome:
    """Seconds a block, learned and tested on the grid, beside the loop; naive Bayes."""
    source = study.data[BOARD]
    found = timed(source.draw(seeds_of_run(seed, 0)[0]), finished)
    ours = found.seconds[found.loop_members - 1]
    shown = np.arange(len(ours))[::-3][::-1]  # the last point and some before it
    title = f"{source.name}: time of a block, naive Bayes members"
    lines = {}
    for members, here, loop in zip(found.loop_members[shown], ours[shown], found.loop_seconds[shown], strict=True):
        lines[f"{members} members"] = [f"{1e3 * here:.2f}", f"{1e3 * loop:.1f}", f"{loop / here:.0f}"]
    every = np.arange(1, source.blocks + 1)
    return Outcome(
        PAPER,
        "time",
        title,
        tuple(
            Measurement(PAPER, "time", f"{source.name}, {source.blocks} blocks", model, "seconds", seconds, None, 1)
            for model, seconds in ((ENSEMBLE, found.total), (LOOP, found.loop_total))
        ),
        summary=(
            f"{source.blocks} blocks, each learned and followed by a test on the grid: {found.total:.1f} s. "
            f"The loop would take about {found.loop_total:.0f} s; it was timed at {len(found.loop_members)} blocks.",
        ),
        table=partial(
            tables.sections,
            ("Learn++.NSE\nms", "loop\nms", "times\nas long"),
            {"A block of 100 rows, and 2,601 test rows": lines},
        ),
        draw=partial(
            block_times.draw,
            {ENSEMBLE: (every, found.seconds), LOOP: (found.loop_members, found.loop_seconds)},
            title=title,
            task="100 rows learned, 2,601 answered",
        ),
    )
