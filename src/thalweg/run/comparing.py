"""Is one run better than another? Paired tests over the same rows and windows, and ranks over several data sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.evaluate import (
    Friedman,
    McNemar,
    Wilcoxon,
    friedman,
    holm,
    mcnemar_of_counts,
    nemenyi_difference,
    wilcoxon,
)
from thalweg.run.recorded import DataSet, RecordedRun
from thalweg.sources import Chunk, chunks, open_source

#: Rows of each file in memory at a time.
_ROWS = 1 << 16
#: Windows without which no test is made: fewer can never be significant at 0.05.
LEAST_WINDOWS = 6


@dataclass(frozen=True)
class Pair:
    """Two runs over the same rows; every p corrected for the number of pairs."""

    first: str
    second: str
    #: The first's error less the second's.
    difference: float
    rows: McNemar | None
    windows: Wilcoxon | None


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
    """Every two runs over a data set, tested by rows where both kept their answers, and by windows."""
    names, runs = list(data.runs), list(data.runs.values())
    counts = _only(runs) if all(has_predictions(run, runs) for run in runs) else None
    places = list(combinations(range(len(runs)), 2))
    by_rows = [] if counts is None else [mcnemar_of_counts(int(counts[i, j]), int(counts[j, i])) for i, j in places]
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
        )
        for at, (i, j) in enumerate(places)
    ]


def has_predictions(run: RecordedRun, among: Sequence[RecordedRun]) -> bool:
    """Whether a run's answers are there; runs that share a folder cannot both have left them."""
    return run.predictions.is_file() and sum(each.predictions == run.predictions for each in among) == 1


def ranking(sets: Sequence[DataSet]) -> Ranking:
    """The models ranked over several data sets."""
    names = tuple(sets[0].runs)
    errors = np.array([[data.runs[name].error for name in names] for data in sets])
    return Ranking(names, errors, friedman(errors), nemenyi_difference(len(names), len(sets)))


def _corrected(tests: Sequence[McNemar] | Sequence[Wilcoxon]) -> list[float]:
    corrected: list[float] = holm([test.p_value for test in tests]).tolist()
    return corrected


def _over_windows(first: RecordedRun, second: RecordedRun) -> Wilcoxon:
    """Over windows that do not overlap, at points that both curves have."""
    curves = [run.metrics["curve"] for run in (first, second)]
    window = max(curve["window"] for curve in curves)
    errors = [dict(zip(curve["rows"], curve["error"]["model"], strict=True)) for curve in curves]
    chosen: list[int] = []
    for row in sorted(errors[0].keys() & errors[1].keys()):
        if row >= (chosen[-1] if chosen else 0) + window and all(error[row] is not None for error in errors):
            chosen.append(row)
    one, other = ([error[row] for row in chosen] for error in errors)
    return wilcoxon(np.array(one, dtype=np.float64), np.array(other, dtype=np.float64))


def _only(runs: Sequence[RecordedRun]) -> NDArray[np.int64]:
    """Entry (i, j): the rows on which run i erred and run j did not."""
    only = np.zeros((len(runs), len(runs)), dtype=np.int64)
    mistakes = np.zeros(len(runs), dtype=np.int64)
    for parts in zip_longest(*(_parts(run) for run in runs)):
        _require_same_labels(runs, parts)
        wrong = np.array([_wrong(part) for part in parts])
        mistakes += wrong.sum(axis=1)
        only += wrong.astype(np.int64) @ (~wrong).astype(np.int64).T
    for run, count in zip(runs, mistakes.tolist(), strict=True):
        rows = run.metrics["rows"]
        # Labels that had not come when the source ended are in the file, but not in the score.
        if not 0 <= count - round(run.error * rows["scored"]) <= rows["pending"]:
            raise InvalidInput(f"{run.predictions} does not hold the answers of {run.path}: its mistakes are others")
    return only


def _parts(run: RecordedRun) -> Iterator[Chunk]:
    source = open_source(run.predictions, delimiter=",")
    for chunk in chunks(source.blocks(), _ROWS):
        missing = {"row", "label", "answer"} - set(chunk.column_names if chunk.pieces else ())
        if missing or chunk.bad:
            raise InvalidInput(f"{run.predictions} does not hold the answers of a run")
        yield chunk


def _wrong(part: Chunk) -> NDArray[np.bool_]:
    from pyarrow import compute

    label, answer = part.column("label"), part.column("answer")
    wrong = compute.and_(compute.not_equal(label, ""), compute.not_equal(label, answer))
    return np.asarray(wrong.to_numpy(), dtype=np.bool_)


def _require_same_labels(runs: Sequence[RecordedRun], parts: Sequence[Chunk | None]) -> None:
    first = parts[0]
    for run, part in zip(runs, parts, strict=True):
        files = f"{runs[0].predictions} and {run.predictions}"
        if first is None or part is None or len(part) != len(first):
            raise InvalidInput(f"{files} do not belong together: one has more rows than the other")
        for name in ("row", "label"):
            if not part.column(name).equals(first.column(name)):
                raise InvalidInput(f"{files} do not belong together: their {name}s differ")
