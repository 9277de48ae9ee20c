"""Every two runs over the same rows, tested: by the rows that both scored, by blocks of them, and by windows.

A row counts where every score counts it: it was predicted, and its label came by the end of the run. A pair of runs is
compared over the rows that count in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.evaluate.significance import (
    Friedman,
    Interval,
    McNemar,
    Wilcoxon,
    friedman,
    holm,
    mcnemar_of_counts,
    nemenyi_difference,
    wilcoxon,
)
from thalweg.run.compare import DataSet, RecordedRun, has_predictions
from thalweg.run.compare_rare import rare_differences
from thalweg.run.scoreboard import BlockMeans
from thalweg.tables.cells import BadCell, numbers

#: Errors whose differences are reported, of labels and of numbers, in words.
ERRORS = {"error": "error", "mae": "absolute error", "mse": "squared error"}
#: Windows without which no test is made: fewer can never be significant at 0.05.
LEAST_WINDOWS = 6

Place = tuple[int, int]


@dataclass(frozen=True)
class Pair:
    """Two runs over the same rows; every p corrected for the number of pairs."""

    first: str
    second: str
    #: The first's error less the second's, each over the rows that its run scored.
    difference: float
    #: Over the rows that both runs scored.
    rows: McNemar | None
    windows: Wilcoxon | None
    #: The first's scores of a rare class less the second's; None where the runs are not about one.
    rare: Mapping[str, Interval] | None = None
    #: The first's errors less the second's, over blocks of rows that both scored; None where there are too few.
    errors: Mapping[str, Interval] | None = None


@dataclass(frozen=True)
class Ranking:
    """Models over several data sets, in the order of their names' first appearance."""

    names: tuple[str, ...]
    #: A line for each data set.
    errors: NDArray[np.float64]
    test: Friedman
    #: From which on two mean ranks differ.
    difference: float


def pairs(data: DataSet) -> list[Pair]:
    """Every two runs over a data set, tested by rows where both kept their predictions, and by windows."""
    names, runs = list(data.runs), list(data.runs.values())
    places = list(combinations(range(len(runs)), 2))
    by_rows: list[McNemar] = []
    errors: dict[Place, dict[str, Interval]] = {}
    rare = None
    if all(has_predictions(run, runs) for run in runs):
        only, blocks = _compared(runs, places)
        errors = _intervals(blocks)
        by_rows = [] if only is None else [mcnemar_of_counts(int(only[i, j]), int(only[j, i])) for i, j in places]
        rare = rare_differences([(run.metrics, run.parts()) for run in runs], data.rows)
    by_windows = [_over_windows(runs[i], runs[j]) for i, j in places]
    rows = [test._replace(p_value=p) for test, p in zip(by_rows, _corrected(by_rows), strict=True)]
    windows = [test._replace(p_value=p) for test, p in zip(by_windows, _corrected(by_windows), strict=True)]
    return [
        Pair(
            names[i],
            names[j],
            runs[i].error - runs[j].error,
            rows[at] if rows else None,
            windows[at] if windows[at].windows >= LEAST_WINDOWS else None,
            None if rare is None else rare[i, j],
            errors.get((i, j)),
        )
        for at, (i, j) in enumerate(places)
    ]


def ranking(sets: Sequence[DataSet]) -> Ranking:
    names = tuple(sets[0].runs)
    errors = np.array([[data.runs[name].error for name in names] for data in sets])
    return Ranking(names, errors, friedman(errors), nemenyi_difference(len(names), len(sets)))


def _corrected(tests: Sequence[McNemar] | Sequence[Wilcoxon]) -> list[float]:
    corrected: list[float] = holm([test.p_value for test in tests]).tolist()
    return corrected


def _over_windows(first: RecordedRun, second: RecordedRun) -> Wilcoxon:
    """Over windows that do not overlap, at points that both curves have."""
    window = max(run.metrics["curve"]["window"] for run in (first, second))
    errors = [run.errors_over_time for run in (first, second)]
    chosen: list[int] = []
    for row in sorted(errors[0].keys() & errors[1].keys()):
        if row >= (chosen[-1] if chosen else 0) + window and all(error[row] is not None for error in errors):
            chosen.append(row)
    one, other = ([error[row] for row in chosen] for error in errors)
    return wilcoxon(np.array(one, dtype=np.float64), np.array(other, dtype=np.float64))


class _Judged(NamedTuple):
    """Some rows of a run."""

    #: What all runs over them share, by its name.
    shared: dict[str, Any]
    #: Which rows count in the scores of the run.
    scored: NDArray[np.bool_]
    #: Errors of the rows by kind.
    errors: dict[str, NDArray[Any]]


def _judged(run: RecordedRun) -> Iterator[_Judged]:
    from pyarrow import compute

    names = ("row", "target" if run.of_numbers else "label", "prediction")
    for chunk, came in run.parts():
        if chunk.bad or not chunk.pieces or not set(names) <= set(chunk.column_names):
            raise InvalidInput(f"{run.predictions} is not the predictions.csv of a run")
        row, truth, prediction = (chunk.column(name) for name in names)
        if run.of_numbers:
            try:
                row, truth, prediction = map(numbers, (row, truth, prediction))
            except BadCell as error:
                raise InvalidInput(f"{run.predictions} is not the predictions.csv of a run: {error.what}") from error
            residual = np.where(came, truth - prediction, np.nan)
            errors = {"mae": np.abs(residual), "mse": np.square(residual)}
            yield _Judged({"rows": row, "targets": truth}, ~np.isnan(residual), errors)
        else:
            known = compute.and_(*(compute.not_equal(names, "") for names in (truth, prediction)))
            wrong = compute.not_equal(truth, prediction).to_numpy().astype(np.int64)
            yield _Judged({"rows": row, "labels": truth}, known.to_numpy().astype(np.bool_) & came, {"error": wrong})


def _compared(
    runs: Sequence[RecordedRun], places: Sequence[Place]
) -> tuple[NDArray[np.int64] | None, dict[Place, dict[str, BlockMeans]]]:
    """Of labels, entry (i, j): rows that both scored, on which run i erred and run j did not; by pair, the first's
    errors less the second's.
    """
    only = np.zeros((len(runs), len(runs)), dtype=np.int64)
    blocks: dict[Place, dict[str, BlockMeans]] = {place: {} for place in places}
    mistakes = np.zeros(len(runs), dtype=np.int64)
    for parts in zip_longest(*map(_judged, runs)):
        _require_same_rows(runs, parts)
        for i, j in places:
            both = parts[i].scored & parts[j].scored
            for name, errors in parts[i].errors.items():
                differences = errors[both] - parts[j].errors[name][both]
                blocks[i, j].setdefault(name, BlockMeans()).add(differences)
        if not runs[0].of_numbers:
            scored = np.array([part.scored for part in parts], dtype=np.int64)
            wrong = scored * np.array([part.errors["error"] for part in parts])
            mistakes += wrong.sum(axis=1)
            only += wrong @ (scored - wrong).T
    if runs[0].of_numbers:
        return None, blocks
    for run, count in zip(runs, mistakes.tolist(), strict=True):
        if count != round(run.error * run.metrics["rows"]["scored"]):
            raise InvalidInput(f"{run.predictions} does not belong to {run.path}: its errors are different")
    return only, blocks


def _require_same_rows(runs: Sequence[RecordedRun], parts: Sequence[_Judged | None]) -> None:
    first = parts[0]
    for run, part in zip(runs, parts, strict=True):
        files = f"{runs[0].predictions} and {run.predictions}"
        if first is None or part is None or len(part.scored) != len(first.scored):
            raise InvalidInput(f"{files} do not belong together: one has more rows than the other")
        for name, values in part.shared.items():
            other = first.shared[name]
            same = np.array_equal(values, other, equal_nan=True) if run.of_numbers else values.equals(other)
            if not same:
                raise InvalidInput(f"{files} do not belong together: their {name} differ")


def _intervals(blocks: Mapping[Place, Mapping[str, BlockMeans]]) -> dict[Place, dict[str, Interval]]:
    """Student's intervals by pair and kind of error, of pairs with enough blocks."""
    intervals = {}
    for pair, means in blocks.items():
        spread = {name: mean.interval() for name, mean in means.items()}
        if all(ends["low"] is not None for ends in spread.values()):
            intervals[pair] = {
                name: Interval(ends["difference"], ends["high"] - ends["difference"]) for name, ends in spread.items()
            }
    return intervals
