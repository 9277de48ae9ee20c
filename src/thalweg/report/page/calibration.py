"""Whether probabilities came true, in a sentence: what was expected, what came, and what to do. Nothing where they did.

The distance between mean probability and share of right predictions is averaged over bins, weighted by rows (the
expected calibration error). What chance alone would give is subtracted. From `_MATTERS` on it is said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from thalweg.report.page.formats import count, percent
from thalweg.report.page.rare_verdict import question
from thalweg.run_metrics import Known, Metrics

#: Rows without which nothing is said, and the mean distance that matters.
_LEAST_ROWS, _MATTERS = 1000, 0.05
#: From this part of the mean distance on it has a direction: all too high, or all too low.
_ONE_SIDED = 0.5
#: For a rare label: the ratio that matters of expected to observed rows, and their distance in standard errors.
_RATIO, _ERRORS = 1.5, 4.0
_ADVICE = "Recalibration corrects this on line: --model calibrated, or Recalibrated(model) in Python."


class _Bin(NamedTuple):
    low: float
    high: float
    rows: int
    expected: float
    came: float


def calibration_finding(metrics: Metrics) -> list[str]:
    """A sentence where probabilities are badly calibrated, else none."""
    sentence = _of_positive(metrics) or _of_predictions(metrics)
    if sentence is None:
        return []
    return [sentence if metrics["model"]["title"] == "Recalibrated" else f"{sentence} {_ADVICE}"]


def _of_predictions(metrics: Metrics) -> str | None:
    calibration = metrics.get("calibration")
    if calibration is None:
        return None
    bins = _bins(calibration["edges"], calibration["rows"], calibration["confidence"], calibration["accuracy"])
    rows = sum(each.rows for each in bins)
    if rows < _LEAST_ROWS:
        return None
    distance = sum(each.rows * abs(each.expected - each.came) for each in bins) / rows
    by_chance = sum(math.sqrt(2.0 / math.pi * each.rows * each.came * (1.0 - each.came)) for each in bins) / rows
    if distance - by_chance < _MATTERS:
        return None
    expected, came = (sum(each.rows * each[at] for each in bins) / rows for at in (3, 4))
    if abs(expected - came) < _ONE_SIDED * distance:
        worst = max(bins, key=lambda each: each.rows * abs(each.expected - each.came))
        between = f"{100 * worst.low:g} to {percent(worst.high)}"
        return (
            f"Probabilities are badly calibrated: of {count(worst.rows)} predictions with a probability of {between}, "
            f"{percent(worst.came)} were right."
        )
    word = "overconfident" if expected > came else "underconfident"
    return (
        f"The model was {word}: the probability of its predictions was {percent(expected)} on average, and "
        f"{percent(came)} of them were right."
    )


def _of_positive(metrics: Metrics) -> str | None:
    """Of the label of interest, whose rows are too few to show in the mean over all rows."""
    if question(metrics) in (None, "classes") or (reliability := metrics["rare"]["reliability"]) is None:
        return None
    bins = _bins(reliability["edges"], reliability["rows"], reliability["probability"], reliability["observed"])
    rows = sum(each.rows for each in bins)
    expected, came = (sum(each.rows * each[at] for each in bins) for at in (3, 4))
    fewer, more = sorted((expected, came))
    if rows < _LEAST_ROWS or more < _RATIO * fewer or more - fewer < _ERRORS * math.sqrt(more):
        return None
    high = "high" if expected > came else "low"
    label = metrics["rare"]["positive"]
    return (
        f"P({label}) was too {high}: {percent(expected / rows)} on average, and {percent(came / rows)} of the rows "
        f"were {label}."
    )


def _bins(edges: Sequence[float], rows: Sequence[int], expected: Sequence[Known], came: Sequence[Known]) -> list[_Bin]:
    """Those that have rows."""
    columns = zip(edges, edges[1:], rows, expected, came, strict=False)
    return [_Bin(low, high, n, p or 0.0, share or 0.0) for low, high, n, p, share in columns if n]
