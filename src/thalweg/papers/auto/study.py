"""The measurements behind the study of the default: its models, its streams, and the error of each model on each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.errors import MissingExtra
from thalweg.evaluate import friedman, nemenyi_difference, prequential
from thalweg.kernels import compiled
from thalweg.learners.auto import LINEAR_MEMBERS, AutoClassifier
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.mixture import BANK_DISCOUNT, BANK_RATES, BANK_RIDGE, BANK_SHARPNESS
from thalweg.learners.baselines import MajorityClass, NoChange
from thalweg.learners.online_ldc import OnlineLDC
from thalweg.papers.auto.sources import RIVER_ROWS, SOURCES, Source
from thalweg.papers.study import Request, Study, run_all
from thalweg.report.comparison_figures import draw_mean_ranks
from thalweg.streams import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


class Ranking(NamedTuple):
    """Models by their mean ranks over streams."""

    mean_ranks: dict[str, float]
    streams: int
    #: Mean ranks that differ by more are significantly different.
    difference: float
    sentence: str

    @classmethod
    def of(cls, names: Sequence[str], errors: ArrayLike) -> Ranking:
        """Of errors of shape (streams, models)."""
        test, streams = friedman(np.asarray(errors)), len(np.asarray(errors))
        difference = nemenyi_difference(len(names), streams)
        sentence = (
            f"Friedman: chi-squared {test.statistic:.1f}, p = {test.p_value:.1g}. "
            f"Nemenyi, 5 %: a difference of {difference:.2f}."
        )
        return cls(dict(zip(names, test.mean_ranks.tolist(), strict=True)), streams, difference, sentence)

    def drawn(self, title: str) -> Callable[[], Figure]:
        """Draws the critical-difference plot."""
        return partial(draw_mean_ranks, self.mean_ranks, self.difference, title=title)


def require_river() -> None:
    """Say at once, and clearly, when River cannot be had."""
    try:
        import_module("river")
    except ImportError as error:
        raise MissingExtra.of("River", "bench", "measuring River's models") from error


#: By model, the error of each run.
Errors: TypeAlias = Mapping[str, NDArray[np.float64]]

#: Which groups of sources an item looks at, where it is not the group of its own name.
_GROUPS = {"ranks": tuple(SOURCES), "fig-ranks": tuple(SOURCES), "fig-weights": ()}


class AutoStudy(Study):
    """Errors of all models on all sources."""

    def __init__(self, request: Request) -> None:
        groups = {group for item in request.items for group in _GROUPS.get(item, (item,))}
        work = {
            source.name: float(source.rows * source.features * source.runs(request.runs))
            for group, sources in SOURCES.items()
            for source in sources
            if group in groups
        }
        if "forest" in request.items:
            # The forest takes about fifty times as long for a row as all the others together.
            work |= {_forest_stage(source): 50.0 * source.rows * source.features for source in forest_sources()}
        super().__init__(work, request)
        self._peers = self.at_hand("River", river_peers) or {}

    def errors(self, source: Source) -> Errors | None:
        """Errors of all models on this source; None where it is missing."""
        models = {**OURS, **self._peers} if source.rows <= RIVER_ROWS else OURS
        return self.once(source.name, lambda: self._measure(source.name, source, models, source.runs(self.runs)))

    def forest(self, source: Source) -> Errors | None:
        """Errors of the default and River's forest, in the first run."""
        stage = _forest_stage(source)
        models: Mapping[str, Error] = {AUTO: OURS[AUTO], RIVER_FOREST: RiverPeer(RIVER_FOREST)}
        return self.once(stage, lambda: self._measure(stage, source, models, 1))

    def _measure(self, stage: str, source: Source, models: Mapping[str, Error], runs: int) -> Errors | None:
        """Several runs in parallel, or the models of a single run."""
        if self.at_hand(source.name, lambda: source.table(0, self.seed)) is None:
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
