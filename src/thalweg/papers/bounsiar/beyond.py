"""What the paper claims, and what it leaves for later: how time grows with the rows, and fewer rows kept.

The claim is time: training is immediate, where a support vector machine takes O(n²). The time to fit and to predict is
measured on twonorm, beside SVC, up to 100,000 rows. Each machine has the parameters that were best on 2,000 fresh rows
after 1,000 training rows. One that would take longer than a minute to fit, judged by its last size and n², stops there.

The future work is compression: few weighted centroids of each class in place of all rows, on five sets of Table 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import DataUnavailable
from thalweg.learners.kernel_mean.classifier import KernelMeanClassifier
from thalweg.papers.bounsiar import figures
from thalweg.papers.bounsiar.printed import duration, per_cent, readable, split_error
from thalweg.papers.bounsiar.study import GRID, Densities, Parameters, Timing, error_on, of_tuning_splits, timed, tune
from thalweg.papers.figures import Curve, Panel
from thalweg.papers.registry import Finding, Outcome
from thalweg.papers.study import at_hand, run_all
from thalweg.report import tables
from thalweg.streams import BenchmarkSet, Split, TwoNorm, load_benchmark

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (300, 1000, 3000, 10_000, 30_000, 100_000)
TUNED_AT, TEST = 1000, 2000
BUDGET = 128
#: Processor seconds beyond which a machine is not fitted to more rows.
PATIENCE = 60.0

OURS, TUNING, COMPRESSED, PEER = "kernel mean", "kernel mean, tuned in fit", f"{BUDGET} centroids", "SVC"


class Point(NamedTuple):
    rows: int
    time: Timing
    error: float


def measure(seed: int, sizes: tuple[int, ...], finished: Callable[[float], None]) -> dict[str, list[Point]]:
    """Every machine at every size it can fit within `PATIENCE`; ``finished`` is called with the share done."""
    stream = TwoNorm(seed=seed)
    X, y = stream.take(max(sizes))
    test, validation = (stream.sampler(key).rows_at(np.zeros(TEST, dtype=np.int64)) for key in ("test", "tune"))
    machines = _machines(Split(*stream.take(TUNED_AT), *validation))
    points: dict[str, list[Point]] = {name: [] for name in machines}
    steps = [(rows, name) for rows in sizes for name in machines]
    for step, (rows, name) in enumerate(steps, start=1):
        done = points[name]
        if not done or done[-1].time.fit * (rows / done[-1].rows) ** 2 <= PATIENCE:
            done.append(_point(machines[name], Split(X[:rows], y[:rows], *test)))
        finished(step / len(steps))
    return points


def _machines(split: Split) -> Mapping[str, Any]:
    chosen = tune(Densities.at_test_rows(split))
    return {
        OURS: chosen.machine(),
        TUNING: KernelMeanClassifier(progress=False),
        COMPRESSED: chosen.machine().set_params(budget=BUDGET),
        PEER: min((chosen.machine() for chosen in GRID), key=lambda machine: error_on(machine, split)),
    }


def _point(machine: Any, split: Split) -> Point:
    time = timed(machine, split)
    return Point(len(split.y_train), time, float(np.mean(machine.predict(split.X_test) != split.y_test)))


def growth(seed: int, finished: Callable[[float], None]) -> Outcome:
    points = measure(seed, SIZES, finished)
    return Outcome(
        f"Growth with the training rows, twonorm: fit, and predictions of {TEST:,} rows",
        tuple(_findings(points)),
        notes=(
            f"Processor time, all cores counted; the least of several calls. {TUNING}: leave-one-out over 39 widths, "
            f"101 ρ and every bias, in every fit. {COMPRESSED}: budget={BUDGET}, at most so many of each class. A "
            f"machine that would need more than {PATIENCE:.0f} s to fit, by n², is left out.",
        ),
        table=partial(tables.lines, *_table(points)),
        draw=partial(_draw, points),
        timing=_exponents(points),
    )


def _findings(points: Mapping[str, list[Point]]) -> list[Finding]:
    return [
        duration("twonorm", name, operation, point.rows, getattr(point.time, operation))
        for name, measured in points.items()
        for point in measured
        for operation in ("fit", "predict")
    ]


def _table(points: Mapping[str, list[Point]]) -> tuple[list[str], list[list[str]]]:
    lines = []
    for rows in SIZES:
        for name, measured in points.items():
            for point in (point for point in measured if point.rows == rows):
                first = f"{rows:,}" if name == OURS else ""
                times = readable(point.time.fit), readable(point.time.predict)
                lines.append([first, name, *times, f"{100.0 * point.error:.1f} %"])
    return ["rows", "", "fit", "predict", "error"], lines


def _draw(points: Mapping[str, list[Point]]) -> Figure:
    def curve(name: str, operation: str) -> Curve:
        rows = np.array([point.rows for point in points[name]])
        return Curve(name, rows, np.array([getattr(point.time, operation) for point in points[name]]))

    panels = [
        Panel("fit", [curve(name, "fit") for name in points]),
        # Predicting takes as long whether the machine is tuned or not.
        Panel(f"predictions of {TEST:,} rows", [curve(name, "predict") for name in (OURS, COMPRESSED, PEER)]),
    ]
    return figures.draw_growth(panels, title="Twonorm: time against training rows")


def _exponents(points: Mapping[str, list[Point]]) -> str:
    """By which power of n the time grew over each machine's last two sizes."""
    said = []
    for name, measured in points.items():
        if len(measured) > 1:
            one, last = measured[-2:]
            scale = np.log(last.rows / one.rows)
            fit, predict = np.log(np.divide(last.time, one.time)) / scale
            said.append(f"{name} n^{fit:.1f} and n^{predict:.1f} (to {last.rows:,})")
    return f"Fit and predict grew over the last two sizes as: {'; '.join(said)}."


SETS = ("banana", "ringnorm", "twonorm", "waveform", "image")
#: Centroids kept of each class; none is the exact machine.
BUDGETS = (32, 128, 256, 512, None)

_NOTES = (
    "Exact: all rows kept, σ, ρ and b chosen as the paper does. D centroids: at most so many of each class, learned in "
    "one pass over the rows, with the parameters of the exact machine. In brackets: no class has more rows than D, so "
    "nothing is compressed.",
)


def compression(splits: int, workers: int, finished: Callable[[float], None]) -> Outcome:
    """Errors at every budget, beside the exact machine."""
    sets, notes = at_hand({name: partial(load_benchmark, name) for name in SETS})
    findings: list[Finding] = []
    lines: list[list[str]] = []
    for name, data in sets.items():
        errors = _measure(data, splits, workers, partial(_finish_part, finished, SETS.index(name)))
        largest = int(max(np.sum(data.y[rows] == label) for rows in data.train for label in (-1, 1)))
        line = [name]
        for budget, by_split in errors.items():
            finding = split_error(name, f"{budget} centroids" if budget else "exact", by_split)
            findings.append(finding)
            compresses = budget is None or budget < largest
            line.append(per_cent(finding) if compresses else f"({per_cent(finding)})")
        lines.append([*line, f"{largest:,}"])
    if not findings:
        raise DataUnavailable(notes[0].removeprefix("Left out: "))
    headers = ["", *(f"D = {budget}" if budget else "exact" for budget in BUDGETS), "rows of the\nlargest class"]
    return Outcome(
        "Compression: test error in per cent with D centroids of each class",
        tuple(findings),
        summary=tuple(_losses(findings)),
        notes=(*_NOTES, *notes),
        table=partial(tables.lines, headers, lines),
    )


def _finish_part(finished: Callable[[float], None], place: int, share: float) -> None:
    finished((place + share) / len(SETS))


def _measure(
    data: BenchmarkSet, splits: int, workers: int, finished: Callable[[float], None]
) -> dict[int | None, NDArray[np.float64]]:
    chosen = tune(of_tuning_splits(data, Densities.at_test_rows), workers=workers)
    numbers = range(min(splits, data.n_splits))
    by_split = run_all([partial(_errors, data, number, chosen) for number in numbers], workers, finished)
    return {budget: np.array([split[budget] for split in by_split]) for budget in BUDGETS}


def _errors(data: BenchmarkSet, number: int, chosen: Parameters) -> Mapping[int | None, float]:
    split = data.split(number)
    # Some sets are stored in sorted order, unlike a stream.
    order = np.random.default_rng(number).permutation(len(split.y_train))
    split = split._replace(X_train=split.X_train[order], y_train=split.y_train[order])
    machine = partial(KernelMeanClassifier, **chosen._asdict())
    return {budget: error_on(machine(budget=budget), split) for budget in BUDGETS}


def _losses(findings: list[Finding]) -> list[str]:
    """What 128 centroids cost, in points of error."""
    means = {(finding.data, finding.model): 100.0 * finding.measured for finding in findings}
    lost = {name: means[name, "128 centroids"] - means[name, "exact"] for name in SETS if (name, "exact") in means}
    said = ", ".join(f"{name} {points:+.2f}" for name, points in lost.items())
    return [f"128 centroids less exact, in points: {said}."] if said else []
