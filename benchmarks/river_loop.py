"""A River user's loop: a dict in, a label out, then the label learned. Our O-LDC by `to_river` beside River's own.

Run it by ``python benchmarks/river_loop.py`` where River is installed. One core, rounds interleaved; only ratios
compare.
"""

from __future__ import annotations

import argparse
from typing import Any

from contest import Contestant, Effort, Timing, contest
from operations import ANSWER_THEN_LEARN, one_by_one
from rich.console import Console
from river import linear_model, preprocessing
from rows import Rows
from tables import speeds
from threadpoolctl import threadpool_limits

from thalweg import OnlineLDC
from thalweg.interop import to_river

WIDTHS = (3, 10, 54)
FULL, QUICK = Effort(rounds=15, seconds=0.2), Effort(rounds=3, seconds=0.05)

OURS = {
    "OnlineLDC": lambda: to_river(OnlineLDC()),
    "OnlineLDC, missing as mean": lambda: to_river(OnlineLDC(), missing="mean"),
    "River's StandardScaler | OnlineLDC": lambda: preprocessing.StandardScaler() | to_river(OnlineLDC()),
}
RIVERS = {
    "River, StandardScaler | LogisticRegression": lambda: (
        preprocessing.StandardScaler() | linear_model.LogisticRegression()
    ),
    "River, LogisticRegression": linear_model.LogisticRegression,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Rows per second of a River user's loop.")
    parser.add_argument("--quick", action="store_true", help="rougher figures")
    effort = QUICK if parser.parse_args().quick else FULL
    console = Console(highlight=False)
    with threadpool_limits(1):
        for width in WIDTHS:
            rows = Rows(width)
            contestants = [
                contestant
                for name, make in {**RIVERS, **OURS}.items()
                for contestant in one_by_one(name, make, rows.dicts, rows.labels, river=name in RIVERS)
                if contestant.operation == ANSWER_THEN_LEARN
            ]
            timings = list(contest(contestants, effort, lambda: None))
            console.print(f"\n{width} features\n", style="bold")
            console.print(speeds([_result(*pair, timings[0]) for pair in zip(contestants, timings, strict=True)]))
    console.print(
        f"\nBest of {effort.rounds} interleaved rounds. Spread: how much longer the median round took."
        "\n× River: times the rows a second of River's StandardScaler | LogisticRegression, same loop."
    )


def _result(contestant: Contestant, timing: Timing, river: Timing) -> dict[str, Any]:
    return {
        "operation": contestant.operation,
        "model": contestant.model,
        "ours": not contestant.river,
        "rows_per_second": timing.best,
        "spread": timing.spread,
        "times_river": timing.best / river.best,
    }


if __name__ == "__main__":
    main()
