"""How the labelled rows of a live model are scored, by the table of metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.drift import ChangeDetector, ResidualChanges
from thalweg.evaluate.layout import OF_CONFUSION, Layout, known, scores_over
from thalweg.evaluate.metrics import TERMS, Metric, Rows
from thalweg.kernels import compiled
from thalweg.tables.columns.key import key_number

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
#: By predictor and metric; None for what is not known.
Scores: TypeAlias = dict[str, dict[str, float | None]]

#: Labels of the recent scores; of those of a positive label, of which one in a hundred leaves a hundred.
WINDOW, POSITIVE_WINDOW = 1000, 10_000
#: What metrics of a positive label need.
_OF_POSITIVE = {"positive", "areas", "reliability", "costs"}

#: The number that stands for a label among scored rows.
label_number: Callable[[str], float] = lru_cache(4096)(key_number)


class Scoring:
    """Of a task.

    A line of numbers is kept of each labelled row: its label, what each predictor said, and what else there is to
    score; NaN for what there is not. A row is scored if all predictors said something.

    Parameters
    ----------
    metrics : iterable of Metric
        All of the task.
    predictors, more : tuples of str
        The model and its baselines; further fields of `Rows` in a line.
    loss, error : str
        The term by which champion and challenger are compared, and that whose changes are marked.
    changes : callable
        Makes what finds them.
    positive, costs, coverage
        Of the positive label and of intervals, where there are such.
    """

    def __init__(
        self,
        metrics: Iterable[Metric],
        predictors: tuple[str, ...],
        more: tuple[str, ...],
        *,
        loss: str,
        error: str,
        changes: Callable[[], ChangeDetector | ResidualChanges],
        positive: str | None = None,
        costs: Mapping[str, float] | None = None,
        coverage: float | None = None,
    ) -> None:
        self.predictors, self._more = predictors, more
        self._loss, self._error, self.changes = loss, error, changes
        self._positive, self._costs = None if positive is None else label_number(positive), costs
        self._coverage = coverage
        self.width = 1 + len(predictors) + len(more)
        self._has = self.rows(np.empty((0, self.width))).has | (set() if costs is None else {"costs"})
        given = [metric for metric in metrics if metric.applies(self._has)]
        #: Over all labels: metrics that are read from sums over rows.
        self.all = Layout((metric for metric in given if metric.of_rows), predictors)
        #: Lines that the recent scores look back on.
        self.window = WINDOW if positive is None else POSITIVE_WINDOW
        self.ranks = "areas" in self._has
        self._recent = {
            False: self._windows(given),
            True: self._windows(metric for metric in given if metric.over_time),
        }

    def _windows(self, metrics: Iterable[Metric]) -> dict[int, Layout]:
        """By the labels that they look back on."""
        by_window: dict[int, list[Metric]] = {WINDOW: [], POSITIVE_WINDOW: []}
        for metric in metrics:
            by_window[POSITIVE_WINDOW if _OF_POSITIVE & set(metric.needs) else WINDOW].append(metric)
        return {window: Layout(chosen, self.predictors, OF_CONFUSION) for window, chosen in by_window.items() if chosen}

    def rows(self, lines: Floats) -> Rows:
        truth, *columns = lines.T
        predictions = dict(zip(self.predictors, columns, strict=False))
        more = dict(zip(self._more, columns[len(self.predictors) :], strict=True))
        return Rows(truth, predictions, positive=self._positive, coverage=self._coverage, **more)

    def scored(self, lines: Floats) -> Flags:
        """Which rows every predictor had said something of: it may have come later, or have known no label yet."""
        return np.asarray(~np.isnan(lines[:, 1 : 1 + len(self.predictors)]).any(axis=1))

    def losses(self, lines: Floats) -> NDArray[Any]:
        return np.asarray(TERMS[self._loss].of(self.rows(lines), "model"))

    def errors(self, lines: Floats) -> NDArray[Any]:
        """Whether predictions were wrong, or by how much."""
        return np.asarray(TERMS[self._error].of(self.rows(lines), "model"))

    def over_all(self, means: Floats) -> Scores:
        return _known(self.all.scores(self.all.means(means), self._has))

    def over_recent(self, lines: Floats, areas: tuple[float, float] | None, *, followed: bool) -> Scores:
        """Of all metrics, or of those that are ``followed`` over time."""
        scores: Scores = {name: {} for name in self.predictors}
        for window, layout in self._recent[followed].items():
            for name, own in _known(scores_over(layout, self.rows(lines[-window:]), self._costs, areas)).items():
                scores[name] |= own
        return scores

    def push_areas(self, areas: compiled.RecentAuc, lines: Floats) -> None:
        """P(positive) of rows, which are ranked."""
        lines = lines[~np.isnan(lines[:, -1])]
        areas.push(np.ascontiguousarray(lines[:, -1]), lines[:, 0] == self._positive)


def _known(scores: Mapping[str, Mapping[str, float]]) -> Scores:
    return {name: known(values) for name, values in scores.items()}
