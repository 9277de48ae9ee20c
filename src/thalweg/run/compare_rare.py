"""Two runs over the same rows with a rare class: differences of areas, recall and cost, with intervals over blocks.

The scores of each block of consecutive rows are computed from the predictions of both runs. Mistakes of neighbouring
rows go together, so Student's interval is that of the differences of blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import Interval, mean_interval
from thalweg.kernels import compiled
from thalweg.report.page.content import Metrics
from thalweg.report.page.rare_verdict import question
from thalweg.tables import Chunk

Floats = NDArray[np.float64]

#: Blocks of a stream, and those with a score without which there is no interval.
BLOCKS, LEAST_BLOCKS = 20, 6
SCORES = ("pr_auc", "roc_auc", "recall", "cost")


def common_positive(runs: Sequence[Metrics]) -> str | None:
    """The label that all runs are about; None where a run is about the error or about another label."""
    about = ("positive", "costs", "alerts")
    asked = {run["rare"]["positive"] if question(run) in about else None for run in runs}
    return asked.pop() if len(asked) == 1 else None


def common_costs(runs: Sequence[Metrics]) -> Mapping[str, float] | None:
    """The costs of all runs; None where they differ or there are none."""
    costs = [run["rare"]["costs"] for run in runs]
    found = [None if each is None else (each["fp"], each["fn"]) for each in costs]
    return {"fp": found[0][0], "fn": found[0][1]} if found[0] is not None and len(set(found)) == 1 else None


def block_scores(
    parts: Iterable[Chunk], rows: int, positive: str, classes: int, costs: Mapping[str, float] | None
) -> dict[str, Floats]:
    """By score, a value for each block of a run's predictions, of so many rows and classes; NaN where there is none."""
    length = -(-rows // BLOCKS)
    found: dict[str, list[float]] = {name: [] for name in SCORES}
    for truth, said, scores in _blocks(parts, positive, classes, length):
        auc = compiled.WindowedAuc(max(len(truth), 1))
        known = ~np.isnan(scores)
        auc.push(np.ascontiguousarray(scores[known]), np.ascontiguousarray(truth[known]))
        positives = int(truth.sum())
        found["pr_auc"].append(auc.average_precision())
        found["roc_auc"].append(auc.roc_auc())
        found["recall"].append(int((truth & said).sum()) / positives if positives else math.nan)
        cost = math.nan
        if costs is not None and len(truth):
            cost = float(costs["fp"] * (said & ~truth).sum() + costs["fn"] * (truth & ~said).sum()) / len(truth)
        found["cost"].append(cost)
    return {name: np.array(values) for name, values in found.items()}


def differences(first: Mapping[str, Floats], second: Mapping[str, Floats]) -> dict[str, Interval]:
    """The first's scores less the second's, over the blocks in which both have one."""
    found = {}
    for name in SCORES:
        both = first[name] - second[name]
        both = both[~np.isnan(both)]
        if len(both) >= LEAST_BLOCKS:
            found[name] = mean_interval(both)
    return found


def _blocks(parts: Iterable[Chunk], positive: str, classes: int, length: int) -> Iterator[tuple[Any, Any, Floats]]:
    """Truth, prediction and P(positive) of the scored rows of each block, cut by row number."""
    held: list[tuple[Any, Any, Floats]] = []
    rows = 0
    for part in parts:
        columns = _columns(part, positive, classes)
        while len(columns[0]):
            room = length - rows
            label, answer, scores = columns
            held.append((label[:room], answer[:room], scores[:room]))
            rows += len(held[-1][0])
            columns = label[room:], answer[room:], scores[room:]
            if rows == length:
                yield _scored(held)
                held, rows = [], 0
    if held:
        yield _scored(held)


def _scored(held: list[tuple[Any, Any, Floats]]) -> tuple[Any, Any, Floats]:
    label, answer, scores = (np.concatenate(each) for each in zip(*held, strict=True))
    scored = (label >= 0) & (answer >= 0)
    return label[scored] == 1, answer[scored] == 1, scores[scored]


def _columns(part: Chunk, positive: str, classes: int) -> tuple[Any, Any, Floats]:
    """Label and answer as 1 for the positive, 0 for others and -1 for none; P(positive), NaN where it is not known."""
    label, answer = (_codes(part.column(name), positive) for name in ("label", "answer"))
    scores = np.full(len(label), np.nan)
    if f"P({positive})" in part.column_names:
        scores = _numbers(part.column(f"P({positive})"))
    elif classes == 2 and "probability" in part.column_names:
        top = _numbers(part.column("probability"))
        scores = np.where(answer == 1, top, 1.0 - top)
    return label, answer, scores


def _codes(column: Any, positive: str) -> NDArray[np.int64]:
    from pyarrow import compute

    is_positive = compute.equal(column, positive).to_numpy(zero_copy_only=False)
    is_empty = compute.equal(column, "").to_numpy(zero_copy_only=False)
    return np.where(is_empty, -1, is_positive.astype(np.int64))


def _numbers(column: Any) -> Floats:
    import pyarrow as pa
    from pyarrow import compute

    cells = compute.if_else(compute.equal(column, ""), None, column)
    found: Floats = compute.cast(cells, pa.float64()).to_numpy(zero_copy_only=False).astype(np.float64)
    return found
