"""The streams of the item ``numbers``, with numbers as targets.

Members and constants of `AutoRegressor` were chosen on streams of seed 1 and on ELEC2. A run draws other seeds
(`thalweg.papers.workers.seeds_of_run`), and some streams are of a kind on which nothing was chosen. River's generators
need River; a stream whose source is missing raises `DataUnavailable` or `MissingExtra`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.papers.auto.curved_streams import river_datasets
from thalweg.papers.workers import seeds_of_run
from thalweg.streams import (
    ConceptStream,
    FriedmanDrift,
    LinearResponse,
    Table,
    load_covertype,
    load_elec2,
    load_weather,
)

Floats: TypeAlias = NDArray[np.float64]
#: What the constants of `AutoRegressor` were chosen on: this stream with another seed, these rows, or neither.
ChosenOn: TypeAlias = Literal["another seed", "these rows", "neither"]


@dataclass(frozen=True)
class NumberStream:
    """A stream of numbers."""

    name: str
    rows: int
    #: Rows and targets of a seed; data sets ignore it.
    draw: Callable[[int], tuple[Floats, Floats]]
    chosen_on: ChosenOn
    #: Whether another seed gives other rows.
    generated: bool = True
    #: The most that the error of `AutoRegressor` may be, where there is a bound.
    bound: float | None = None
    #: Whether the last value is the best prediction.
    is_walk: bool = False
    #: The row from which any 1,000 rows count for the coverage.
    judged_from: int = 0

    def take(self, run: int, seed: int) -> tuple[Floats, Floats]:
        """The rows of a run."""
        return self.draw(seeds_of_run(seed, run)[0])


def _ours(stream: ConceptStream, seed: int) -> tuple[Floats, Floats]:
    return replace(stream, seed=seed).take()


def _rivers(name: str, rows: int, seed: int) -> tuple[Floats, Floats]:
    """Rows of a generator of River's, categories as their places in alphabetical order."""
    pairs = list(islice(getattr(river_datasets().synth, name)(seed=seed), rows))
    columns = zip(*(x.values() for x, _ in pairs), strict=True)
    numbers = [np.unique(each, return_inverse=True)[1] if isinstance(each[0], str) else each for each in columns]
    return np.column_stack(numbers).astype(np.float64), np.array([y for _, y in pairs])


def _random_walk(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    return random.normal(size=(_ROWS, 4)), np.cumsum(random.normal(size=_ROWS))


def _noise_doubles(seed: int) -> tuple[Floats, Floats]:
    stream = LinearResponse(seed=seed, noise=0.5, length=_ROWS)
    (X, y), (_, clean) = stream.take(), replace(stream, noise=0.0).take()
    return X, np.where(np.arange(_ROWS) < _ROWS // 2, y, 2 * y - clean)


def _next_value(load: Callable[[], Table], column: str, rows: int, seed: int) -> tuple[Floats, Floats]:
    table = load()
    X, _ = table.take(rows + 1)
    return X[:-1], X[1:, table.feature_names.index(column)]


def _elevation(seed: int) -> tuple[Floats, Floats]:
    X, _ = load_covertype(one_hot=False).take(12_000)
    return np.ascontiguousarray(X[:, 1:]), X[:, 0]


_ROWS = 10_000
_PRICE = partial(_next_value, partial(load_elec2, "all"), "nswprice", 20_000)
_TEMPERATURE = partial(_next_value, load_weather, "temperature", 18_158)
_LOCAL = FriedmanDrift(drift="local", changes=(2000, 5000, 8000))
_RECURRING = FriedmanDrift(drift="recurring", changes=(3000, 8000))
_GRADUAL = FriedmanDrift(drift="gradual", changes=(3000, 8000), transition=2000)

NUMBER_STREAMS = (
    NumberStream("Friedman, local", 12_000, partial(_ours, _LOCAL), "another seed", bound=0.385),
    NumberStream("Friedman, recurring", 12_000, partial(_ours, _RECURRING), "another seed", bound=0.345),
    NumberStream("Planes2D", _ROWS, partial(_rivers, "Planes2D", _ROWS), "another seed", bound=0.265),
    NumberStream("Mv", _ROWS, partial(_rivers, "Mv", _ROWS), "another seed", bound=0.225),
    NumberStream("Random walk", _ROWS, _random_walk, "another seed", is_walk=True),
    NumberStream("ELEC2, next price", 20_000, _PRICE, "these rows", generated=False, bound=0.452),
    NumberStream("Friedman, gradual", 12_000, partial(_ours, _GRADUAL), "neither"),
    NumberStream("Noise that doubles", _ROWS, _noise_doubles, "neither", judged_from=_ROWS // 2 + 200),
    NumberStream("NOAA, temperature", 18_158, _TEMPERATURE, "neither", generated=False),
    NumberStream("Covertype, elevation", 12_000, _elevation, "neither", generated=False),
)
