"""River's models, which take dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.contest import Contestant, Unavailable
from benchmarks.operations import one_by_one
from benchmarks.rows import Rows

SCALED = "River StandardScaler | LogisticRegression"


def river() -> Any:
    """The package."""
    try:
        import river
        from river import forest, linear_model, naive_bayes, neighbors, optim, preprocessing  # noqa: F401
    except ImportError as error:
        raise Unavailable(f"River: {error}") from error
    return river


def models() -> dict[str, Callable[[], Any]]:
    """The quick ones, by name."""
    found = river()
    linear = found.linear_model
    return {
        "River Perceptron": linear.Perceptron,
        "River LogisticRegression": linear.LogisticRegression,
        SCALED: lambda: found.preprocessing.StandardScaler() | linear.LogisticRegression(),
        "River GaussianNB": found.naive_bayes.GaussianNB,
    }


def contestants(rows: Rows) -> Iterator[Contestant]:
    """All of them, at everything that single rows are for."""
    for name, make in models().items():
        yield from one_by_one(name, make, rows.dicts, rows.labels)
