"""What a budget costs: `KernelMeanClassifier` with 128 centroids a class beside River's nearest neighbours of 256 rows.

Run it by ``python benchmarks/kernel_mean.py`` where River is installed. One core, rounds interleaved; only ratios
compare. Both keep 256 rows or centroids; ours in one call, and row by row on dicts as River's.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from contest import Contestant, Effort, Run, contest
from operations import ANSWER_THEN_LEARN, answer_then_learn
from rich.console import Console
from rows import Rows
from threadpoolctl import threadpool_limits

from thalweg import KernelMeanClassifier
from thalweg.report import tables

WIDTHS = (2, 10, 50)
BUDGET, FORGETTING = 128, 0.01
FULL, QUICK = Effort(rounds=5, seconds=0.2), Effort(rounds=3, seconds=0.05)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Rows per second of KernelMeanClassifier with a budget, and River.")
    parser.add_argument("--quick", action="store_true", help="rougher figures")
    effort = QUICK if parser.parse_args().quick else FULL
    headers = [
        "features",
        "sigma given\nrows/s",
        "octaves\nrows/s",
        "octaves, dicts\nrows/s",
        "River KNN\nrows/s",
        "dicts / River",
    ]
    lines = []
    with threadpool_limits(1):
        for width in WIDTHS:
            rows = Rows(width)
            contestants = [
                _in_one_call("given", partial(_ours, 1.0 / width), rows),
                _in_one_call("octaves", partial(_ours, None), rows),
                _row_by_row("dicts", partial(_ours, None), rows),
                _row_by_row("River", _neighbours, rows),
            ]
            given, octaves, dicts, river = (each.best for each in contest(contestants, effort, lambda: None))
            speeds = [f"{speed:,.0f}" for speed in (given, octaves, dicts, river)]
            lines.append([str(width), *speeds, f"{dicts / river:,.1f}"])
    console = Console(highlight=False)
    console.print(tables.lines(headers, lines))
    console.print(f"\nBest of {effort.rounds} interleaved rounds; each row answered, then learned.")


def _ours(sigma: float | None) -> KernelMeanClassifier:
    return KernelMeanClassifier(sigma=sigma, budget=BUDGET, forgetting=FORGETTING)


def _neighbours() -> object:
    from river import neighbors

    return neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=2 * BUDGET))


def _in_one_call(name: str, make: Callable[[], KernelMeanClassifier], rows: Rows) -> Contestant:
    def prepare(count: int) -> Run:
        model, X, y = make(), rows.X[:count], rows.y[:count]
        return lambda: model.predict_then_learn(X, y)

    return Contestant(ANSWER_THEN_LEARN, name, prepare, len(rows))


def _row_by_row(name: str, make: Callable[[], Any], rows: Rows) -> Contestant:
    def prepare(count: int) -> Run:
        model, dicts, labels = make(), rows.dicts[:count], rows.labels[:count]
        return lambda: answer_then_learn(model, dicts, labels)

    return Contestant(ANSWER_THEN_LEARN, name, prepare, len(rows.dicts))


if __name__ == "__main__":
    main()
