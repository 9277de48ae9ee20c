"""The measurements behind the study of the default: its models, its streams, and the error of each model on each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import DataUnavailable, MissingExtra
from thalweg.evaluate import prequential
from thalweg.kernels import compiled
from thalweg.learners.auto import LINEAR_MEMBERS, AutoClassifier
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.rate_bank import BANK_DISCOUNT, BANK_RATES, BANK_RIDGE, BANK_SHARPNESS
from thalweg.learners.baselines import MajorityClass, NoChange
from thalweg.learners.online_ldc import OnlineLDC
from thalweg.papers.study import Progress, Study
from thalweg.papers.workers import run_all, seeds_of_run
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

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

#: Prequential error of a model over one pass through a table.
Error: TypeAlias = Callable[[Table], float]

AUTO, PERSISTENT, BANK = "AutoClassifier", "Auto, persistence", "O-LDC auto"
NO_CHANGE, MAJORITY = "No change", "Majority class"
RIVER_PA, RIVER_LOGISTIC, RIVER_FOREST = "River scaled PA", "River scaled logistic", "River adaptive forest"


class ScaledMember(StreamClassifier):
    """A member of `AutoClassifier` by itself, behind the same scaling of the rows.

    Parameters
    ----------
    member : str
        Its name. A core's maker is compiled and could not be sent to another process.
    """

    def __init__(self, member: str) -> None:
        self.member = member

    def _make_core(self, features: int) -> Core:
        return compiled.scaled(MEMBER_CORES[self.member](features))


def _one_rate(features: int, rate: float) -> Core:
    return compiled.rate_bank(features, (rate,), BANK_RIDGE, BANK_DISCOUNT, BANK_SHARPNESS)


def _error(make: Callable[[], StreamClassifier], table: Table) -> float:
    records = prequential(make(), table, with_proba=False)
    return sum(int(np.count_nonzero(record.mistakes)) for record in records) / table.length


#: The linear members of `AutoClassifier`: how each is made, and how it is measured alone.
MEMBER_CORES: Mapping[str, Callable[[int], Core]] = {
    **{f"O-LDC {rate:g}": partial(_one_rate, rate=rate) for rate in BANK_RATES},
    **{name: member.make for name, member in LINEAR_MEMBERS.items()},
}
MEMBERS: Mapping[str, Error] = {name: partial(_error, partial(ScaledMember, name)) for name in MEMBER_CORES}
OURS: Mapping[str, Error] = {
    AUTO: partial(_error, AutoClassifier),
    PERSISTENT: partial(_error, lambda: AutoClassifier(persistence=True)),
    BANK: partial(_error, lambda: OnlineLDC("auto", counts="soft")),
    **MEMBERS,
    NO_CHANGE: partial(_error, NoChange),
    MAJORITY: partial(_error, MajorityClass),
}


@dataclass(frozen=True)
class RiverPeer:
    """A model of River's: binary ones vote one against the rest where there are more than two classes."""

    name: str

    def __call__(self, table: Table) -> float:
        """The share of mistakes; the first row, before any label, counts as one."""
        classes = table.classes
        model = self._model(len(classes))
        names, mistakes, seen_a_label = table.feature_names, 0, False
        for X, y in table.batches(1024):
            labels = y if len(classes) > 2 else y == classes[-1]  # River's binary models take True and False
            for row, label in zip(X.tolist(), labels.tolist(), strict=True):
                x = dict(zip(names, row, strict=True))
                mistakes += not seen_a_label or model.predict_one(x) != label
                model.learn_one(x, label)
                seen_a_label = True
        return mistakes / table.length

    def _model(self, n_classes: int) -> Any:
        if self.name == RIVER_FOREST:
            return import_module("river.forest").ARFClassifier(n_models=10, seed=0)
        linear_model = import_module("river.linear_model")
        model = linear_model.PAClassifier() if self.name == RIVER_PA else linear_model.LogisticRegression()
        if n_classes > 2:
            model = import_module("river.multiclass").OneVsRestClassifier(model)
        return import_module("river.preprocessing").StandardScaler() | model


def river_peers() -> Mapping[str, Error]:
    """River's linear models; a `MissingExtra` where it is not installed."""
    require_river()
    return {name: RiverPeer(name) for name in (RIVER_PA, RIVER_LOGISTIC)}


def require_river() -> None:
    """Say at once, and clearly, when River cannot be had."""
    try:
        import_module("river")
    except ImportError as error:
        raise MissingExtra.of("River", "bench", "measuring River's models") from error


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
        """One: its rows are the same in every run."""
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


#: By model, the error of each run.
Errors: TypeAlias = Mapping[str, NDArray[np.float64]]

#: Which groups of sources an item looks at, where it is not the group of its own name.
_GROUPS = {"ranks": tuple(SOURCES), "fig-ranks": tuple(SOURCES), "fig-weights": ()}


class AutoStudy(Study):
    """Errors of all models on all sources."""

    def __init__(self, items: Sequence[str], *, runs: int, seed: int, workers: int, progress: Progress) -> None:
        groups = {group for item in items for group in _GROUPS.get(item, (item,))}
        work = {
            source.name: float(source.rows * source.features * source.runs(runs))
            for group, sources in SOURCES.items()
            for source in sources
            if group in groups
        }
        if "forest" in items:
            # The forest takes about fifty times as long for a row as all the others together.
            work |= {_forest_stage(source): 50.0 * source.rows * source.features for source in forest_sources()}
        super().__init__(work, workers=workers, progress=progress)
        self.runs, self.seed = runs, seed
        self._peers = self._river()

    def errors(self, source: Source) -> Errors | None:
        """Errors of all models on this source; None where it is missing."""
        models = {**OURS, **self._peers} if source.rows <= RIVER_ROWS else OURS
        return self.once(source.name, lambda: self._measure(source.name, source, models, source.runs(self.runs)))

    def forest(self, source: Source) -> Errors | None:
        """Errors of the default and River's forest, in the first run."""
        stage = _forest_stage(source)
        models: Mapping[str, Error] = {AUTO: OURS[AUTO], RIVER_FOREST: RiverPeer(RIVER_FOREST)}
        return self.once(stage, lambda: self._measure(stage, source, models, 1))

    def _river(self) -> Mapping[str, Error]:
        try:
            return river_peers()
        except MissingExtra as error:
            self.notes.append(f"River is left out: {error}.")
            return {}

    def _measure(self, stage: str, source: Source, models: Mapping[str, Error], runs: int) -> Errors | None:
        """Several runs in parallel, or the models of a single run."""
        try:
            source.table(0, self.seed)
        except DataUnavailable as error:
            self.notes.append(f"Left out: {error}")
            return None
        parts = [models] if runs > 1 else [{name: error} for name, error in models.items()]
        tasks = [partial(_errors, part, source, run, self.seed) for run in range(runs) for part in parts]
        results = run_all(tasks, self.workers, self.stage(stage))
        return {name: np.array([result[name] for result in results if name in result]) for name in models}


def _errors(models: Mapping[str, Error], source: Source, run: int, seed: int) -> dict[str, float]:
    table = source.table(run, seed)
    return {name: error(table) for name, error in models.items()}


def forest_sources() -> list[Source]:
    """Sources short enough for the forest."""
    return [source for sources in SOURCES.values() for source in sources if source.rows <= RIVER_ROWS]


def _forest_stage(source: Source) -> str:
    return f"{source.name}, forest"
