"""How a live regression model is doing: its errors beside those of the last value and of the mean; its intervals."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.client.history_responses import RecentPredictions
from thalweg.evaluate.residual_changes import FIRST, ResidualChanges
from thalweg.service.learning.progress import WINDOW, Floats, Progress, View, family_weights

Flags = NDArray[np.bool_]

#: What is kept of a labelled row: the mean and the last value are those known when it was predicted.
_COLUMNS = ("target", "prediction", "lower", "upper", "last_value", "running_mean")
#: Predictions of the chart, and their digits.
_SHOWN, _DIGITS = 200, 6


@dataclass(frozen=True, slots=True)
class Residuals:
    """Labelled rows in `_COLUMNS`; NaN where there was no prediction."""

    rows: Floats

    @property
    def scored(self) -> Flags:
        return np.asarray(~np.isnan(self.rows).any(axis=1))

    @property
    def losses(self) -> Floats:
        return np.square(self.rows[:, 0] - self.rows[:, 1])

    @property
    def errors(self) -> Floats:
        return np.abs(self.rows[:, 0] - self.rows[:, 1])

    def __getitem__(self, rows: slice | Flags) -> Residuals:
        return Residuals(self.rows[rows])


def _terms(rows: Floats) -> Floats:
    """By row: absolute and squared error of the model, of the last value and of the mean; covered or not; width."""
    target, prediction, lower, upper, last, mean = rows.T
    errors = [target - prediction, target - last, target - mean]
    return np.stack(
        [
            *(part for each in errors for part in (np.abs(each), np.square(each))),
            (lower <= target) & (target <= upper),
            upper - lower,
        ],
        axis=1,
    )


def scores_of(means: Floats | None) -> dict[str, float | None]:
    """All scores, from the means of the terms over some rows; None where they are not known.

    ``r2`` compares the squared error with that of the mean, ``skill`` with that of the last value: 1 is perfect, 0 is
    no better.
    """
    absolute, squared, last_absolute, last_squared, mean_absolute, mean_squared, covered, width = (
        [None] * 8 if means is None else means.tolist()
    )
    return {
        "mae": absolute,
        "rmse": None if squared is None else math.sqrt(squared),
        "r2": 1.0 - squared / mean_squared if mean_squared else None,
        "skill": 1.0 - squared / last_squared if last_squared else None,
        "coverage": covered,
        "width": width,
        "last_value_mae": last_absolute,
        "running_mean_mae": mean_absolute,
    }


class RegressionProgress(Progress[Residuals]):
    """Scores over the last `WINDOW` labels, and over all.

    Examples
    --------
    >>> progress = RegressionProgress()
    >>> rows = np.array([[1.0, 1.5, 0.5, 2.5, 3.0, 2.0], [2.0, 1.5, 0.5, 1.75, 1.0, 1.0]])
    >>> rises = progress.add(Residuals(rows), np.zeros(2), np.zeros(2, dtype=np.int64))
    >>> scores = progress.view(None).scores
    >>> {name: round(scores[name], 2) for name in ("mae", "r2", "skill", "coverage", "width")}
    {'mae': 0.5, 'r2': 0.75, 'skill': 0.9, 'coverage': 0.5, 'width': 1.62}
    """

    def __init__(self) -> None:
        super().__init__()
        self._sums = np.zeros(8)
        self._recent = np.empty((0, len(_COLUMNS)))
        self._residuals = ResidualChanges()
        self._found = 0  # the row at which the last change was found

    @property
    def error(self) -> float | None:
        """The mean absolute error."""
        return float(self._sums[0] / self.scored) if self.scored else None

    def _score(self, outcome: Residuals, recent: Residuals) -> list[dict[str, Any]]:
        rows = outcome.rows
        self._recent = np.concatenate([self._recent, recent.rows])[-WINDOW:]
        terms = _terms(rows)
        # cumsum adds one by one, so that it does not matter how the labels came
        self._sums = np.cumsum(np.concatenate([self._sums[np.newaxis], terms]), axis=0)[-1]
        self._residuals.add(terms[:, 0])
        new = [change for change in self._residuals.changes() if change["found"] > self._found]
        self._found = max((change["found"] for change in new), default=self._found)
        # The first rows are looked at together, once the last of them is there.
        return [change | {"found": max(change["found"], FIRST), "after": change["seen"]} for change in new]

    def view(self, model: Any) -> View:
        scores = scores_of(_terms(self._recent).mean(axis=0) if len(self._recent) else None)
        return View(
            self.labels,
            self.error,
            scores["mae"],
            scores["last_value_mae"],
            self._recent_delay(),
            family_weights(model),
            scores=scores,
            all_scores=scores_of(self._sums / self.scored if self.scored else None),
            recent_labels=len(self._recent),
        )

    def recent_predictions(self) -> Callable[[], RecentPredictions]:
        return partial(_recent_predictions, self.scored, self._recent)

    def state(self) -> dict[str, Any]:
        recent = base64.b64encode(self._recent.astype("<f8").tobytes()).decode()
        counts = [self.labels, self.scored, self._found]
        return self._state(counts, self._residuals.state(), recent) | {"sums": self._sums.tolist()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> RegressionProgress:
        found = cls()
        found._restore(state)
        found._recent = np.frombuffer(base64.b64decode(state["last"]), "<f8").astype(np.float64).reshape(-1, 6)
        found._residuals.restore(state["detector"])
        found._sums, found._found = np.array(state["sums"]), state["labels"][2]
        return found


def _recent_predictions(scored: int, rows: Floats) -> RecentPredictions:
    """The last rows of those that were scored, for a chart."""
    rows = rows[-_SHOWN:]
    columns = ([float(f"{value:.{_DIGITS}g}") for value in column] for column in rows.T[:4].tolist())
    return RecentPredictions(list(range(scored - len(rows) + 1, scored + 1)), *columns)
