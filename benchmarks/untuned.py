"""What the untuned default costs: `AutoClassifier` beside River's scaled logistic regression and beside its own parts.

Run it by ``python benchmarks/untuned.py`` where River is installed. One core, rounds interleaved; only ratios compare.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial

from contest import Contestant, Effort, Run, contest
from operations import ANSWER_THEN_LEARN, one_by_one
from rich.console import Console
from rows import Rows
from tables import untuned
from threadpoolctl import threadpool_limits

from thalweg import AutoClassifier
from thalweg.experiments.auto_models import MEMBER_CORES, ScaledMember
from thalweg.learners.contract import StreamClassifier

WIDTHS = (3, 10, 54)
FULL, QUICK = Effort(rounds=9, seconds=0.1), Effort(rounds=3, seconds=0.05)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Rows per second of AutoClassifier, its parts and River.")
    parser.add_argument("--quick", action="store_true", help="rougher figures")
    effort = QUICK if parser.parse_args().quick else FULL
    console = Console(highlight=False)
    results = []
    with threadpool_limits(1):
        for width in WIDTHS:
            rows = Rows(width)
            contestants = [_in_one_call("AutoClassifier", AutoClassifier, rows)]
            contestants += [
                _in_one_call(name, partial(ScaledMember, make), rows) for name, make in MEMBER_CORES.items()
            ]
            parts = len(contestants)
            contestants += _row_by_row(rows)
            timings = list(contest(contestants, effort, lambda: None))
            auto, by_dicts, river = timings[0].best, timings[parts].best, timings[parts + 1].best
            results.append(
                {
                    "features": width,
                    "rows_per_second": auto,
                    "parts": sum(1.0 / timing.best for timing in timings[1:parts]) * auto,
                    "river": river,
                    "times_river": auto / river,
                    "dicts_times_river": by_dicts / river,
                }
            )
    console.print(untuned(results))
    console.print(f"\nBest of {effort.rounds} interleaved rounds; each row answered, then learned.")


def _in_one_call(name: str, make: Callable[[], StreamClassifier], rows: Rows) -> Contestant:
    def prepare(count: int) -> Run:
        model, X, y = make(), rows.X[:count], rows.y[:count]
        return lambda: model.predict_then_learn(X, y)

    return Contestant(ANSWER_THEN_LEARN, name, prepare, len(rows))


def _row_by_row(rows: Rows) -> Iterator[Contestant]:
    """The default on dicts, then River."""
    from river import linear_model, preprocessing

    makers: dict[str, Callable[[], object]] = {
        "AutoClassifier, dict rows": AutoClassifier,
        "River": lambda: preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    }
    for name, make in makers.items():
        for contestant in one_by_one(name, make, rows.dicts, rows.labels):
            if contestant.operation == ANSWER_THEN_LEARN:
                yield contestant


if __name__ == "__main__":
    main()
