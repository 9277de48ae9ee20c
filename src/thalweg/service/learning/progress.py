"""How a live model is doing: its scores as labels come, its history, and the labels at which its error changed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import orjson
from numpy.typing import NDArray

from thalweg.client.history_responses import RecentPredictions
from thalweg.evaluate.averages import CumulativeMean, FadingMean, HistoryPoints
from thalweg.evaluate.model_history import MeanWatch, trace_of
from thalweg.evaluate.scoring import Floats, Scores, Scoring
from thalweg.kernels import compiled
from thalweg.saved import Saved

#: Points kept at the most, and changes.
MOST_POINTS, MOST_CHANGES = 300, 200
#: Classes whose memory is part of a point.
MOST_CLASSES = 64
#: What of the mean delay stays with every label.
_FADE = 0.99
#: Decimals of a family's weight, digits of a score: each point of the history is part of every snapshot.
_WEIGHT_DIGITS, _DIGITS = 4, 6
#: Predictions of the chart.
_SHOWN = 200


@dataclass(frozen=True)
class View:
    """How a model stood at some moment; scores are computed when somebody asks."""

    scoring: Scoring
    #: Learned, and those of rows that were predicted.
    labels: int
    scored: int
    #: Seconds from a prediction to its label, recently.
    delay: float | None
    #: Sums over all scored rows; lines of the last of them. A model that has just taken a name has none of these.
    sums: Floats
    lines: Floats
    #: Under the curves of P(positive), over these lines.
    areas: tuple[float, float] | None

    @cached_property
    def all(self) -> Scores:
        """Over all labels."""
        return self.scoring.over_all(self.sums / self.scored if self.scored else np.full(len(self.sums), math.nan))

    @cached_property
    def recent(self) -> Scores:
        """Over the last labels."""
        return self.scoring.over_recent(self.lines, self.areas, followed=False)

    @property
    def scores(self) -> Scores:
        """Over all labels, and with ``recent_`` before their names over the last ones."""
        return {
            name: self.all[name] | {f"recent_{metric}": value for metric, value in scores.items()}
            for name, scores in self.recent.items()
        }

    @property
    def error(self) -> float | None:
        """Over all labels, by the metric that models are compared by."""
        return next(iter(self.all["model"].values()))

    def predictions(self) -> RecentPredictions | None:
        """The last rows that were scored, for a chart; None of classes."""
        rows = self.scoring.rows(self.lines[-_SHOWN:])
        if rows.lower is None:
            return None
        columns = (rows.truth, rows.predictions["model"], rows.lower, rows.upper)
        number = range(self.scored - len(rows.truth) + 1, self.scored + 1)
        return RecentPredictions(list(number), *([_short(value) for value in column.tolist()] for column in columns))


def point_of(view: View, model: Any, time: int, waiting: int, watch: MeanWatch) -> dict[str, Any]:
    """A point of the history: how a model stands, and what can be seen of it."""
    seen = trace_of(model)
    memory = dict(list(seen.get("effective_rows", {}).items())[:MOST_CLASSES])
    families = family_weights(model)
    return {
        "time": time / 1e6,
        "labels": view.labels,
        "scores": {
            name: {metric: None if value is None else _short(value) for metric, value in scores.items()}
            for name, scores in view.scoring.over_recent(view.lines, view.areas, followed=True).items()
        },
        "rate": seen.get("rate"),
        "memory": memory,
        "half_life": {label: half_life(rows) for label, rows in memory.items()},
        "waiting": waiting,
        "delay": view.delay,
        "means": None if model is None else watch.snapshot(model).get("means"),
        **({} if families is None else {"family_weights": families}),
    }


class Progress(Saved):
    """Of one model, under the name that clients ask.

    Examples
    --------
    >>> from thalweg.service.learning.regression import Regression
    >>> progress = Progress(Regression().scoring)
    >>> lines = np.array([[1.0, 1.5, 3.0, 2.0, 2.0, 0.5, 2.5], [2.0, 1.5, 1.0, 1.0, 1.0, 0.5, 1.75]])
    >>> rises = progress.add(lines, np.zeros(2), np.zeros(2, dtype=np.int64))
    >>> scores = progress.view().scores["model"]
    >>> {name: round(scores[name], 2) for name in ("mae", "r2", "skill", "recent_coverage", "recent_mean_width")}
    {'mae': 0.5, 'r2': 0.75, 'skill': 0.9, 'recent_coverage': 0.5, 'recent_mean_width': 1.62}
    """

    _saved: ClassVar[tuple[str, ...]] = (
        "labels",
        "scored",
        "watch",
        "history",
        "changes",
        "promotions",
        "_detector",
        "_all",
        "_lines",
        "_delay",
    )

    def __init__(self, scoring: Scoring) -> None:
        self.scoring = scoring
        #: Labels learned, and those among them of rows that this model had predicted.
        self.labels = self.scored = 0
        self.watch = MeanWatch()
        #: Each as JSON, which is smaller than a dict and written to snapshots as it is.
        self.history = HistoryPoints[str](MOST_POINTS)
        self.changes: list[dict[str, Any]] = []
        #: When another model took this name.
        self.promotions: list[dict[str, Any]] = []
        self._detector = scoring.changes()
        self._all = CumulativeMean(len(scoring.all.columns))
        self._lines = np.empty((0, scoring.width))
        self._delay = FadingMean(_FADE, 1)
        self._rank(self._lines)

    def _rank(self, lines: Floats) -> None:
        self._areas = compiled.RecentAuc(rows=self.scoring.window) if self.scoring.ranks else None
        if self._areas is not None:
            self.scoring.push_areas(self._areas, lines)

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._rank(self._lines)

    def view(self) -> View:
        delay = float(self._delay.mean()[0]) if self.labels else None
        areas = None if self._areas is None else (self._areas.roc_auc(), self._areas.average_precision())
        return View(self.scoring, self.labels, self.scored, delay, self._all.sums, self._lines, areas)

    def until_point(self) -> int:
        """How many labels may be learned before the next point is due."""
        return self.history.until_next(self.labels)

    def add(self, lines: Floats, delays: Floats, times: NDArray[np.int64]) -> list[dict[str, Any]]:
        """Labels were learned, at most as many as `until_point` said, and came at these times.

        ``lines`` are those of their rows (`Scoring`), ``delays`` seconds from each prediction to its label. Returns the
        rises of the error that were found now: the first ``row``, the row by which it was ``found``, and the error
        ``before`` and ``after``, up to there.
        """
        self.labels += len(delays)
        self._delay.push(delays[:, np.newaxis])
        scored = self.scoring.scored(lines)
        if not scored.any():
            return []
        lines, times, asked = lines[scored], times[scored], (times - np.rint(1e6 * delays).astype(np.int64))[scored]
        before = self.scored
        self.scored += len(lines)
        self._all.push(self.scoring.all.block(self.scoring.rows(lines)))
        # Those that the model had predicted which has this name now.
        recent = lines[asked >= round(1e6 * self.promotions[-1]["time"])] if self.promotions else lines
        self._lines = np.concatenate([self._lines, recent])[-self.scoring.window :]
        if self._areas is not None:
            self.scoring.push_areas(self._areas, recent)
        changes = self._detector.add(self.scoring.errors(lines))
        for change in changes:
            self.changes.append({"time": int(times[change["found"] - before - 1]) / 1e6, "labels": change["row"]})
        self.changes = self.changes[-MOST_CHANGES:]
        return [change for change in changes if change["after"] > change["before"]]

    def add_point(self, model: Any, time: int, waiting: int) -> None:
        """Keep a point of the history, if one is due after this label."""
        if self.history.is_due(self.labels):
            self.history.add(orjson.dumps(point_of(self.view(), model, time, waiting, self.watch)).decode())

    def change_places(self, other: Self, time: int) -> None:
        """Two models have changed names: recent scores go with the model, the history stays with the name."""
        self._lines, other._lines = other._lines, self._lines
        self._areas, other._areas = other._areas, self._areas
        for own in (self, other):
            own.promotions = [*own.promotions, {"time": time / 1e6, "labels": own.labels}][-MOST_CHANGES:]


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def family_weights(model: Any) -> dict[str, float] | None:
    """The weights of a committee's families, where it has several."""
    weights = getattr(model, "family_weights_", {})
    families = {family: round(weight, _WEIGHT_DIGITS) for family, weight in weights.items()}
    return families if len(families) > 1 else None


def half_life(rows: float) -> float | None:
    """After how many rows one counts half, in a memory of so many; None where nothing is forgotten yet.

    Weights that fade by (1 - 1/n) a row sum to n.

    Examples
    --------
    >>> round(half_life(100.0), 1)
    69.0
    """
    return math.log(0.5) / math.log1p(-1.0 / rows) if rows > 1.0 else None
