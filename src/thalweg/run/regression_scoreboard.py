"""Scores of a run that predicts numbers, in constant memory, with intervals for differences from block means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.averages import FadingMean, HistoryPoints, WindowedMean
from thalweg.evaluate.metrics import pinball_loss
from thalweg.run.error_by_size import ErrorBySize
from thalweg.run.lowest_coverage import LowestCoverage
from thalweg.run.scoreboard import FADE, MOST_POINTS, WINDOW, BlockMeans
from thalweg.saved import Saved

Floats = NDArray[np.float64]

#: Rows of the course that is kept of the whole run, and rows at its end that are kept one by one.
_MOST_SAMPLES, _LAST_ROWS = 500, 200
#: Rows of the blocks of which the lowest coverage is kept.
_BLOCK = 1000
_KINDS = ("absolute", "squared")
#: What is windowed beside the errors.
_OTHERS = ("residual", "covered", "width", "with_interval")


class RegressionScoreboard:
    """Of the model and its baselines, over rows whose target has come."""

    def __init__(self, baselines: tuple[str, ...], coverage: float) -> None:
        self.names = ("model", *baselines)
        self.coverage = coverage
        #: Rows that are scored, and those before them that have no prediction.
        self.rows = self.unpredicted = 0
        #: Sums of absolute and then of squared errors, of each predictor.
        self.sums = np.zeros(2 * len(self.names))
        #: After so many rows, the windowed means of errors and others, and the fading ones of errors.
        self.history = HistoryPoints[list[float]](MOST_POINTS)
        #: Scored row, target, prediction and interval: some of the whole course, and the last ones.
        self.course = HistoryPoints[list[float | None]](_MOST_SAMPLES)
        self.last = np.empty((0, 5))
        self.blocks = {name: {kind: BlockMeans() for kind in _KINDS} for name in baselines}
        self.by_size = ErrorBySize(self.names)
        self.intervals = IntervalScores(coverage)
        self._recent = WindowedMean(WINDOW, len(self.sums) + len(_OTHERS))
        self._fading = FadingMean(FADE, len(self.sums))

    def add(self, truth: Floats, predictions: dict[str, Floats], lower: Floats, upper: Floats) -> Floats:
        """Take in rows whose targets have come, in that order; the absolute errors of the predicted ones."""
        predicted = ~np.isnan(predictions["model"])
        if not predicted.all():
            self.unpredicted += int((~predicted).sum())
            truth, lower, upper = truth[predicted], lower[predicted], upper[predicted]
            predictions = {name: given[predicted] for name, given in predictions.items()}
        residuals = np.column_stack([truth - predictions[name] for name in self.names])
        errors = np.column_stack([np.abs(residuals), np.square(residuals)])
        if len(truth) == 0:
            return errors[:, 0]
        with_interval = ~np.isnan(lower)
        covered = np.where(with_interval, (lower <= truth) & (truth <= upper), np.nan)
        rows = [residuals[:, 0], np.nan_to_num(covered), np.nan_to_num(upper - lower), with_interval]
        self._add_points(np.column_stack([errors, *rows]), len(self.sums))
        self._keep_course(np.column_stack([truth, predictions["model"], lower, upper]))
        self.intervals.add(truth[with_interval], lower[with_interval], upper[with_interval])
        self.by_size.add(truth, errors[:, : len(self.names)], residuals[:, 0], covered)
        self.sums = np.cumsum(np.concatenate([self.sums[np.newaxis], errors]), axis=0)[-1]
        for at, name in enumerate(self.names[1:], 1):
            for kind, first in zip(_KINDS, (0, len(self.names)), strict=True):
                self.blocks[name][kind].add(errors[:, first] - errors[:, first + at])
        self.rows += len(truth)
        return errors[:, 0]

    def _add_points(self, columns: Floats, errors: int) -> None:
        """Points of the curve that fall among these rows."""
        at = self.history.due_among(self.rows, len(columns))
        rows = (at + self.unpredicted + self.rows + 1)[:, np.newaxis].astype(np.float64)
        means = self._recent.push_and_average(columns, at), self._fading.push_and_average(columns[:, :errors], at)
        for point in np.concatenate([rows, *means], axis=1).tolist():
            self.history.add(point)

    def _keep_course(self, lines: Floats) -> None:
        number = np.arange(len(lines)) + self.unpredicted + self.rows + 1.0
        lines = np.column_stack([number, lines])
        for at in self.course.due_among(self.rows, len(lines)):
            self.course.add([_known(value) for value in lines[at].tolist()])
        self.last = np.concatenate([self.last, lines[-_LAST_ROWS:]])[-_LAST_ROWS:]

    # ------------------------------------------------------------------ what it says

    def score(self, name: str) -> dict[str, Any]:
        """The errors of one predictor over all rows and over the last ones; None where nothing is known."""
        keys = ("absolute_error", "rmse", "r2", "recent_absolute_error", "recent_rmse")
        if self.rows == 0:
            return dict.fromkeys(keys)
        at, width = self.names.index(name), len(self.names)
        mean = self.names.index("running_mean")
        recent = self._recent.mean()
        reference = float(self.sums[width + mean])
        values = (
            float(self.sums[at]) / self.rows,
            math.sqrt(float(self.sums[width + at]) / self.rows),
            1.0 - float(self.sums[width + at]) / reference if reference > 0.0 else None,
            float(recent[at]),
            math.sqrt(float(recent[width + at])),
        )
        return dict(zip(keys, values, strict=True))

    def verdict(self) -> dict[str, Any]:
        """The model's error less each baseline's, with an interval; skill is the same as a share of the baseline's."""
        width = len(self.names)
        found: dict[str, Any] = {}
        for at, (name, blocks) in enumerate(self.blocks.items(), 1):
            found[name] = {}
            for kind, first in zip(_KINDS, (0, width), strict=True):
                reference = float(self.sums[first + at]) / self.rows if self.rows else 0.0
                difference = blocks[kind].interval(least=-reference)
                skill = {
                    key: -difference[end] / reference if reference > 0.0 and difference[end] is not None else None
                    for key, end in (("skill", "difference"), ("skill_low", "high"), ("skill_high", "low"))
                }
                found[name][kind] = difference | skill
        return found

    def curve(self) -> dict[str, Any]:
        width, points = len(self.names), self.history.points
        columns = np.array(points).reshape(-1, 1 + 2 * len(self.sums) + len(_OTHERS)).T

        def of(first: int, *, root: bool = False) -> dict[str, list[float]]:
            values = columns[first : first + width]
            return {
                name: each.tolist() for name, each in zip(self.names, np.sqrt(values) if root else values, strict=True)
            }

        others = 1 + 2 * width
        residual, covered, wide, with_interval = columns[others : others + len(_OTHERS)]
        fading = others + len(_OTHERS)
        return {
            "rows": columns[0].astype(np.int64).tolist(),
            "window": WINDOW,
            "absolute_error": of(1),
            "rmse": of(1 + width, root=True),
            "bias": residual.tolist(),
            "coverage": _shares(covered, with_interval),
            "width": _shares(wide, with_interval),
            "fade": FADE,
            "fading_absolute_error": of(fading),
            "fading_rmse": of(fading + width, root=True),
        }

    def predictions(self) -> dict[str, Any]:
        """Targets beside predictions and intervals: rows of the whole course, and the last ones."""
        keys = ("rows", "target", "prediction", "lower", "upper")
        last = [[_known(value) for value in line] for line in self.last.tolist()]

        def columns(lines: list[list[float | None]]) -> dict[str, list[Any]]:
            found = dict(zip(keys, (list(each) for each in zip(*lines, strict=True)), strict=True)) if lines else {}
            found = found or {key: [] for key in keys}
            return found | {"rows": [int(row or 0) for row in found["rows"]]}

        return {"every": self.course.every, "course": columns(self.course.points), "last": columns(last)}

    # ------------------------------------------------------------------ checkpoints

    def state(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "unpredicted": self.unpredicted,
            "sums": self.sums.tolist(),
            "curve": self.history.state(),
            "course": self.course.state(),
            "blocks": {
                name: {kind: each.state() for kind, each in blocks.items()} for name, blocks in self.blocks.items()
            },
            "by_size": self.by_size.state(),
            "intervals": self.intervals.state(),
            "faded": self._fading.sums.tolist(),
            "recent": self._recent.last,
            "last": self.last,
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.rows, self.unpredicted = int(state["rows"]), int(state["unpredicted"])
        self.sums = np.array(state["sums"])
        self.history.restore(state["curve"])
        self.course.restore(state["course"])
        for name, blocks in state["blocks"].items():
            for kind, each in blocks.items():
                self.blocks[name][kind].restore(each)
        self.by_size.restore(state["by_size"])
        self.intervals.restore(state["intervals"])
        self._fading.sums = np.array(state["faded"])
        self._recent.last, self.last = state["recent"], state["last"]


class IntervalScores(Saved):
    """How often intervals held the target, how wide they were, and the pinball loss of their ends.

    Examples
    --------
    >>> scores = IntervalScores(0.9)
    >>> scores.add(np.array([1.0, 5.0]), np.array([0.0, 0.0]), np.array([2.0, 2.0]))
    >>> found = scores.metrics()
    >>> found["coverage"], found["above"], found["mean_width"], round(found["pinball_upper"], 3)
    (0.5, 0.5, 2.0, 1.45)
    """

    _saved = ("_counts", "_sums", "_lowest")

    def __init__(self, asked: float) -> None:
        self.asked = asked
        #: Rows, and targets below and above their interval.
        self._counts = [0, 0, 0]
        #: Sums of the width and of the pinball losses of both ends.
        self._sums = np.zeros(3)
        self._lowest = LowestCoverage(_BLOCK)

    def add(self, truth: Floats, lower: Floats, upper: Floats) -> None:
        tail = (1.0 - self.asked) / 2.0
        below, above = truth < lower, truth > upper
        lines = np.column_stack(
            [upper - lower, *(pinball_loss(truth - end, tau) for end, tau in ((lower, tail), (upper, 1.0 - tail)))]
        )
        self._sums = np.cumsum(np.concatenate([self._sums[np.newaxis], lines]), axis=0)[-1]
        self._lowest.add(~(below | above))
        more = (len(truth), int(below.sum()), int(above.sum()))
        self._counts = [before + each for before, each in zip(self._counts, more, strict=True)]

    def metrics(self) -> dict[str, Any]:
        rows, below, above = self._counts
        shares = [1.0 - (below + above) / rows, below / rows, above / rows] if rows else [None] * 3
        means = (self._sums / rows).tolist() if rows else [None] * 3
        keys = ("coverage", "below", "above", "mean_width", "pinball_lower", "pinball_upper")
        return {
            "asked": self.asked,
            "rows": rows,
            **dict(zip(keys, [*shares, *means], strict=True)),
            "lowest": self._lowest.metrics(),
            "block_rows": _BLOCK,
        }


def _shares(sums: Floats, of: Floats) -> list[float | None]:
    return [each / rows if rows else None for each, rows in zip(sums.tolist(), of.tolist(), strict=True)]


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
