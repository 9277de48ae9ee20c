"""The streams of our study: data sets and generated streams of the main items, of ``curved`` and of ``numbers``.

The fifteen of ``curved`` have boundaries of every shape and 1,797 to 12,000 rows. They are the same in every run and
for every seed, so that recorded results belong to the same rows.

Those of ``numbers`` have numbers as targets. Members and constants of `AutoRegressor` were chosen on streams of seed 1
and on ELEC2. A run draws other seeds (`seeds_of_run`), and some streams are of a kind on which nothing was chosen.

River's generators need River; a stream whose source is missing raises `DataUnavailable` or `MissingExtra`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg import streams
from thalweg.errors import MissingExtra
from thalweg.papers.study import seeds_of_run
from thalweg.streams.drifting_gaussians import Scenario

#: Rows of the generated streams that have no length of their own in a paper's tables.
GENERATED_ROWS = 4000
#: River goes no further into a stream; ranks need rows that all models saw.
RIVER_ROWS = 50_000


@dataclass(frozen=True)
class DataSet:
    """A public data set, passed once; ``load`` raises `DataUnavailable` where it is missing."""

    name: str
    #: The name over a narrow column.
    header: str
    load: Callable[[], streams.Table]
    rows: int
    features: int
    #: Whether its errors are ranked: of a data set measured twice, the part that all models saw.
    ranked: bool = True

    @cached_property
    def _table(self) -> streams.Table:
        table = self.load()
        return table if table.length <= self.rows else streams.Table(*table.take(self.rows), table.feature_names)

    def table(self, run: int, seed: int) -> streams.Table:
        """Its rows, the same in every run."""
        return self._table

    def runs(self, runs: int) -> int:
        """One: its rows are the same in every run."""
        return 1


@dataclass(frozen=True)
class Generated:
    """A generated stream, drawn afresh in every run."""

    name: str
    header: str
    stream: streams.ConceptStream
    ranked: bool = True

    @property
    def rows(self) -> int:
        return self.stream.length

    @property
    def features(self) -> int:
        """Columns of a row."""
        return self.stream.n_features

    def table(self, run: int, seed: int) -> streams.Table:
        stream = replace(self.stream, seed=seeds_of_run(seed, run)[0])
        return streams.Table(*stream.take(), stream.feature_names)

    def runs(self, runs: int) -> int:
        return runs


Source: TypeAlias = DataSet | Generated


def packaged(package: str, path: str, doing: str) -> Path:
    """A file of a package with tables, which is not imported; a `MissingExtra` where it is not installed."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra.of(package, "zoo", doing)
    return Path(spec.submodule_search_locations[0]) / path


ELEC2 = DataSet("ELEC2, 6 features", "ELEC2\n6 col.", partial(streams.load_elec2, "six"), 45_312, 6)
DATA_SETS = (
    DataSet("ELEC2, 3 features", "ELEC2\n3 col.", streams.load_elec2, 45_312, 3),
    ELEC2,
    DataSet("SEA concepts", "SEA", streams.load_sea_concepts, 50_000, 3),
    DataSet("NOAA weather", "NOAA\nweather", streams.load_weather, 18_159, 8),
    DataSet("Covertype", "Cover-\ntype", streams.load_covertype, 581_012, 54, ranked=False),
    DataSet(f"Covertype, {RIVER_ROWS:,} rows", f"its first\n{RIVER_ROWS:,}", streams.load_covertype, RIVER_ROWS, 54),
)
_SCENARIOS: Mapping[Scenario, str] = {
    "circular": "circu-\nlar",
    "crossing": "cross-\ning",
    "passing": "pass-\ning",
    "sudden": "\nsudden",
}
GENERATED = (
    Generated("STAGGER", "STAG-\nGER", streams.Stagger()),
    Generated("Moving plane", "moving\nplane", streams.MovingPlane()),
    *(
        Generated(f"Gaussians, {scenario}", header, streams.DriftingGaussians(scenario=scenario, length=GENERATED_ROWS))
        for scenario, header in _SCENARIOS.items()
    ),
    Generated("Checkerboard", "checker\nboard", streams.RotatingCheckerboard(length=GENERATED_ROWS)),
)
SOURCES: Mapping[str, tuple[Source, ...]] = {"data": DATA_SETS, "generated": GENERATED}


# ---- boundaries of every shape --------------------------------------------------------------------------

#: Rows of the longest streams; data sets are cut here.
ROWS = 12_000


def _first_rows(stream: streams.ConceptStream, rows: int) -> streams.Table:
    return streams.Table(*stream.take(rows), stream.feature_names)


def river_datasets() -> Any:
    """River's generators; a `MissingExtra` where it is not installed."""
    try:
        return import_module("river.datasets")
    except ImportError as error:
        raise MissingExtra.of("River", "river", "drawing rows of River's generators") from error


def _from_river(name: str, settings: Sequence[Mapping[str, Any]], rows: int) -> streams.Table:
    """``rows`` rows of each of River's streams of one kind, one stream after the other."""
    make = attrgetter(name)(river_datasets())
    pairs = [pair for setting in settings for pair in islice(make(**setting), rows)]
    return streams.Table([list(x.values()) for x, _ in pairs], np.array([int(y) for _, y in pairs]))


def _digits() -> streams.Table:
    from sklearn.datasets import load_digits

    return streams.Table(*load_digits(return_X_y=True))


def _river(name: str, kind: str, rows: int, features: int, *settings: Mapping[str, Any]) -> DataSet:
    return DataSet(name, name, partial(_from_river, kind, settings, rows // len(settings)), rows, features)


_RBF = {"seed_model": 1, "seed_sample": 2, "n_classes": 4, "n_features": 10, "change_speed": 0.001}
_RBF |= {"n_centroids": 30, "n_drift_centroids": 30}
_AGRAWAL = [{"classification_function": at, "seed": at + 1, "perturbation": 0.05} for at in (0, 2, 4)]
_SINE = [{"classification_function": at, "seed": at + 5} for at in (0, 1, 2)]
_LED = {"seed": 1, "noise_percentage": 0.1, "irrelevant_features": True, "n_drift_features": 4}
_PLANE = {"seed": 1, "mag_change": 0.001, "noise_percentage": 0.05, "n_features": 10, "n_drift_features": 5}


def _first_of(name: str, stream: streams.ConceptStream, rows: int = ROWS) -> DataSet:
    return DataSet(name, name, partial(_first_rows, stream, rows), rows, stream.n_features)


CURVED_STREAMS = (
    _river("Bananas", "Bananas", 5300, 2, {}),
    DataSet("Digits", "Digits", _digits, 1797, 64),
    _first_of("Checkerboard", streams.RotatingCheckerboard(seed=0), 8000),
    _first_of("Wandering disc", streams.WanderingDisc(seed=0)),
    _first_of("Turning XOR", streams.TurningXOR(seed=0)),
    _river("RBF drift", "synth.RandomRBFDrift", ROWS, 10, _RBF),
    _river("Agrawal 0, 2, 4", "synth.Agrawal", ROWS, 9, *_AGRAWAL),
    _river("Sine 0, 1, 2", "synth.Sine", ROWS, 2, *_SINE),
    _river("LED drift", "synth.LEDDrift", ROWS, 24, _LED),
    _river("Waveform", "synth.Waveform", 8000, 21, {"seed": 1}),
    _river("Hyperplane", "synth.Hyperplane", ROWS, 10, _PLANE),
    DataSet("Covertype, 12 columns", "Covertype", partial(streams.load_covertype, one_hot=False), ROWS, 12),
    DataSet("ELEC2, 6 features", "ELEC2", partial(streams.load_elec2, "six"), ROWS, 6),
    DataSet("SEA concepts", "SEA", streams.load_sea_concepts, ROWS, 3),
    DataSet("NOAA weather", "NOAA", streams.load_weather, ROWS, 8),
)


# ---- numbers as targets ---------------------------------------------------------------------------------

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
        return self.draw(seeds_of_run(seed, run)[0])


def _ours(stream: streams.ConceptStream, seed: int) -> tuple[Floats, Floats]:
    return replace(stream, seed=seed).take()


def _rivers(name: str, rows: int, seed: int) -> tuple[Floats, Floats]:
    """Rows of a generator of River's, categories as their places in alphabetical order."""
    pairs = list(islice(getattr(river_datasets().synth, name)(seed=seed), rows))
    columns = zip(*(x.values() for x, _ in pairs), strict=True)
    numbers = [
        np.unique(column, return_inverse=True)[1] if isinstance(column[0], str) else column for column in columns
    ]
    return np.column_stack(numbers).astype(np.float64), np.array([y for _, y in pairs])


def _random_walk(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    return random.normal(size=(_ROWS, 4)), np.cumsum(random.normal(size=_ROWS))


def _noise_doubles(seed: int) -> tuple[Floats, Floats]:
    stream = streams.LinearResponse(seed=seed, noise=0.5, length=_ROWS)
    (X, y), (_, clean) = stream.take(), replace(stream, noise=0.0).take()
    return X, np.where(np.arange(_ROWS) < _ROWS // 2, y, 2 * y - clean)


def _next_value(load: Callable[[], streams.Table], column: str, rows: int, seed: int) -> tuple[Floats, Floats]:
    table = load()
    X, _ = table.take(rows + 1)
    return X[:-1], X[1:, table.feature_names.index(column)]


def _elevation(seed: int) -> tuple[Floats, Floats]:
    X, _ = streams.load_covertype(one_hot=False).take(12_000)
    return np.ascontiguousarray(X[:, 1:]), X[:, 0]


_ROWS = 10_000
_PRICE = partial(_next_value, partial(streams.load_elec2, "all"), "nswprice", 20_000)
_TEMPERATURE = partial(_next_value, streams.load_weather, "temperature", 18_158)
_LOCAL = streams.FriedmanDrift(drift="local", changes=(2000, 5000, 8000))
_RECURRING = streams.FriedmanDrift(drift="recurring", changes=(3000, 8000))
_GRADUAL = streams.FriedmanDrift(drift="gradual", changes=(3000, 8000), transition=2000)

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
