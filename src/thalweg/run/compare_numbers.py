"""Runs that predict numbers side by side: differences of absolute and squared errors, row by row, over blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, zip_longest

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.evaluate import Interval
from thalweg.run.scoreboard import BlockMeans
from thalweg.tables import Chunk
from thalweg.tables.cells import BadCell, numbers

#: Errors whose differences are reported.
ERRORS = ("mae", "mse")
#: Of them, and of the error of labels.
NAMES = {"error": "error", "mae": "absolute error", "mse": "squared error"}

Floats = NDArray[np.float64]


def differences(
    runs: Mapping[str, Iterator[tuple[Chunk, NDArray[np.bool_]]]],
) -> dict[tuple[int, int], dict[str, Interval]]:
    """By pair of runs, the first's mean error less the second's, with Student's interval over blocks of rows.

    ``runs`` are predictions by the name of what holds them, with the rows whose target came by the end of the run. Rows
    count that have such a target and a prediction in both. A pair with too few blocks for an interval is left out.
    """
    files = list(runs)
    pairs = list(combinations(range(len(files)), 2))
    blocks = {pair: {name: BlockMeans() for name in ERRORS} for pair in pairs}
    for parts in zip_longest(*(_parts(file, parts) for file, parts in runs.items())):
        targets, given = _together(files, parts)
        residuals = [targets - each for each in given]
        for i, j in pairs:
            scored = ~np.isnan(residuals[i] + residuals[j])
            one, two = residuals[i][scored], residuals[j][scored]
            blocks[i, j]["mae"].add(np.abs(one) - np.abs(two))
            blocks[i, j]["mse"].add(np.square(one) - np.square(two))
    return intervals(blocks)


def intervals(blocks: Mapping[tuple[int, int], Mapping[str, BlockMeans]]) -> dict[tuple[int, int], dict[str, Interval]]:
    """Student's intervals by pair and kind of error, of pairs with enough blocks."""
    found = {}
    for pair, means in blocks.items():
        spread = {name: each.interval() for name, each in means.items()}
        if all(each["low"] is not None for each in spread.values()):
            found[pair] = {
                name: Interval(each["difference"], each["high"] - each["difference"]) for name, each in spread.items()
            }
    return found


def _parts(file: str, parts: Iterator[tuple[Chunk, NDArray[np.bool_]]]) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Numbers of the rows, targets, and predictions of rows whose target came; NaN for none."""
    for chunk, came in parts:
        names = ("row", "target", "prediction")
        if chunk.bad or not chunk.pieces or not set(names) <= set(chunk.column_names):
            raise InvalidInput(f"{file} does not hold the predictions of a run")
        try:
            row, target, prediction = (numbers(chunk.column(name)) for name in names)
        except BadCell as error:
            raise InvalidInput(f"{file} does not hold the predictions of a run: {error.what}") from error
        yield row, target, np.where(came, prediction, np.nan)


def _together(
    files: Sequence[str], parts: Sequence[tuple[Floats, Floats, Floats] | None]
) -> tuple[Floats, list[Floats]]:
    """The targets, which all files share, and the predictions of each."""
    first = parts[0]
    for file, part in zip(files, parts, strict=True):
        both = f"{files[0]} and {file}"
        if first is None or part is None or len(part[0]) != len(first[0]):
            raise InvalidInput(f"{both} do not belong together: one has more rows than the other")
        for name, one, two in zip(("rows", "targets"), first, part, strict=False):
            if not np.array_equal(one, two, equal_nan=True):
                raise InvalidInput(f"{both} do not belong together: their {name} differ")
    assert first is not None
    return first[1], [part[2] for part in parts if part is not None]
