"""Many models at once: a model per key beside a dict of models, and a sweep beside separate runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from mmap import PAGESIZE
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.contest import Contestant, Effort, Run
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record
from benchmarks.suite import Bench, Suite
from thalweg import OnlineLDC, kernels
from thalweg.fleet import Fleet, sweep

FEATURES = 5
ROWS, ROWS_IN_PYTHON, MODELS_IN_PYTHON = 500_000, 50_000, 10_000
STREAMS, ROWS_A_STREAM = 100, 4_000
KEYED, HELD = "rows of random keys", "what a key holds"
SWEPT = {
    "sweep, rate 1/2": OnlineLDC(0.5),
    "sweep, rate 0.1": OnlineLDC(0.1),
    "sweep, rate 0.1, soft counts": OnlineLDC(0.1, counts="soft"),
}


RATES, ROWS_OF_ONE, MOST_SWEEPS = 16, 100_000, 20
SETTINGS = "sweep, 16 rates over one stream"
#: Nanoseconds a row of a sweep, by the level of the kernels: where a vector has eight numbers.
FAST_SWEEP = {"v4": 8.0}


def measure(bench: Bench) -> Iterator[list[Record]]:
    """First the keys, then the sweeps."""
    yield from _keyed(bench, bench.effort.size)
    sweeps = [*(_over_streams(work, model) for work, model in SWEPT.items()), _over_settings()]
    effort = Effort(9 * bench.effort.rounds, bench.effort.seconds / 10)
    found = bench.measure_each(((one.contestants(), one.where) for one in sweeps), effort=effort)
    for one, records in zip(sweeps, found, strict=True):
        yield [replace(record, costs=tuple(cost / one.rows for cost in record.costs)) for record in records]


@dataclass(frozen=True)
class Together:
    """Many streams or settings in one sweep on one core, and one after the other; how many rows that is."""

    work: str
    together: Run
    separate: Run
    rows: int
    where: dict[str, int]

    def contestants(self) -> list[Contestant]:
        """Both, each as often as it has time."""
        return [
            Contestant(self.work, name, _again(run), MOST_SWEEPS, "ours", least=1)
            for name, run in (("sweep", self.together), ("separate runs", self.separate))
        ]


def _again(run: Run) -> Callable[[int], Run]:
    def prepare(times: int) -> Run:
        def several() -> None:
            for _ in range(times):
                run()

        return several

    return prepare


def _model() -> OnlineLDC:
    return OnlineLDC(0.05, counts="soft")


def _keyed(bench: Bench, keys: int) -> Iterator[list[Record]]:
    """A fleet of many keys, and a dict of fewer: Python could not hold so many."""
    rng = np.random.default_rng(0)
    fleet, where = Fleet(_model()), {"keys": keys}
    X, y, _ = _rows_of(rng, keys, keys)
    bench.progress(f"{keys:,} keys: the first ten rows of each")
    before, start = resident_bytes(), process_time()
    for _ in range(10):  # the start of every model, whose rows cost more: alone as in a fleet
        fleet.partial_fit(X, y, rng.permutation(keys))
    starting = (process_time() - start) / (10 * keys)
    held = (resident_bytes() - before) / keys
    state = sum(array.nbytes for array in fleet.model_of(0)._core.state().values())
    yield [
        Record(HELD, "the fleet, resident", where, "ours", (held,), "bytes", "key"),
        Record(HELD, "the fleet's own count", where, "ours", (fleet.n_bytes_ / keys,), "bytes", "key"),
        Record(HELD, "state as a model file holds it", where, "limit", (float(state),), "bytes", "key"),
    ]
    models = {}
    for key in range(min(keys, MODELS_IN_PYTHON)):
        models[key] = _model().partial_fit(X[key : key + 11], y[key : key + 11], classes=[0, 1])
    lone = _model().partial_fit(X, y)
    X, y, owners = _rows_of(rng, ROWS, keys)
    few = _rows_of(rng, ROWS_IN_PYTHON, len(models))

    def one_by_one(count: int) -> None:
        for x, label, key in zip(few[0][:count], few[1][:count].tolist(), few[2][:count].tolist(), strict=True):
            models[key].learn_one(x, label)

    contestants = [
        _on("Fleet.partial_fit", lambda n: fleet.partial_fit(X[:n], y[:n], owners[:n]), ROWS),
        _on("Fleet.predict_then_learn", lambda n: fleet.predict_then_learn(X[:n], y[:n], owners[:n]), ROWS),
        _on("one model alone", lambda n: lone.partial_fit(X[:n], y[:n]), ROWS),
        _on("dict of models, learn_one", one_by_one, ROWS_IN_PYTHON),
    ]
    first = Record(KEYED, "Fleet.partial_fit, first ten rows of a key", where, "ours", (starting,))
    yield [*bench.measure(contestants, where), first]


def _over_streams(work: str, model: OnlineLDC) -> Together:
    """Streams of two features."""
    X, y = _two_features((STREAMS, ROWS_A_STREAM))

    def separate() -> None:
        for stream in range(STREAMS):
            OnlineLDC(model.rate, counts=model.counts).predict_then_learn(X[stream], y[stream])

    where = {"streams": STREAMS, "rows": ROWS_A_STREAM}
    return Together(work, lambda: sweep(model, None, X, y, threads=1), separate, y.size, where)


def _over_settings() -> Together:
    """One stream at many rates."""
    X, y = _two_features((ROWS_OF_ONE,))
    rates = np.linspace(0.02, 0.9, RATES).tolist()

    def separate() -> None:
        for rate in rates:
            OnlineLDC(rate).predict_then_learn(X, y)

    def together() -> None:
        sweep(OnlineLDC(), {"rate": rates}, X, y, threads=1)

    where = {"settings": RATES, "rows": ROWS_OF_ONE}
    return Together(SETTINGS, together, separate, RATES * ROWS_OF_ONE, where)


def _two_features(shape: tuple[int, ...]) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, shape)
    return rng.normal(size=(*shape, 2)) + y[..., None], y


def _on(model: str, learn: Callable[[int], object], most: int) -> Contestant:
    def prepare(count: int) -> Run:
        return lambda: learn(count)

    return Contestant(KEYED, model, prepare, most, "ours")


def _rows_of(rng: np.random.Generator, rows: int, keys: int) -> tuple[Any, Any, Any]:
    y = rng.integers(0, 2, rows)
    return rng.normal(size=(rows, FEATURES)) + y[:, None], y, rng.integers(0, keys, rows)


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGESIZE


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """Rows a second of random keys, bytes a key, and nanoseconds a row of a sweep."""
    for record in records:
        if record.work == KEYED and record.model == "Fleet.partial_fit":
            yield Finding("rows of random keys learned a second", 1 / record.best, at_least=1e6)
        if record.work == HELD and record.model == "the fleet, resident":
            over = 1 / record.ratios["of the state"]
            yield Finding("bytes a key over those of the state alone", over, at_most=1.3)
        if record.model == "sweep":
            most = FAST_SWEEP.get(kernels.level) if record.work in SWEPT else None
            yield Finding(f"{record.work}, a row", 1e9 * record.best, at_most=most, unit="ns")
            yield Finding(f"{record.work}: times separate runs", record.ratios["× separate"])


SUITE = Suite(
    name="fleet",
    asks="What do many models at once cost, beside a dict of models and beside separate runs?",
    measure=measure,
    plot=dots("fleet", "Many models at once", panel="work"),
    full=Effort(rounds=7, seconds=0.5, size=1_000_000),
    quick=Effort(rounds=3, seconds=0.1, size=100_000),
    ratios={
        "× a dict": "dict of models",
        "of one alone": "one model alone",
        "× separate": "separate runs",
        "of the state": "state as",
    },
    findings=findings,
)
