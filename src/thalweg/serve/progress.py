"""How a live model goes: its error as labels come, and looks at it on a grid of labels, thinned as they grow many.

All of it is a function of the labels in their order. How they came together in requests changes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.kernels import compiled
from thalweg.run.class_means import MeanWatch
from thalweg.run.drift import ChangeDetector
from thalweg.run.traces import trace_of

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: Labels of the windowed error, points kept at the most, and changes.
WINDOW, MOST_POINTS, MOST_CHANGES = 1000, 500, 200
#: Classes whose memory is told.
MOST_CLASSES = 64
#: What of the mean delay stays with every label.
_FADE = 0.99


@dataclass(frozen=True, slots=True)
class View:
    """How a model stands."""

    labels: int
    #: Over all labels, and over the last of them, with that of no-change.
    error: float | None
    recent: float | None
    no_change: float | None
    #: Seconds from an answer to its label, of late.
    delay: float | None


def point_of(view: View, model: Any, time: int, waiting: int, watch: MeanWatch) -> dict[str, Any]:
    """A point of the course: how a model stands, and what can be seen of it."""
    seen = trace_of(model)
    memory = dict(list(seen.get("effective_rows", {}).items())[:MOST_CLASSES])
    return {
        "time": time / 1e6,
        "labels": view.labels,
        "error": view.recent,
        "no_change": view.no_change,
        "rate": seen.get("rate"),
        "memory": memory,
        "half_life": {label: half_life(rows) for label, rows in memory.items()},
        "waiting": waiting,
        "delay": view.delay,
        "means": None if model is None else watch.look(model).get("means"),
    }


class Progress:
    """Of one model, under the name that it answers by."""

    def __init__(self) -> None:
        #: Labels learned, and those among them of rows that this model had answered.
        self.labels = self.scored = 0
        self.mistakes = self.no_change_mistakes = 0
        self.watch = MeanWatch()
        self.every = 1
        self.points: list[dict[str, Any]] = []
        self.changes: list[dict[str, Any]] = []
        self._detector = ChangeDetector()
        self._last = np.zeros((2, 0), dtype=np.bool_)
        self._delay = np.zeros(2)  # the fading sums of delays and of their weights

    @property
    def error(self) -> float | None:
        """The share of wrong answers, among all that got a label."""
        return self.mistakes / self.scored if self.scored else None

    def until_point(self) -> int:
        """How many labels may be learned before the next look is due."""
        return self.every - self.labels % self.every

    def add(self, wrong: Flags, no_change: Flags, delays: Floats, scored: Flags, times: NDArray[np.int64]) -> None:
        """Labels were learned, at most as many as `until_point` said.

        Parameters
        ----------
        wrong, no_change : arrays of bool
            Whether the model's answer, and the last label before it, were wrong.
        delays : array of float
            Seconds from each answer to its label.
        scored : array of bool
            Whether the model had answered the row at all: one that came later had not.
        times : array of int
            When the labels came.
        """
        self.labels += len(wrong)
        for i, values in enumerate((delays, np.ones(len(delays)))):
            out = np.empty(len(values))
            compiled.fade(values, _FADE, float(self._delay[i]), out)
            self._delay[i] = out[-1]
        if not scored.all():
            wrong, no_change, times = wrong[scored], no_change[scored], times[scored]
        if len(wrong) == 0:
            return
        before = self.scored
        self.scored += len(wrong)
        self.mistakes += int(wrong.sum())
        self.no_change_mistakes += int(no_change.sum())
        self._last = np.concatenate([self._last, np.stack([wrong, no_change])], axis=1)[:, -WINDOW:]
        for change in self._detector.add(wrong):
            self.changes.append({"time": int(times[change["found"] - before - 1]) / 1e6, "labels": change["row"]})
        self.changes = self.changes[-MOST_CHANGES:]

    def look(self, model: Any, time: int, waiting: int) -> None:
        """Keep a point, if this is a label of the grid."""
        if self.labels % self.every:
            return
        self.points.append(point_of(self.view(), model, time, waiting, self.watch))
        if len(self.points) > MOST_POINTS:
            self.points = self.points[1::2]
            self.every *= 2

    def view(self) -> View:
        """How it stands, for others to read."""
        error, no_change = self._last.mean(axis=1).tolist() if self._last.size else (None, None)
        delay = float(self._delay[0] / self._delay[1]) if self._delay[1] else None
        return View(self.labels, self.error, error, no_change, delay)

    def state(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "labels": [self.labels, self.scored, self.mistakes, self.no_change_mistakes],
            "watch": self.watch.state(),
            "every": self.every,
            "points": self.points,
            "changes": self.changes,
            "detector": self._detector.state(),
            "last": self._last.astype(int).tolist(),
            "delay": self._delay.tolist(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Progress:
        """Back from `state`."""
        found = cls()
        found.labels, found.scored, found.mistakes, found.no_change_mistakes = state["labels"]
        found.watch.restore(state["watch"])
        found.every, found.points, found.changes = state["every"], list(state["points"]), list(state["changes"])
        found._detector.restore(state["detector"])
        found._last = np.array(state["last"], dtype=np.bool_).reshape(2, -1)
        found._delay = np.array(state["delay"])
        return found


def half_life(rows: float) -> float | None:
    """After how many rows one counts half, in a memory of so many; None where nothing is forgotten yet.

    Weights that fade by (1 - 1/n) a row sum to n.

    Examples
    --------
    >>> round(half_life(100.0), 1)
    69.0
    """
    return math.log(0.5) / math.log1p(-1.0 / rows) if rows > 1.0 else None
