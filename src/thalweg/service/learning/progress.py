"""How a live model is doing: its error as labels come, its history, and champion against challenger.

The interval for the difference of two errors holds at every label (anytime-valid).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.averages import FadingMean, HistoryPoints, WindowedMean
from thalweg.evaluate.drift import ChangeDetector
from thalweg.run.history import MeanWatch, trace_of
from thalweg.service.learning.rare_progress import RareProgress

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: Labels of the windowed error, points kept at the most, and changes.
WINDOW, MOST_POINTS, MOST_CHANGES = 1000, 500, 200
#: Classes whose memory is part of a point.
MOST_CLASSES = 64
#: What of the mean delay stays with every label.
_FADE = 0.99
#: Decimals of a family's weight: each point of the history is part of every snapshot.
_WEIGHT_DIGITS = 4


@dataclass(frozen=True, slots=True)
class View:
    labels: int
    #: Over all labels, and over the last of them, with that of no-change.
    error: float | None
    recent: float | None
    no_change: float | None
    #: Seconds from a prediction to its label, recently.
    delay: float | None
    #: Of the families of a committee's members, where there are several: what kind of boundary the stream has.
    family_weights: dict[str, float] | None
    #: How the positive label is found, over the last labels, where the model has one.
    rare: dict[str, float | None] | None = None


def point_of(view: View, model: Any, time: int, waiting: int, watch: MeanWatch) -> dict[str, Any]:
    """A point of the history: how a model stands, and what can be seen of it."""
    seen = trace_of(model)
    memory = dict(list(seen.get("effective_rows", {}).items())[:MOST_CLASSES])
    families = {} if view.family_weights is None else {"family_weights": view.family_weights}
    rare = {} if view.rare is None else {"rare": view.rare}
    return (
        families
        | rare
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


class Progress:
    """Of one model, under the name that it answers by."""

    def __init__(self, rare: RareProgress | None = None) -> None:
        #: None of a model without a positive label.
        self.rare = rare
        #: Labels learned, and those among them of rows that this model had answered.
        self.labels = self.scored = 0
        self.mistakes = self.no_change_mistakes = 0
        self.watch = MeanWatch()
        self.history = HistoryPoints[dict[str, Any]](MOST_POINTS)
        self.changes: list[dict[str, Any]] = []
        self._detector = ChangeDetector()
        self._recent, self._delay = WindowedMean(WINDOW, 2), FadingMean(_FADE, 1)

    @property
    def error(self) -> float | None:
        """The share of wrong answers, among all that got a label."""
        return self.mistakes / self.scored if self.scored else None

    def until_point(self) -> int:
        """How many labels may be learned before the next point is due."""
        return self.history.until_next(self.labels)

    def add(self, wrong: Flags, no_change: Flags, delays: Floats, scored: Flags, times: NDArray[np.int64]) -> None:
        """Labels were learned, at most as many as `until_point` said, and came at these times.

        ``wrong`` and ``no_change`` say whether the model's answer, and the last label before it, were wrong; ``delays``
        are seconds from each answer to its label. Rows that are not ``scored`` have no prediction of the model: it came
        later, or knew no label yet.
        """
        self.labels += len(wrong)
        self._delay.push(delays[:, np.newaxis])
        if not scored.all():
            wrong, no_change, times = wrong[scored], no_change[scored], times[scored]
        if len(wrong) == 0:
            return
        before = self.scored
        self.scored += len(wrong)
        self.mistakes += int(wrong.sum())
        self.no_change_mistakes += int(no_change.sum())
        self._recent.push(np.stack([wrong, no_change], axis=1))
        for change in self._detector.add(wrong):
            self.changes.append({"time": int(times[change["found"] - before - 1]) / 1e6, "labels": change["row"]})
        self.changes = self.changes[-MOST_CHANGES:]

    def add_point(self, model: Any, time: int, waiting: int) -> None:
        """Keep a point of the history, if one is due after this label."""
        if self.history.is_due(self.labels):
            self.history.add(point_of(self.view(model), model, time, waiting, self.watch))

    def view(self, model: Any) -> View:
        error, no_change = self._recent.mean().tolist() if len(self._recent) else (None, None)
        delay = float(self._delay.mean()[0]) if self.labels else None
        weights = getattr(model, "family_weights_", {})
        families = {family: round(weight, _WEIGHT_DIGITS) for family, weight in weights.items()}
        rare = None if self.rare is None else self.rare.scores()
        return View(self.labels, self.error, error, no_change, delay, families if len(families) > 1 else None, rare)

    def state(self) -> dict[str, Any]:
        return {
            "labels": [self.labels, self.scored, self.mistakes, self.no_change_mistakes],
            "watch": self.watch.state(),
            "every": self.history.every,
            "points": self.history.points,
            "changes": self.changes,
            "detector": self._detector.state(),
            "last": self._recent.state(),
            "delay": self._delay.sums.tolist(),
            **({} if self.rare is None else {"rare": self.rare.state()}),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Progress:
        found = cls(RareProgress.from_state(state["rare"]) if "rare" in state else None)
        found.labels, found.scored, found.mistakes, found.no_change_mistakes = state["labels"]
        found.watch.restore(state["watch"])
        found.history.restore(state["every"], state["points"])
        found.changes = list(state["changes"])
        found._detector.restore(state["detector"])
        found._recent.restore(state["last"])
        found._delay.sums = np.array(state["delay"])
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


LEVEL = 0.95
#: A grid of λ, from the eager to the patient, with the same weight each.
_LAMBDAS = 0.9 * 2.0 ** (-np.arange(24) / 2)
_PRICES = -np.log1p(-_LAMBDAS) - _LAMBDAS
#: Fewer labels than this decide nothing, whatever the interval says.
LEAST_LABELS = 100


class Comparison:
    """The mistakes of two models on the same rows.

    Only rows that were asked after the record ``since`` are compared: both models answered them in the roles they have
    now.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> compared = Comparison()
    >>> compared.add(rng.random(4000) < 0.30, rng.random(4000) < 0.20)
    >>> low, high = compared.interval()
    >>> print(f"{compared.difference:.2f}, between {low:.2f} and {high:.2f}")
    0.11, between 0.08 and 0.15
    """

    def __init__(self, since: int = 0) -> None:
        self.since = since
        self.labels = 0
        self._sum = 0  # of the differences, in whole mistakes
        self._spread = 0.0  # the sum of (x_i − x̂_i)²

    def add(self, champion: NDArray[np.bool_], challenger: NDArray[np.bool_]) -> None:
        """Take in whether each of the two was wrong, label by label."""
        if len(champion) == 0:
            return
        differences = champion.astype(np.int64) - challenger
        sums = self._sum + np.concatenate([[0], np.cumsum(differences)])
        # The guess is the mean so far, drawn towards 0 by one label.
        guesses = sums[:-1] / (2.0 * np.arange(self.labels + 1, self.labels + 1 + len(differences)))
        spreads = np.square(differences / 2.0 - guesses)
        # cumsum adds one by one, so that it does not matter how the labels came
        self._spread = float(np.cumsum(np.concatenate([[self._spread], spreads]))[-1])
        self._sum = int(sums[-1])
        self.labels += len(differences)

    @property
    def difference(self) -> float | None:
        """The champion's error less the challenger's."""
        return self._sum / self.labels if self.labels else None

    def interval(self) -> tuple[float, float] | None:
        """Where the mean difference is, at `LEVEL`, however often one looks."""
        if self.labels == 0:
            return None
        half = 2.0 * self._deviation() / self.labels
        centre = self._sum / self.labels
        return max(-1.0, centre - half), min(1.0, centre + half)

    def _deviation(self) -> float:
        """The largest s for which the mean of exp(λ s − ψ(λ) V) is at most 2/α: ours, by halving."""
        limit = math.log(2.0 / (1.0 - LEVEL))
        low, high = 0.0, float(self.labels) + limit / _LAMBDAS[0] + 1.0
        for _ in range(60):
            middle = (low + high) / 2
            exponents = _LAMBDAS * middle - _PRICES * self._spread
            top = float(exponents.max())
            mean = top + math.log(float(np.exp(exponents - top).mean()))
            low, high = (middle, high) if mean <= limit else (low, middle)
        return float(high)

    def winner(self) -> str | None:
        """Which of the two is better beyond doubt, "champion" or "challenger"; None while it is open."""
        found = self.interval()
        if found is None or self.labels < LEAST_LABELS or found[0] <= 0.0 <= found[1]:
            return None
        return "challenger" if found[0] > 0.0 else "champion"

    def state(self) -> dict[str, Any]:
        return {"since": self.since, "labels": self.labels, "sum": self._sum, "spread": self._spread}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Comparison:
        compared = cls(state["since"])
        compared.labels, compared._sum, compared._spread = state["labels"], state["sum"], state["spread"]
        return compared
