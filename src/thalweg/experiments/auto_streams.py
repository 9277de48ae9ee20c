"""Where the study of the untuned default is made: public data sets, and generated streams with several runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TypeAlias

from thalweg.experiments.workers import seeds_of_run
from thalweg.streams import (
    ConceptStream,
    DriftingGaussians,
    MovingPlane,
    RotatingCheckerboard,
    Stagger,
    Table,
    load_covertype,
    load_elec2,
    load_sea_concepts,
    load_weather,
)
from thalweg.streams.drifting_gaussians import Scenario

#: Rows of the generated streams that have no length of their own in a paper's tables.
GENERATED_ROWS = 4000
#: River goes no further into a stream; ranks need rows that all models saw.
RIVER_ROWS = 50_000


@dataclass(frozen=True)
class DataSet:
    """A public data set, passed once; ``load`` raises `DataUnavailable` where it is not at hand."""

    name: str
    #: The name over a narrow column.
    header: str
    load: Callable[[], Table]
    rows: int
    features: int
    #: Whether its errors are ranked: of a data set measured twice, the part that all models saw.
    ranked: bool = True

    @cached_property
    def _table(self) -> Table:
        table = self.load()
        return table if table.length <= self.rows else Table(*table.take(self.rows), table.feature_names)

    def table(self, run: int, seed: int) -> Table:
        """Its rows, the same in every run."""
        return self._table

    def runs(self, runs: int) -> int:
        """There is only one of it."""
        return 1


@dataclass(frozen=True)
class Generated:
    """A generated stream, drawn afresh in every run."""

    name: str
    header: str
    stream: ConceptStream
    ranked: bool = True

    @property
    def rows(self) -> int:
        """Rows of a run."""
        return self.stream.length

    @property
    def features(self) -> int:
        """Columns of a row."""
        return self.stream.n_features

    def table(self, run: int, seed: int) -> Table:
        """The rows of a run."""
        stream = replace(self.stream, seed=seeds_of_run(seed, run)[0])
        return Table(*stream.take(), stream.feature_names)

    def runs(self, runs: int) -> int:
        """As many as asked for."""
        return runs


Source: TypeAlias = DataSet | Generated

ELEC2 = DataSet("ELEC2, 6 features", "ELEC2\n6 col.", partial(load_elec2, "six"), 45_312, 6)
DATA_SETS = (
    DataSet("ELEC2, 3 features", "ELEC2\n3 col.", load_elec2, 45_312, 3),
    ELEC2,
    DataSet("SEA concepts", "SEA", load_sea_concepts, 50_000, 3),
    DataSet("NOAA weather", "NOAA\nweather", load_weather, 18_159, 8),
    DataSet("Covertype", "Cover-\ntype", load_covertype, 581_012, 54, ranked=False),
    DataSet(f"Covertype, {RIVER_ROWS:,} rows", f"its first\n{RIVER_ROWS:,}", load_covertype, RIVER_ROWS, 54),
)
_SCENARIOS: tuple[tuple[Scenario, str], ...] = (
    ("circular", "circu-\nlar"),
    ("crossing", "cross-\ning"),
    ("passing", "pass-\ning"),
    ("sudden", "\nsudden"),
)
GENERATED = (
    Generated("STAGGER", "STAG-\nGER", Stagger()),
    Generated("Moving plane", "moving\nplane", MovingPlane()),
    *(
        Generated(f"Gaussians, {scenario}", header, DriftingGaussians(scenario=scenario, length=GENERATED_ROWS))
        for scenario, header in _SCENARIOS
    ),
    Generated("Checkerboard", "checker\nboard", RotatingCheckerboard(length=GENERATED_ROWS)),
)
SOURCES: Mapping[str, tuple[Source, ...]] = {"data": DATA_SETS, "generated": GENERATED}
