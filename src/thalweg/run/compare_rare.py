"""Two runs over the same rows with a rare class: differences of areas, recall and cost, with intervals over blocks.

The differences are those of the scores in ``metrics.json``. Mistakes of neighbouring rows go together, so the interval
is that of the jackknife over blocks of consecutive rows of both ``predictions.csv``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.probability_scores import BinnedAuc
from thalweg.evaluate.significance import Interval, mean_interval
from thalweg.report.page.rare_verdict import question
from thalweg.run_metrics import Metrics
from thalweg.tables import Chunk
from thalweg.tables.cells import numbers

Floats = NDArray[np.float64]
#: Predictions, and which of their rows have a label that came by the end.
Part = tuple[Chunk, NDArray[np.bool_]]

#: Blocks of a stream, and those with rows of a kind without which there is no interval.
BLOCKS, LEAST_BLOCKS = 20, 6
SCORES = ("pr_auc", "roc_auc", "recall", "cost")


class BlockCounts(NamedTuple):
    """What the scores of a run are made of, by block; blocks can be added up."""

    #: Rows, false positives, false negatives and positives: a line for each block.
    outcomes: NDArray[np.int64]
    #: Negatives and positives by bin of P(positive), of the rows that have one.
    bins: NDArray[np.int64]


def rare_differences(
    runs: Sequence[tuple[Metrics, Iterable[Part]]], rows: int
) -> dict[tuple[int, int], dict[str, Interval]] | None:
    """By pair of runs over so many rows, the first's scores less the second's; None where the runs are not all about
    the same label.
    """
    metrics = [metrics for metrics, _ in runs]
    about = ("positive", "costs", "alerts")
    labels = {metrics["rare"]["positive"] if question(metrics) in about else None for metrics in metrics}
    positive = labels.pop()
    if labels or positive is None:
        return None
    costs = common_costs(metrics)
    counts = [block_counts(parts, rows, positive, len(run["confusion"]["classes"])) for run, parts in runs]
    return {
        (i, j): differences(counts[i], counts[j], (metrics[i], metrics[j]), costs)
        for i, j in combinations(range(len(runs)), 2)
    }


def common_costs(runs: Sequence[Metrics]) -> Mapping[str, float] | None:
    """The costs of all runs; None where they differ or there are none."""
    costs = [None if (own := run["rare"]["costs"]) is None else {"fp": own["fp"], "fn": own["fn"]} for run in runs]
    return costs[0] if all(cost == costs[0] for cost in costs) else None


def block_counts(parts: Iterable[Part], rows: int, positive: str, classes: int) -> BlockCounts:
    """The counts of a run's predictions, of so many rows and classes, by block; only rows whose label came count."""
    length, first = -(-rows // BLOCKS), 0
    outcomes, areas = np.zeros((BLOCKS, 4), dtype=np.int64), [BinnedAuc() for _ in range(BLOCKS)]
    for part, came in parts:
        label, predicted, scores = _columns(part, positive, classes)
        block = (first + np.arange(len(label))) // length
        first += len(label)
        scored = came & (label >= 0) & (predicted >= 0)
        for at in np.unique(block[scored]).tolist():
            own = scored & (block == at)
            truth, alarm, known = label[own] == 1, predicted[own] == 1, ~np.isnan(scores[own])
            outcomes[at] += [len(truth), (alarm & ~truth).sum(), (truth & ~alarm).sum(), truth.sum()]
            areas[at].push(scores[own][known], truth[known])
    return BlockCounts(outcomes, np.array([area.counts for area in areas]))


def differences(
    first: BlockCounts, second: BlockCounts, runs: tuple[Metrics, Metrics], costs: Mapping[str, float] | None
) -> dict[str, Interval]:
    """The first run's scores less the second's, with the jackknife interval of leaving out one block at a time.

    A score is left out that a run lacks, or that fewer than `LEAST_BLOCKS` blocks have anything to say about.
    """
    filled = (first.outcomes[:, 0] > 0) & (second.outcomes[:, 0] > 0)
    left_out = _left_out(first, filled, costs) - _left_out(second, filled, costs)
    blocks = np.minimum(_informative(first, filled), _informative(second, filled))
    one, two = (run["scores"]["model"] for run in runs)
    intervals = {}
    for at, name in enumerate(SCORES):
        ours, theirs = one.get(name), two.get(name)
        if ours is None or theirs is None or blocks[at] < LEAST_BLOCKS or (name == "cost" and costs is None):
            continue
        half = mean_interval((len(left_out) - 1) * left_out[:, at]).halfwidth
        intervals[name] = Interval(ours - theirs, half)
    return intervals


def _left_out(counts: BlockCounts, filled: NDArray[np.bool_], costs: Mapping[str, float] | None) -> Floats:
    """A line for each filled block: the scores over all others."""
    outcomes, bins = counts.outcomes[filled], counts.bins[filled]
    all_outcomes, all_bins = outcomes.sum(axis=0), bins.sum(axis=0)
    lines = [_scores(all_outcomes - counts, all_bins - own, costs) for counts, own in zip(outcomes, bins, strict=True)]
    return np.array(lines).reshape(-1, len(SCORES))


def _scores(outcomes: NDArray[np.int64], bins: NDArray[np.int64], costs: Mapping[str, float] | None) -> list[float]:
    rows, false, missed, positives = outcomes.tolist()
    area = BinnedAuc()
    area.counts = bins
    recall = 1.0 - missed / positives if positives else math.nan
    cost = (costs["fp"] * false + costs["fn"] * missed) / rows if costs is not None and rows else math.nan
    return [area.average_precision(), area.roc_auc(), recall, cost]


def _informative(counts: BlockCounts, filled: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many blocks say something about each score."""
    negatives, positives = (counts.bins[filled].sum(axis=2) > 0).sum(axis=0)
    with_positives = (counts.outcomes[filled, 3] > 0).sum()
    return np.array([positives, min(negatives, positives), with_positives, filled.sum()])


def _columns(part: Chunk, positive: str, classes: int) -> tuple[Any, Any, Floats]:
    """Label and prediction, 1 for the positive, 0 for others, -1 for none; P(positive), NaN where it is not known."""
    label, predicted = (_codes(part.column(name), positive) for name in ("label", "prediction"))
    scores = np.full(len(label), np.nan)
    if f"P({positive})" in part.column_names:
        scores = numbers(part.column(f"P({positive})"))
    elif classes == 2 and "probability" in part.column_names:
        top = numbers(part.column("probability"))
        scores = np.where(predicted == 1, top, 1.0 - top)
    return label, predicted, scores


def _codes(column: Any, positive: str) -> NDArray[np.int64]:
    from pyarrow import compute

    is_positive = compute.equal(column, positive).to_numpy(zero_copy_only=False)
    is_empty = compute.equal(column, "").to_numpy(zero_copy_only=False)
    return np.where(is_empty, -1, is_positive.astype(np.int64))
