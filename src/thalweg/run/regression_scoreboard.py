"""Scores of a run that predicts numbers, in constant memory, with intervals for differences from block means."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.averages import HistoryPoints
from thalweg.evaluate.metrics import NUMBERS, Rows
from thalweg.run.coverage import LowestCoverage
from thalweg.run.error_by_size import ErrorBySize
from thalweg.run.scoreboard import Scoreboard, finite

Floats = NDArray[np.float64]

#: Rows of the course that is kept of the whole run, and rows at its end that are kept one by one.
_MOST_SAMPLES, _LAST_ROWS = 500, 200
#: Rows of the blocks of which the lowest coverage is kept.
_BLOCK = 1000


class RegressionScoreboard(Scoreboard):
    """Of the model and its baselines, with a sample of the rows, the errors by size and the coverage of intervals."""

    _saved = (*Scoreboard._saved, "course", "last", "by_size", "_lowest")

    def __init__(self, baselines: tuple[str, ...], coverage: float) -> None:
        super().__init__(NUMBERS, ("model", *baselines), {"mae": "absolute", "mse": "squared"})
        self.coverage = coverage
        #: Scored row, target, prediction and interval: some of the whole course, and the last ones.
        self.course = HistoryPoints[list[float | None]](_MOST_SAMPLES)
        self.last = np.empty((0, 5))
        self.by_size = ErrorBySize(self.predictors)
        self._lowest = LowestCoverage(_BLOCK)

    def add_numbers(
        self, truth: Floats, predictions: dict[str, Floats], lower: Floats, upper: Floats
    ) -> tuple[Floats, Rows]:
        """Take in rows whose targets have come, in that order; absolute errors of the predicted ones, and those."""
        predicted = ~np.isnan(predictions["model"])
        unpredicted = int((~predicted).sum())
        if unpredicted:
            truth, lower, upper = truth[predicted], lower[predicted], upper[predicted]
            predictions = {name: given[predicted] for name, given in predictions.items()}
        if len(truth):
            self._keep_course(np.column_stack([truth, predictions["model"], lower, upper]), unpredicted)
            with_interval = ~np.isnan(lower)
            covered = (lower <= truth) & (truth <= upper)
            self._lowest.add(covered[with_interval])
            residuals = np.column_stack([truth - predictions[name] for name in self.predictors])
            held = np.where(with_interval, covered, np.nan)
            self.by_size.add(truth, np.abs(residuals), residuals[:, 0], held)
        own = Rows(truth, predictions, lower=lower, upper=upper, coverage=self.coverage)
        return self.add(own, unpredicted)[:, 0], own

    def _keep_course(self, lines: Floats, unpredicted: int) -> None:
        number = np.arange(len(lines)) + self.unpredicted + unpredicted + self.rows + 1.0
        lines = np.column_stack([number, lines])
        for at in self.course.due_among(self.rows, len(lines)):
            self.course.add([finite(value) for value in lines[at].tolist()])
        self.last = np.concatenate([self.last, lines[-_LAST_ROWS:]])[-_LAST_ROWS:]

    # ------------------------------------------------------------------ what it says

    def intervals(self) -> dict[str, Any]:
        """How often intervals held the target, over rows that had one, and over the worst block of them."""
        scores = self.scores({"intervals"})["model"]
        means = self.layout.means(self._all.mean())["model"] if self.rows else None
        shares = {
            side: finite(means.per(side, "with_interval")) if means is not None else None for side in ("below", "above")
        }
        return {
            "asked": self.coverage,
            "rows": 0 if means is None else round(means.mean("with_interval") * self.rows),
            **{metric.name: scores[metric.name] for metric in NUMBERS if "intervals" in metric.needs},
            **shares,
            "lowest": self._lowest.metrics(),
            "block_rows": _BLOCK,
        }

    def predictions(self) -> dict[str, Any]:
        """Targets beside predictions and intervals: rows of the whole course, and the last ones."""
        keys = ("rows", "target", "prediction", "lower", "upper")
        last = [[finite(value) for value in line] for line in self.last.tolist()]

        def columns(lines: list[list[float | None]]) -> dict[str, list[Any]]:
            found = dict(zip(keys, (list(each) for each in zip(*lines, strict=True)), strict=True)) if lines else {}
            found = found or {key: [] for key in keys}
            return found | {"rows": [int(row or 0) for row in found["rows"]]}

        return {"every": self.course.every, "course": columns(self.course.points), "last": columns(last)}
