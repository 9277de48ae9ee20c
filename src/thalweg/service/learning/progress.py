"""How a live model is doing: its error as labels come, its history, and the labels at which the error changed."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from thalweg.client.history_responses import RecentPredictions
from thalweg.evaluate.averages import FadingMean, HistoryPoints
from thalweg.evaluate.model_history import MeanWatch, trace_of

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: Labels of the recent scores, points kept at the most, and changes.
WINDOW, MOST_POINTS, MOST_CHANGES = 1000, 500, 200
#: Classes whose memory is part of a point.
MOST_CLASSES = 64
#: What of the mean delay stays with every label.
_FADE = 0.99
#: Decimals of a family's weight: each point of the history is part of every snapshot.
_WEIGHT_DIGITS = 4


class Outcome(Protocol):
    """What one learner had predicted for rows, set against their labels; indexed as an array is."""

    @property
    def scored(self) -> Flags:
        """Which rows it had a prediction for: it may have come later, or have known no label yet."""

    @property
    def losses(self) -> NDArray[Any]:
        """By which champion and challenger are compared."""

    @property
    def errors(self) -> NDArray[Any]:
        """Whether predictions were wrong, or by how much: what a rise of the error is about."""

    def __getitem__(self, rows: slice | Flags) -> Self: ...


OutcomeT = TypeVar("OutcomeT", bound=Outcome)


@dataclass(frozen=True, slots=True)
class View:
    labels: int
    #: Over all labels, and over the last of them, with that of no-change: the error rate, or the mean absolute error.
    error: float | None
    recent: float | None
    no_change: float | None
    #: Seconds from a prediction to its label, recently.
    delay: float | None
    #: Of the families of a committee's members, where there are several: what kind of boundary the stream has.
    family_weights: dict[str, float] | None
    #: How the positive label is found, over the last labels, where the model has one.
    rare: dict[str, float | None] | None = None
    #: Of regression, all scores over the last labels, and over all labels.
    scores: dict[str, float | None] | None = None
    all_scores: dict[str, float | None] | None = None
    #: How many labels the last ones are: a model that has just taken a name begins anew.
    recent_labels: int = 0


def point_of(view: View, model: Any, time: int, waiting: int, watch: MeanWatch) -> dict[str, Any]:
    """A point of the history: how a model stands, and what can be seen of it."""
    seen = trace_of(model)
    memory = dict(list(seen.get("effective_rows", {}).items())[:MOST_CLASSES])
    families = {} if view.family_weights is None else {"family_weights": view.family_weights}
    rare = {} if view.rare is None else {"rare": view.rare}
    scores = {} if view.scores is None else {"scores": view.scores}
    return (
        families
        | rare
        | scores
        | {
            "time": time / 1e6,
            "labels": view.labels,
            "error": view.recent,
            "no_change": view.no_change,
            "rate": seen.get("rate"),
            "memory": memory,
            "half_life": {label: half_life(rows) for label, rows in memory.items()},
            "waiting": waiting,
            "delay": view.delay,
            "means": None if model is None else watch.snapshot(model).get("means"),
        }
    )


class Progress(ABC, Generic[OutcomeT]):
    """Of one model, under the name that clients ask; each task scores its own way."""

    #: Attributes with the recent scores.
    _RECENT: ClassVar[tuple[str, ...]] = ("_recent",)

    def __init__(self) -> None:
        #: Labels learned, and those among them of rows that this model had predicted.
        self.labels = self.scored = 0
        self.watch = MeanWatch()
        #: Each as JSON, which is smaller than a dict and written to snapshots as it is.
        self.history = HistoryPoints[bytes](MOST_POINTS)
        self.changes: list[dict[str, Any]] = []
        #: When another model took this name.
        self.promotions: list[dict[str, Any]] = []
        self._delay = FadingMean(_FADE, 1)

    @property
    @abstractmethod
    def error(self) -> float | None:
        """Over all labels that were scored."""

    @abstractmethod
    def _score(self, outcome: OutcomeT, recent: OutcomeT) -> Iterable[dict[str, Any]]:
        """Take in rows that are all scored; the changes of the error.

        Each has its first ``row``, the row by which it was ``found``, and the error ``before`` and ``after``, up to
        there.

        ``recent`` are those that the model had predicted which has this name now.
        """

    @abstractmethod
    def view(self, model: Any) -> View: ...

    @abstractmethod
    def recent_predictions(self) -> Callable[[], RecentPredictions] | None:
        """What gives the last labelled rows as they are now, whenever it is called; None of classes."""

    def until_point(self) -> int:
        """How many labels may be learned before the next point is due."""
        return self.history.until_next(self.labels)

    def add(self, outcome: OutcomeT, delays: Floats, times: NDArray[np.int64]) -> list[dict[str, Any]]:
        """Labels were learned, at most as many as `until_point` said, and came at these times.

        ``delays`` are seconds from each prediction to its label. Returns the rises of the error that were found now:
        the first ``row``, the row by which it was ``found``, and the error ``before`` and ``after``, up to there.
        """
        self.labels += len(delays)
        self._delay.push(delays[:, np.newaxis])
        asked = times - np.rint(1e6 * delays).astype(np.int64)
        if not outcome.scored.all():
            outcome, times, asked = outcome[outcome.scored], times[outcome.scored], asked[outcome.scored]
        if len(times) == 0:
            return []
        before = self.scored
        self.scored += len(times)
        recent = outcome[asked >= round(1e6 * self.promotions[-1]["time"])] if self.promotions else outcome
        found = list(self._score(outcome, recent))
        for change in found:
            self.changes.append({"time": int(times[change["found"] - before - 1]) / 1e6, "labels": change["row"]})
        self.changes = self.changes[-MOST_CHANGES:]
        return [change for change in found if change["after"] > change["before"]]

    def add_point(self, model: Any, time: int, waiting: int) -> None:
        """Keep a point of the history, if one is due after this label."""
        if self.history.is_due(self.labels):
            self.history.add(_packed(point_of(self.view(model), model, time, waiting, self.watch)))

    def change_places(self, other: Self, time: int) -> None:
        """Two models have changed names: recent scores go with the model, the history stays with the name."""
        for attribute in self._RECENT:
            mine, its = getattr(self, attribute), getattr(other, attribute)
            setattr(self, attribute, its)
            setattr(other, attribute, mine)
        for each in (self, other):
            each.promotions = [*each.promotions, {"time": time / 1e6, "labels": each.labels}][-MOST_CHANGES:]

    def _recent_delay(self) -> float | None:
        return float(self._delay.mean()[0]) if self.labels else None

    def _state(self, labels: list[int], detector: dict[str, Any], recent: Any) -> dict[str, Any]:
        return {
            "labels": labels,
            "promotions": self.promotions,
            "watch": self.watch.state(),
            "every": self.history.every,
            "points": [orjson.Fragment(point) for point in self.history.points],
            "changes": self.changes,
            "detector": detector,
            "last": recent,
            "delay": self._delay.sums.tolist(),
        }

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """For orjson to write; what it reads again is restored."""

    def _restore(self, state: dict[str, Any]) -> None:
        self.labels, self.scored = state["labels"][:2]
        self.watch.restore(state["watch"])
        self.history.restore({"every": state["every"], "points": [_packed(point) for point in state["points"]]})
        self.changes = list(state["changes"])
        self.promotions = list(state["promotions"])
        self._delay.sums = np.array(state["delay"])


def _packed(point: dict[str, Any]) -> bytes:
    """JSON in as many bytes as it has: behind what `orjson.dumps` returns, up to 4 kB stay allocated."""
    return memoryview(orjson.dumps(point)).tobytes()


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
