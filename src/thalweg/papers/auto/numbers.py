"""The item ``numbers``: `AutoRegressor` beside the last value, the running mean and River's regressors.

Root mean squared error over the standard deviation of the target, each row predicted before it is learned, and how many
targets intervals of 90 % hold. All models see the same rows in the same run. River's models take nearly all the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import MissingExtra
from thalweg.learners.auto_regressor import AutoRegressor
from thalweg.papers.auto.sources import NUMBER_STREAMS, ChosenOn, NumberStream
from thalweg.papers.auto.study import Ranking, require_river
from thalweg.papers.registry import Finding, Outcome
from thalweg.papers.study import Request, Study, run_in_processes
from thalweg.report import tables

if TYPE_CHECKING:
    from rich.table import Table

ITEM = "numbers"
#: No more runs than this: River's models take six minutes for one.
MOST_RUNS = 3
#: Rows at the start whose errors are left out, rows of a window of the coverage, and rows of the whole coverage.
FIRST, WINDOW, COVERED = 20, 1000, 10_000
COVERAGE, WHOLE, ANY_WINDOW = 0.9, (0.89, 0.91), (0.85, 0.95)
#: How much more than the error of the last value is tolerated where that is the best prediction.
TOLERATED = 0.05

Floats: TypeAlias = NDArray[np.float64]
Predict: TypeAlias = Callable[[Floats, Floats], Floats]

AUTO, LINEAR, LAST, MEAN = "AutoRegressor", "AutoRegressor, linear", "Last value", "Running mean"
RIVER_LINEAR, RIVER_TREE = "River scaled linear", "River adaptive tree"
RIVER_FOREST, RIVER_NEIGHBOURS = "River adaptive forest", "River nearest neighbours"
_HEADERS = {
    AUTO: "Auto",
    LINEAR: "Auto,\nlinear",
    LAST: "last\nvalue",
    MEAN: "\nmean",
    RIVER_LINEAR: "River\nlinear",
    RIVER_TREE: "River\ntree",
    RIVER_FOREST: "River\nforest",
    RIVER_NEIGHBOURS: "River\nneigh.",
}
_GROUPS: Mapping[ChosenOn, str] = {
    "another seed": "tuned, another seed",
    "these rows": "tuned, these rows",
    "neither": "not tuned",
}


def _last(X: Floats, y: Floats) -> Floats:
    return np.concatenate([[0.0], y[:-1]])


def _mean(X: Floats, y: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(y)[:-1] / np.arange(1, len(y))])


def _linear(X: Floats, y: Floats) -> Floats:
    return AutoRegressor(curved=False).predict_then_learn(X, y)


@dataclass(frozen=True)
class RiverRegressor:
    """A regressor of River's, row by row, with its default settings.

    Lines extrapolate beyond all measure, also those in the leaves of a tree. So predictions of these two are held to
    the range of the targets before and a tenth of it on either side, as `AutoRegressor` holds those of its members.
    """

    name: str

    def __call__(self, X: Floats, y: Floats) -> Floats:
        model, predicted = self._model(), np.zeros(len(y))
        for i, (row, target) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
            x = dict(enumerate(row))
            predicted[i] = model.predict_one(x)
            model.learn_one(x, target)
        if self.name in (RIVER_LINEAR, RIVER_TREE):
            low, high = np.minimum.accumulate(y)[:-1], np.maximum.accumulate(y)[:-1]
            predicted[1:] = np.clip(predicted[1:], low - 0.1 * (high - low), high + 0.1 * (high - low))
        return predicted

    def _model(self) -> Any:
        if self.name == RIVER_FOREST:
            return import_module("river.forest").ARFRegressor(n_models=10, seed=0)
        scaler = import_module("river.preprocessing").StandardScaler()
        if self.name == RIVER_LINEAR:
            return scaler | import_module("river.linear_model").LinearRegression()
        if self.name == RIVER_TREE:
            return scaler | import_module("river.tree").HoeffdingAdaptiveTreeRegressor(seed=0)
        neighbors = import_module("river.neighbors")
        return scaler | neighbors.KNNRegressor(engine=neighbors.LazySearch(window_size=1000))


PEERS: Mapping[str, Predict] = {LINEAR: _linear, LAST: _last, MEAN: _mean}
RIVERS = {name: RiverRegressor(name) for name in (RIVER_LINEAR, RIVER_TREE, RIVER_FOREST, RIVER_NEIGHBOURS)}


class Coverage(NamedTuple):
    """The share of targets that intervals of 90 % hold: in the first rows, and the extremes of any 1,000 in a row."""

    whole: float
    lowest: float
    highest: float


class Scores(NamedTuple):
    """One run over a stream, or the means over several."""

    errors: Mapping[str, float]
    coverage: Coverage


def error(predicted: Floats, y: Floats) -> float:
    """Root mean squared error over the standard deviation of the target."""
    return float(np.sqrt(np.mean((predicted - y)[FIRST:] ** 2)) / y.std())


def coverage(inside: NDArray[np.bool_], judged_from: int = 0) -> Coverage:
    """The shares of rows whose target lay inside its interval."""
    sums = np.cumsum(np.append(0.0, inside[judged_from:]))
    windows = (sums[WINDOW:] - sums[:-WINDOW]) / WINDOW
    return Coverage(float(inside[:COVERED].mean()), float(windows.min()), float(windows.max()))


def measure(stream: NumberStream, run: int, seed: int, peers: Mapping[str, Predict]) -> Scores:
    """All models over the rows of a run."""
    X, y = stream.take(run, seed)
    predicted, lower, upper = AutoRegressor().predict_interval_then_learn(X, y, COVERAGE)
    errors = {AUTO: error(predicted, y), **{name: error(predict(X, y), y) for name, predict in peers.items()}}
    return Scores(errors, coverage((lower <= y) & (y <= upper), stream.judged_from))


def _measured(study: Study, stream: NumberStream, peers: Mapping[str, Predict]) -> Sequence[Scores]:
    """The scores of each run; none where the rows are not at hand."""
    finished = study.stage(stream.name)
    if study.at_hand(stream.name, lambda: stream.take(0, study.seed)) is None:
        return []
    runs = range(_runs_of(stream, study.runs))
    tasks = [partial(measure, stream, run, study.seed, peers) for run in runs]
    scores: dict[int, Scores] = {}
    for number, result in run_in_processes(tasks, study.workers):
        scores[number] = result
        finished(len(scores) / len(runs))
    return [scores[run] for run in runs]


def _runs_of(stream: NumberStream, runs: int) -> int:
    return runs if stream.generated else 1


#: By stream and model, the error of each run.
Errors: TypeAlias = Mapping[NumberStream, Mapping[str, Floats]]


def outcome(request: Request) -> Outcome:
    """The table, the bounds, and the critical-difference plot."""
    runs = min(request.runs, MOST_RUNS)
    work = {stream.name: float(stream.rows * _runs_of(stream, runs)) for stream in NUMBER_STREAMS}
    study = Study(work, replace(request, runs=runs))
    peers: dict[str, Predict] = dict(PEERS)
    try:
        require_river()
        peers |= RIVERS
    except MissingExtra as missing:
        study.notes.append(f"River's models are left out: {missing}")
    scores = {stream: by_run for stream in NUMBER_STREAMS if (by_run := _measured(study, stream, peers))}
    models = [name for name in _HEADERS if name == AUTO or name in peers]
    errors = {
        stream: {name: np.array([run.errors[name] for run in of_runs]) for name in models}
        for stream, of_runs in scores.items()
    }
    coverages = {stream: [run.coverage for run in of_runs] for stream, of_runs in scores.items()}
    means = np.array([[of_stream[name].mean() for name in models] for of_stream in errors.values()])
    return Outcome(
        f"Numbers: RMSE over the standard deviation of the target, seed {study.seed}, "
        f"{study.runs} run{'s' * (study.runs > 1)} of generated streams",
        (
            *(
                Finding.of_runs(stream.name, name, values)
                for stream, of_stream in errors.items()
                for name, values in of_stream.items()
            ),
            *(
                Finding.of_runs(stream.name, f"coverage, {name}", np.array(shares))
                for stream, of_runs in coverages.items()
                for name, shares in zip(Coverage._fields, zip(*of_runs, strict=True), strict=True)
            ),
        ),
        summary=(*_bounds(errors), *_against_river(errors), *_coverage_bounds(coverages)),
        notes=_notes(study),
        table=partial(_table, models, errors),
        draw=Ranking.of(models, means).drawn(f"Mean rank over {len(means)} streams of numbers (1 is best)"),
        timing=study.timing(),
    )


def _bounds(errors: Errors) -> list[str]:
    """Whether the error of the default is within its bound, on average and in the worst run."""
    said = [f"{AUTO}, mean of the runs and worst run, against its bound:"]
    for stream, of_stream in errors.items():
        ours, bound = of_stream[AUTO], stream.bound
        if stream.is_walk:
            ours, bound = ours / of_stream[LAST], 1.0 + TOLERATED
        if bound is not None:
            verdict = "met" if ours.max() <= bound else "met on average" if ours.mean() <= bound else "not met"
            of_last = " of the last value's" * stream.is_walk
            said.append(f"  {stream.name:<20} {ours.mean():.3f} {ours.max():.3f}  {bound:.3f}{of_last}, {verdict}")
    return said


def _against_river(errors: Errors) -> list[str]:
    rivers = [name for name in next(iter(errors.values())) if name in RIVERS]
    if not rivers:
        return []
    said = [f"Of {len(errors)} streams, {AUTO} has the lower error on"]
    for name in rivers:
        behind = [stream.name for stream, by_model in errors.items() if by_model[AUTO].mean() >= by_model[name].mean()]
        said.append(
            f"  {len(errors) - len(behind):>2}  against {name}" + (f", but not on {'; '.join(behind)}" * bool(behind))
        )
    return said


def _coverage_bounds(coverages: Mapping[NumberStream, Sequence[Coverage]]) -> list[str]:
    said = [f"Coverage of {COVERAGE:.0%} over {COVERED:,} rows, lowest and highest over any {WINDOW:,} in a row:"]
    for stream, runs in coverages.items():
        whole, lowest, highest = np.transpose(runs)
        said.append(f"  {stream.name:<20} {whole.mean():.1%}  {lowest.min():.1%} {highest.max():.1%}")
    wholes = [run.whole for runs in coverages.values() for run in runs]
    said.append(f"  over {COVERED:,} rows {_within(wholes, WHOLE)}")
    for stream, runs in coverages.items():
        if stream.judged_from:
            windows = [share for run in runs for share in (run.lowest, run.highest)]
            said.append(f"  {stream.name}, from row {stream.judged_from:,} on: {_within(windows, ANY_WINDOW)}")
    return said


def _within(shares: Sequence[float], bounds: tuple[float, float]) -> str:
    low, high = bounds
    verdict = "met" if low <= min(shares) and max(shares) <= high else "not met"
    return f"{min(shares):.1%} to {max(shares):.1%}, bound {low:.0%} to {high:.0%}, {verdict}"


def _table(models: Sequence[str], errors: Errors) -> Table:
    from rich.text import Text

    groups: dict[str, list[tables.Line]] = {}
    for stream, of_stream in errors.items():
        means = [float(of_stream[name].mean()) for name in models]
        cells = [Text(f"{mean:.3f}".removeprefix("0"), style="bold" if mean == min(means) else "") for mean in means]
        groups.setdefault(_GROUPS[stream.chosen_on], []).append([stream.name, *cells])
    return tables.sections(("", *(_HEADERS[name] for name in models)), groups, gap=1)


def _notes(study: Study) -> tuple[str, ...]:
    return (
        f"Each row is predicted before it is learned; errors of the first {FIRST} rows are left out. Least error in "
        f"bold. Auto is {AUTO}(), linear is {AUTO}(curved=False). Tuned: members and constants were chosen on this "
        "stream, with another seed or on these rows. Categories of Mv are numbers, in alphabetical order.",
        "River's models have their default settings; all but the forest of 10 trees are behind its StandardScaler, and "
        "neighbours are among the last 1,000 rows. The linear model and the tree diverge on some streams, so their "
        "predictions are held to the range of the targets before and a tenth of it.",
        *study.notes,
    )
