"""The measurements behind the study of the untuned default, each made once, when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import DataUnavailable, MissingExtra
from thalweg.experiments.auto_models import AUTO, OURS, RIVER_FOREST, Error, RiverPeer, river_peers
from thalweg.experiments.auto_streams import RIVER_ROWS, SOURCES, Source
from thalweg.experiments.progress import Meter, Progress
from thalweg.experiments.workers import run_all

#: By model, the error of each run.
Errors: TypeAlias = Mapping[str, NDArray[np.float64]]

#: Which groups of sources an item looks at, where it is not the group of its own name.
_GROUPS = {"ranks": tuple(SOURCES), "fig-ranks": tuple(SOURCES), "fig-weights": ()}


class Study:
    """Errors of all models on all sources.

    Attributes
    ----------
    notes : list of str
        What had to be left out, and why.
    """

    def __init__(self, items: Sequence[str], *, runs: int, seed: int, workers: int, progress: Progress) -> None:
        self.runs, self.seed, self.workers = runs, seed, workers
        self.notes: list[str] = []
        self._peers = self._river()
        self._measured: dict[str, Errors | None] = {}
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
        self._meter = Meter(work, progress)

    def errors(self, source: Source) -> Errors | None:
        """Of all models on this source; None where it is not at hand."""
        models = {**OURS, **self._peers} if source.rows <= RIVER_ROWS else OURS
        return self._once(source.name, source, models, source.runs(self.runs))

    def forest(self, source: Source) -> Errors | None:
        """Of the default and River's forest, in the first run."""
        return self._once(_forest_stage(source), source, {AUTO: OURS[AUTO], RIVER_FOREST: RiverPeer(RIVER_FOREST)}, 1)

    def _river(self) -> Mapping[str, Error]:
        try:
            return river_peers()
        except MissingExtra as error:
            self.notes.append(f"River is left out: {error}.")
            return {}

    def _once(self, stage: str, source: Source, models: Mapping[str, Error], runs: int) -> Errors | None:
        if stage not in self._measured:
            try:
                source.table(0, self.seed)
            except DataUnavailable as error:
                self._measured[stage] = None
                self.notes.append(f"Left out: {error}")
            else:
                self._measured[stage] = self._measure(source, models, runs, self._meter.stage(stage))
        return self._measured[stage]

    def _measure(
        self, source: Source, models: Mapping[str, Error], runs: int, finished: Callable[[float], None]
    ) -> Errors:
        """Runs side by side; of a single one, the models."""
        parts = [models] if runs > 1 else [{name: error} for name, error in models.items()]
        tasks = [partial(_errors, part, source, run, self.seed) for run in range(runs) for part in parts]
        results = run_all(tasks, self.workers, finished)
        return {name: np.array([result[name] for result in results if name in result]) for name in models}


def _errors(models: Mapping[str, Error], source: Source, run: int, seed: int) -> dict[str, float]:
    table = source.table(run, seed)
    return {name: error(table) for name, error in models.items()}


def forest_sources() -> list[Source]:
    """Sources short enough for the forest."""
    return [source for sources in SOURCES.values() for source in sources if source.rows <= RIVER_ROWS]


def _forest_stage(source: Source) -> str:
    return f"{source.name}, forest"
