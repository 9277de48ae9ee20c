"""The paper's future work: few weighted centroids of each class in place of all rows, on five sets of Table 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import DataUnavailable
from thalweg.learners.kernel_mean.classifier import KernelMeanClassifier
from thalweg.papers.bounsiar.printed import PAPER, per_cent, split_error
from thalweg.papers.bounsiar.study import Densities, Parameters, of_tuning_splits, tune
from thalweg.papers.findings import Finding
from thalweg.papers.registry import Outcome
from thalweg.papers.study import run_all
from thalweg.report import tables
from thalweg.streams import BenchmarkSet, load_benchmark

SETS = ("banana", "ringnorm", "twonorm", "waveform", "image")
#: Centroids kept of each class; none is the exact machine.
BUDGETS = (32, 128, 256, 512, None)

_NOTES = (
    "Exact: all rows kept, σ, ρ and b chosen as the paper does. D centroids: at most so many of each class, learned in "
    "one pass over the rows, with the parameters of the exact machine. In brackets: no class has more rows than D, so "
    "nothing is compressed.",
)


def outcome(splits: int, workers: int, finished: Callable[[float], None]) -> Outcome:
    """Errors at every budget, beside the exact machine."""
    findings: list[Finding] = []
    lines: list[list[str]] = []
    notes: list[str] = []
    for place, name in enumerate(SETS):
        try:
            data = load_benchmark(name)
        except DataUnavailable as error:
            notes.append(f"Left out: {error}")
            continue
        errors = _measure(data, splits, workers, partial(_tell, finished, place))
        largest = int(max(np.sum(data.y[rows] == label) for rows in data.train for label in (-1, 1)))
        line = [name]
        for budget, each in errors.items():
            finding = split_error("compression", name, f"{budget} centroids" if budget else "exact", each)
            findings.append(finding)
            compresses = budget is None or budget < largest
            line.append(per_cent(finding) if compresses else f"({per_cent(finding)})")
        lines.append([*line, f"{largest:,}"])
    if not findings:
        raise DataUnavailable(notes[0].removeprefix("Left out: "))
    headers = ["", *(f"D = {budget}" if budget else "exact" for budget in BUDGETS), "rows of the\nlargest class"]
    return Outcome(
        PAPER,
        "compression",
        "Compression: test error in per cent with D centroids of each class",
        tuple(findings),
        summary=tuple(_losses(findings)),
        notes=(*_NOTES, *notes),
        table=partial(tables.lines, headers, lines),
    )


def _tell(finished: Callable[[float], None], place: int, share: float) -> None:
    finished((place + share) / len(SETS))


def _measure(
    data: BenchmarkSet, splits: int, workers: int, finished: Callable[[float], None]
) -> dict[int | None, NDArray[np.float64]]:
    chosen = tune(of_tuning_splits(data, Densities.at_test_rows), workers=workers)
    numbers = range(min(splits, data.n_splits))
    by_split = run_all([partial(_errors, data, number, chosen) for number in numbers], workers, finished)
    return {budget: np.array([each[budget] for each in by_split]) for budget in BUDGETS}


def _errors(data: BenchmarkSet, number: int, chosen: Parameters) -> Mapping[int | None, float]:
    X, y, X_test, y_test = data.split(number)
    # Some sets are stored in sorted order, unlike a stream.
    order = np.random.default_rng(number).permutation(len(y))
    return {
        budget: float(np.mean(_machine(chosen, budget).fit(X[order], y[order]).predict(X_test) != y_test))
        for budget in BUDGETS
    }


def _machine(chosen: Parameters, budget: int | None) -> KernelMeanClassifier:
    return KernelMeanClassifier(sigma=chosen.sigma, rho=chosen.rho, bias=chosen.bias, budget=budget)


def _losses(findings: list[Finding]) -> list[str]:
    """What 128 centroids cost, in points of error."""
    means = {(each.data, each.model): 100.0 * each.measured for each in findings}
    lost = {name: means[name, "128 centroids"] - means[name, "exact"] for name in SETS if (name, "exact") in means}
    said = ", ".join(f"{name} {points:+.2f}" for name, points in lost.items())
    return [f"128 centroids less exact, in points: {said}."] if said else []
