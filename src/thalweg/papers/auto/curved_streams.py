"""The fifteen streams of the item ``curved``: boundaries of every shape, 1,797 to 12,000 rows.

They are the same in every run and for every seed, so that recorded results belong to the same rows. River's generators
need River; a stream whose source is missing raises `DataUnavailable` or `MissingExtra`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np

from thalweg.errors import MissingExtra
from thalweg.papers.auto.study import DataSet
from thalweg.streams import (
    ConceptStream,
    RotatingCheckerboard,
    Table,
    TurningXOR,
    WanderingDisc,
    load_covertype,
    load_elec2,
    load_sea_concepts,
    load_weather,
)

#: Rows of the longest streams; data sets are cut here.
ROWS = 12_000


def _first_rows(stream: ConceptStream, rows: int) -> Table:
    return Table(*stream.take(rows), stream.feature_names)


def river_datasets() -> Any:
    """River's generators; a `MissingExtra` where it is not installed."""
    try:
        return import_module("river.datasets")
    except ImportError as error:
        raise MissingExtra.of("River", "river", "drawing rows of River's generators") from error


def _from_river(streams: Callable[[Any], Iterable[Any]], rows: int) -> Table:
    """``rows`` rows of each of River's streams, one stream after the other."""
    pairs = [pair for stream in streams(river_datasets()) for pair in islice(stream, rows)]
    return Table([list(x.values()) for x, _ in pairs], np.array([int(y) for _, y in pairs]))


def _digits() -> Table:
    from sklearn.datasets import load_digits

    return Table(*load_digits(return_X_y=True))


def _bananas(datasets: Any) -> Iterable[Any]:
    return [datasets.Bananas()]


def _rbf(datasets: Any) -> Iterable[Any]:
    settings: Mapping[str, Any] = {"n_classes": 4, "n_features": 10, "n_centroids": 30, "n_drift_centroids": 30}
    return [datasets.synth.RandomRBFDrift(seed_model=1, seed_sample=2, change_speed=0.001, **settings)]


def _agrawal(datasets: Any) -> Iterable[Any]:
    make = datasets.synth.Agrawal
    return [make(classification_function=number, seed=number + 1, perturbation=0.05) for number in (0, 2, 4)]


def _sine(datasets: Any) -> Iterable[Any]:
    return [datasets.synth.Sine(classification_function=number, seed=number + 5) for number in (0, 1, 2)]


def _led(datasets: Any) -> Iterable[Any]:
    return [datasets.synth.LEDDrift(seed=1, noise_percentage=0.1, irrelevant_features=True, n_drift_features=4)]


def _waveform(datasets: Any) -> Iterable[Any]:
    return [datasets.synth.Waveform(seed=1)]


def _hyperplane(datasets: Any) -> Iterable[Any]:
    settings: Mapping[str, Any] = {"n_features": 10, "n_drift_features": 5}
    return [datasets.synth.Hyperplane(seed=1, mag_change=0.001, noise_percentage=0.05, **settings)]


def _river(name: str, streams: Callable[[Any], Iterable[Any]], rows: int, features: int, parts: int = 1) -> DataSet:
    return DataSet(name, name, partial(_from_river, streams, rows // parts), rows, features)


def _ours(name: str, stream: ConceptStream, rows: int = ROWS) -> DataSet:
    return DataSet(name, name, partial(_first_rows, stream, rows), rows, stream.n_features)


CURVED_STREAMS = (
    _river("Bananas", _bananas, 5300, 2),
    DataSet("Digits", "Digits", _digits, 1797, 64),
    _ours("Checkerboard", RotatingCheckerboard(seed=0), 8000),
    _ours("Wandering disc", WanderingDisc(seed=0)),
    _ours("Turning XOR", TurningXOR(seed=0)),
    _river("RBF drift", _rbf, ROWS, 10),
    _river("Agrawal 0, 2, 4", _agrawal, ROWS, 9, parts=3),
    _river("Sine 0, 1, 2", _sine, ROWS, 2, parts=3),
    _river("LED drift", _led, ROWS, 24),
    _river("Waveform", _waveform, 8000, 21),
    _river("Hyperplane", _hyperplane, ROWS, 10),
    DataSet("Covertype, 12 columns", "Covertype", partial(load_covertype, one_hot=False), ROWS, 12),
    DataSet("ELEC2, 6 features", "ELEC2", partial(load_elec2, "six"), ROWS, 6),
    DataSet("SEA concepts", "SEA", load_sea_concepts, ROWS, 3),
    DataSet("NOAA weather", "NOAA", load_weather, ROWS, 8),
)
