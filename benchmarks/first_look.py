"""How fast our learners are, beside River and scikit-learn and against a limit in C, all in one run on the same rows.

Run it by ``make bench``. Figures of different runs or machines do not compare; the ratios within one run do.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from c_limit import against_the_limit
from contest import Contestant, Effort, Timing, Unavailable, contest
from operations import OPERATIONS
from ours import ours
from peers import PEERS
from rich.console import Console
from rich.progress import Progress
from rows import Rows
from tables import limits, speeds
from threadpoolctl import threadpool_limits

from thalweg import kernels

WIDTHS = (3, 10, 100)
LIMIT_WIDTHS = (2, 3, 10, 50, 100)
#: About a minute and a half, and half a minute.
FULL, QUICK = Effort(rounds=15, seconds=0.1), Effort(rounds=5, seconds=0.05)


def main() -> None:
    """Measure, print, and write the file if one is asked for."""
    parser = argparse.ArgumentParser(description="Rows per second of our learners, River, scikit-learn and plain C.")
    parser.add_argument("--quick", action="store_true", help="half a minute, rougher figures")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results there")
    arguments = parser.parse_args()
    effort = QUICK if arguments.quick else FULL

    console = Console(highlight=False)
    missing: dict[str, None] = {}  # in order, each once
    # One core for everybody: threads of the linear algebra would go on spinning beside whoever is timed next.
    with threadpool_limits(1), Progress(console=console, transient=True) as progress:
        task = progress.add_task("", total=effort.rounds * (len(WIDTHS) + len(LIMIT_WIDTHS)))

        def after_round() -> None:
            progress.advance(task)

        measured = [result for width in WIDTHS for result in _speeds(width, effort, after_round, missing)]
        shares = list(_shares(effort, after_round, missing))

    machine = _machine()
    console.print(", ".join(f"{name} {value}" for name, value in machine.items() if value), style="dim")
    for width in WIDTHS:
        console.print(f"\n{width} features\n", style="bold")
        console.print(speeds([result for result in measured if result["features"] == width]))
    console.print("\nOnlineLDC.predict_then_learn against the bare loop in C\n", style="bold")
    if shares:
        console.print(limits(shares))
    console.print(
        f"\nBest of {effort.rounds} interleaved rounds. Spread: how much longer the median round took."
        "\n× River: times the rows a second of River's fastest linear model, same work."
    )
    for name in missing:
        console.print(f"Left out: {name}", style="yellow", markup=False)
    if arguments.json:
        document = {"machine": machine, "speeds": measured, "limits": shares, "left_out": list(missing)}
        arguments.json.write_text(json.dumps(document, indent=2) + "\n")


def _speeds(
    width: int, effort: Effort, after_round: Callable[[], None], missing: dict[str, None]
) -> list[dict[str, Any]]:
    """Everybody at one width, by operation."""
    rows = Rows(width)
    contestants = list(ours(rows))
    own = len(contestants)
    for peer in PEERS:
        try:
            contestants += peer(rows)
        except Unavailable as reason:
            missing[str(reason)] = None
    timings = list(contest(contestants, effort, after_round))
    best_of_river = {
        operation: max(
            (timing.best for one, timing in zip(contestants, timings, strict=True) if _of_river(one, operation)),
            default=None,
        )
        for operation in OPERATIONS
    }
    results = []
    for place, (contestant, timing) in enumerate(zip(contestants, timings, strict=True)):
        river = best_of_river[contestant.operation]
        results.append(
            {
                "features": width,
                "operation": contestant.operation,
                "model": contestant.model,
                "ours": place < own,
                **_figures(timing),
                "times_river": timing.best / river if river else None,
            }
        )
    return sorted(results, key=lambda result: OPERATIONS.index(result["operation"]))


def _shares(effort: Effort, after_round: Callable[[], None], missing: dict[str, None]) -> Iterator[dict[str, Any]]:
    """Our share of the limit, width by width."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for width in LIMIT_WIDTHS:
            try:
                contestants = against_the_limit(Rows(width), Path(folder))
            except Unavailable as reason:
                missing[str(reason)] = None
                continue
            our, limit = contest(contestants, effort, after_round)
            of_limit = {f"limit_{name}": value for name, value in _figures(limit).items()}
            yield {"features": width, **_figures(our), **of_limit, "share": our.best / limit.best}


def _of_river(contestant: Contestant, operation: str) -> bool:
    return contestant.river and contestant.operation == operation


def _figures(timing: Timing) -> dict[str, Any]:
    return {
        "rows_per_second": timing.best,
        "spread": timing.spread,
        "rows": timing.rows,
        "seconds": list(timing.seconds),
    }


def _machine() -> dict[str, Any]:
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "kernels": kernels.level,
        "Python": platform.python_version(),
        **{name: _version(name) for name in ("thalweg", "river", "scikit-learn", "numpy")},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()
