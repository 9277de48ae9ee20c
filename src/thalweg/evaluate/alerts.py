"""Precision at the k highest scores of each period: "100 alerts a day".

The alerts of a period are the k rows with the highest probability of the positive class, the earlier one at a tie.
Labels may come late and out of order: a period stays open until a row comes that is `OPEN` periods later. Memory is
constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.record import Flags, Floats
from thalweg.parameters import whole_number
from thalweg.saved import Saved

#: Periods whose labels may still come.
OPEN = 64


@dataclass(frozen=True)
class Alerts:
    """A number of alerts per number of rows.

    Examples
    --------
    >>> Alerts(100, rows=10_000)
    Alerts(count=100, rows=10000)
    """

    count: int
    rows: int

    def __post_init__(self) -> None:
        whole_number("Alerts", "count", self.count, least=1)
        whole_number("Alerts", "rows", self.rows, least=1)


class AlertScores(NamedTuple):
    """Precision and recall of the alerts, over whole periods.

    Attributes
    ----------
    precision, recall : float
        The share of alerts that were positives, and the share of positives that were alerts; NaN where there is none.
    periods, alerts, positives, found : int
        Counts: of periods, of alerts, of positives, and of positives among the alerts.

    Examples
    --------
    >>> AlertScores(precision=0.5, recall=1.0, periods=1, alerts=2, positives=1, found=1).recall
    1.0
    """

    precision: float
    recall: float
    periods: int
    alerts: int
    positives: int
    found: int


class _Period(Saved):
    _saved = ("positives", "rows", "scores", "truth")

    def __init__(self) -> None:
        self.positives = 0
        #: Numbers of the rows, scores and truth of the best so far, the best first.
        self.rows = np.empty(0, dtype=np.int64)
        self.scores = np.empty(0)
        self.truth = np.empty(0, dtype=np.bool_)

    def add(self, rows: NDArray[np.int64], scores: Floats, truth: Flags, most: int) -> None:
        self.positives += int(truth.sum())
        rows, scores = np.concatenate([self.rows, rows]), np.concatenate([self.scores, scores])
        truth = np.concatenate([self.truth, truth])
        best = np.lexsort((rows, -scores))[:most]
        self.rows, self.scores, self.truth = rows[best], scores[best], truth[best]

    def counts(self) -> NDArray[np.int64]:
        return np.array([1, len(self.truth), self.positives, self.truth.sum()], dtype=np.int64)


class AlertMeter(Saved):
    """Keeps the scores of the k best rows of each period up to date.

    Parameters
    ----------
    count : int >= 1
        Alerts of a period.

    Examples
    --------
    >>> meter = AlertMeter(1)
    >>> day, scores, truth = np.array([1, 1, 1, 2, 2, 3]), np.array([0.1, 0.9, 0.5, 0.3, 0.2, 0.9]), [0, 1, 1, 0, 0, 1]
    >>> meter.update(day, np.arange(6), scores, np.array(truth, dtype=bool))
    >>> meter.scores()  # day 3 may not be over
    AlertScores(precision=0.5, recall=0.5, periods=2, alerts=2, positives=2, found=1)
    """

    _saved = ("_closed", "_latest", "_open")
    _made = (("_open", _Period),)

    def __init__(self, count: int) -> None:
        self.count = count
        #: Periods, alerts, positives and positives among the alerts, of periods that are closed.
        self._closed = np.zeros(4, dtype=np.int64)
        self._open: dict[int, _Period] = {}
        self._latest = int(np.iinfo(np.int64).min) + OPEN

    def update(self, period: NDArray[np.int64], rows: NDArray[np.int64], scores: Floats, positive: Flags) -> None:
        """Take in rows whose labels have come: their periods, their numbers, their scores, and the truth.

        A row of a period that is closed is left out.
        """
        if len(period) == 0:
            return
        latest = np.maximum(np.maximum.accumulate(period), self._latest)
        taken = period > latest - OPEN
        self._latest = int(latest[-1])
        period, rows, scores, positive = period[taken], rows[taken], scores[taken], positive[taken]
        order = np.argsort(period, kind="stable")
        different, first = np.unique(period[order], return_index=True)
        for number, places in zip(different.tolist(), np.split(order, first[1:]), strict=True):
            own = self._open.setdefault(number, _Period())
            own.add(rows[places], scores[places], positive[places], self.count)
        for number in sorted(self._open):
            if number <= self._latest - OPEN:
                self._closed += self._open.pop(number).counts()

    def scores(self) -> AlertScores:
        """The scores now, without the latest period, which may not be over, unless it is the only one."""
        whole = [self._open[period] for period in sorted(self._open)]
        if len(whole) > 1 or self._closed[0]:
            whole = whole[:-1]
        periods, alerts, positives, caught = (self._closed + sum(period.counts() for period in whole)).tolist()
        return AlertScores(
            caught / alerts if alerts else math.nan,
            caught / positives if positives else math.nan,
            periods,
            alerts,
            positives,
            caught,
        )
