"""Beyond the paper: other weightings of old errors, real data, and the time per block."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from thalweg.learners.learn_nse.classifier import LearnNSE
from thalweg.learners.online_ldc import OnlineLDC
from thalweg.papers.figures import Curve
from thalweg.papers.karnick2008 import figures
from thalweg.papers.karnick2008.data import Blocks
from thalweg.papers.karnick2008.figures import ENSEMBLE
from thalweg.papers.karnick2008.study import BAYES, BOARD, WEIGHTINGS, AccuracyStudy
from thalweg.papers.registry import Finding, Outcome
from thalweg.papers.study import at_hand, run_in_processes, seeds_of_run
from thalweg.report import tables
from thalweg.streams import Table, load_elec2, load_weather

Rows: TypeAlias = NDArray[np.float64]

FAST_ROWS = 3000

MEMBERS: Mapping[str, Callable[[], Any]] = {
    "naive Bayes": GaussianNB,
    "tree": DecisionTreeClassifier,
    # A full tree makes no mistake on its own block: the newest then outvotes all others.
    "tree of depth 3": partial(DecisionTreeClassifier, max_depth=3),
}
OLDC, OLDC_BY_BLOCK, NO_CHANGE = "O-LDC soft", "O-LDC soft, labels by block", "No change"


class Case(NamedTuple):
    """A data set cut into blocks; ``load`` raises `DataUnavailable` where it is missing."""

    name: str
    load: Callable[[], Table]
    block: int
    #: The name over a narrow column.
    header: str


WEATHER, ELEC2 = "NOAA weather", "ELEC2, 6 features"
CASES = (
    Case(WEATHER, load_weather, 30, "weather\nby 30"),
    Case(WEATHER, load_weather, 250, "weather\nby 250"),
    Case(ELEC2, partial(load_elec2, "six"), 48, "ELEC2\nby day"),
    Case(ELEC2, partial(load_elec2, "six"), 336, "ELEC2\nby week"),
)


def tasks_of(case: Case, fast: bool) -> list[Callable[[], dict[str, float]]]:
    """What is measured on a case: functions that give errors by model."""
    table = case.load()
    X, y = table.take(min(table.length, FAST_ROWS) if fast else None)
    members = [partial(_ensemble_errors, name, make, X, y, case.block) for name, make in MEMBERS.items()]
    return [*members, partial(_row_errors, X, y, case.block)]


def ensemble_of(member: str) -> str:
    return f"Learn++.NSE, {member}"


def single_of(member: str) -> str:
    return f"newest {member} alone"


def _by_block(X: Rows, y: NDArray[Any], block: int) -> Iterator[tuple[Rows, NDArray[Any]]]:
    return ((X[start : start + block], y[start : start + block]) for start in range(block, len(y), block))


def _ensemble_errors(member: str, make: Callable[[], Any], X: Rows, y: NDArray[Any], block: int) -> dict[str, float]:
    """Errors of the ensemble and of its newest classifier alone, each block predicted before it is learned."""
    model = LearnNSE(make(), n_jobs=1).partial_fit(X[:block], y[:block])
    wrong = np.zeros(2, dtype=np.int64)
    for rows, labels in _by_block(X, y, block):
        wrong += [np.count_nonzero(voter.predict(rows) != labels) for voter in (model, model.members_[-1])]
        model.partial_fit(rows, labels)
    names = ensemble_of(member), single_of(member)
    return dict(zip(names, (wrong / (len(y) - block)).tolist(), strict=True))


def _row_errors(X: Rows, y: NDArray[Any], block: int) -> dict[str, float]:
    """Errors of models that learn row by row; O-LDC also with labels a whole block at a time, like the ensemble."""
    predicted = OnlineLDC("auto", counts="soft").predict_then_learn(X, y)
    late = OnlineLDC("auto", counts="soft").partial_fit(X[:block], y[:block])
    mistakes = 0
    for rows, labels in _by_block(X, y, block):
        mistakes += int(np.count_nonzero(late.predict(rows) != labels))
        late.partial_fit(rows, labels)
    return {
        OLDC: float(np.mean(predicted[block:] != y[block:])),
        OLDC_BY_BLOCK: mistakes / (len(y) - block),
        NO_CHANGE: float(np.mean(y[block:] != y[block - 1 : -1])),
    }


#: The loop is timed at so many of the blocks: at each it takes up to a second.
LOOP_POINTS = 15


class Timing(NamedTuple):
    #: Ours, after each block.
    seconds: NDArray[np.float64]
    #: Members at the blocks where the loop was timed, and its seconds there.
    loop_members: NDArray[np.int64]
    loop_seconds: NDArray[np.float64]

    @property
    def total(self) -> float:
        return float(self.seconds.sum())

    @property
    def loop_total(self) -> float:
        """Seconds the loop would take for the whole run, by a straight line through its points."""
        line = np.polyfit(self.loop_members, self.loop_seconds, 1)
        return float(np.polyval(line, np.arange(1, len(self.seconds) + 1)).sum())


def timed(data: Blocks, finished: Callable[[float], None]) -> Timing:
    """Run naive Bayes members over the blocks, both ways in turn."""
    blocks = len(data.X)
    loop_at = np.unique(np.linspace(1, blocks, min(LOOP_POINTS, blocks)).round().astype(np.int64))
    model, members = LearnNSE(GaussianNB()), []
    seconds, loop_seconds = np.empty(blocks), []
    for block, (X, y) in enumerate(zip(data.X, data.y, strict=True)):
        began = time.perf_counter()
        model.partial_fit(X, y)
        model.predict(data.points)
        seconds[block] = time.perf_counter() - began
        began = time.perf_counter()
        members.append(GaussianNB().fit(X, y))
        if block + 1 in loop_at:
            for rows in (X, data.points):
                for member in members:
                    member.predict(rows)
            loop_seconds.append(time.perf_counter() - began)
            finished((block + 1) / blocks)
    return Timing(seconds, loop_at, np.array(loop_seconds))


LOOP = "loop over scikit-learn's members"

_WEIGHTING_NOTES = {
    "age": "the age of the error: what the paper's text says",
    "lifetime": "the age its classifier had when it made the error",
    "recursive": "the same, normalised once when the error is made and never again",
}


def measurement(data: str, model: str, measure: str, runs: NDArray[np.float64]) -> Finding:
    """The mean over runs of what ``measure`` names, such as "accuracy"."""
    return Finding.of_runs(data, model, runs, more={"measure": measure})


def weightings(study: AccuracyStudy) -> Outcome:
    """The three weightings on the checkerboard, the same classifiers in each run."""
    source = study.data[BOARD]
    measured: list[Finding] = []
    lines: dict[str, list[float]] = {}
    for weighting in WEIGHTINGS:
        courses = study.courses(BOARD, BAYES, weighting)
        parts = {"accuracy": courses.ensemble.mean(axis=1)}
        parts["first half"], parts["second half"] = courses.halves
        line = [measurement(source.name, weighting, name, runs) for name, runs in parts.items()]
        lines[weighting] = [finding.measured for finding in line]
        measured += line
    return Outcome(
        f"{source.name}, {source.blocks} blocks, naive Bayes: three weightings of old errors",
        tuple(measured),
        summary=tuple(f"{name}: {meaning}." for name, meaning in _WEIGHTING_NOTES.items()),
        table=partial(tables.scores, ("accuracy", "first half", "second half"), lines),
    )


def real(study: AccuracyStudy, *, fast: bool = False) -> Outcome:
    """Errors on NOAA weather and ELEC2, by model and case; a missing data set is left out."""
    finished = study.stage("real")
    there, notes = at_hand({case.header: partial(tasks_of, case, fast) for case in CASES})
    cases = [case for case in CASES if case.header in there]
    tasks = [(case, task) for case in cases for task in there[case.header]]
    errors: dict[str, dict[str, float]] = {case.header: {} for case in cases}
    results = run_in_processes([task for _, task in tasks], study.workers)
    for done, (number, of_task) in enumerate(results, start=1):
        errors[tasks[number][0].header] |= of_task
        finished(done / len(tasks))
    kinds = (
        [name(member) for member in MEMBERS for name in (ensemble_of, single_of)],
        [OLDC, OLDC_BY_BLOCK, NO_CHANGE],
    )
    groups = [{model: [errors[case.header][model] for case in cases] for model in kind} for kind in kinds]
    return Outcome(
        "Real data: error, every block predicted before it is learned",
        tuple(
            Finding(f"{case.name}, blocks of {case.block}", model, error, more={"measure": "error"})
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


def timing(study: AccuracyStudy) -> Outcome:
    """Seconds to learn a block and test on the grid, beside a loop over scikit-learn's members; naive Bayes."""
    source = study.data[BOARD]
    times = timed(source.draw(seeds_of_run(study.seed, 0)[0]), study.stage("time"))
    ours = times.seconds[times.loop_members - 1]
    shown = np.arange(len(ours))[::-3][::-1]  # the last point and some before it
    title = f"{source.name}: time of a block, naive Bayes members"
    lines = []
    for members, here, loop in zip(times.loop_members[shown], ours[shown], times.loop_seconds[shown], strict=True):
        lines.append([f" {members} members", f"{1e3 * here:.2f}", f"{1e3 * loop:.1f}", f"{loop / here:.0f}"])
    every = np.arange(1, source.blocks + 1)
    data, more = f"{source.name}, {source.blocks} blocks", {"measure": "seconds"}
    curves = Curve(ENSEMBLE, every, 1e3 * times.seconds), Curve(LOOP, times.loop_members, 1e3 * times.loop_seconds)
    headers = "", "Learn++.NSE\nms", "loop\nms", "times\nas long"
    return Outcome(
        title,
        (Finding(data, ENSEMBLE, times.total, more=more), Finding(data, LOOP, times.loop_total, more=more)),
        summary=(
            f"{source.blocks} blocks, each learned and followed by a test on the grid: {times.total:.1f} s. "
            f"The loop would take about {times.loop_total:.0f} s; it was timed at {len(times.loop_members)} blocks.",
        ),
        table=partial(tables.sections, headers, {"A block of 100 rows, and 2,601 test rows": lines}),
        draw=partial(figures.draw_block_times, curves, title=title, task="100 rows learned, 2,601 predicted"),
    )
