"""The alerts that fired in a run, by its rules.

A rule of a value is checked after every `EVERY` rows, once its window is full. It fires where it begins to hold, and
again only after it has ceased to. Nothing depends on how rows are cut into chunks. Cost: O(window / `EVERY`) a row.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidParameter
from thalweg.evaluate.alert_rules import AlertRule, Holding
from thalweg.evaluate.layout import Layout
from thalweg.evaluate.metrics import METRICS, Rows
from thalweg.option_names import option
from thalweg.saved import Saved

Floats = NDArray[np.float64]

EVERY = 50
#: Alerts of a rule that are kept; more are counted.
MOST = 200


class _Watch(Saved, Holding):
    """One rule of a value: the terms of the last rows, and since when it holds."""

    _saved = ("rows", "last", "since", "fired")

    def __init__(self, rule: AlertRule) -> None:
        self.rule = rule
        self.rows = 0
        self._layout = Layout([METRICS[rule.metric]] if rule.metric in METRICS else [], ["model"])
        #: The terms of the metric; of a column, whether each cell is missing.
        self.last = np.empty((0, len(self._layout.columns) or 1))

    def block(self, rows: Rows) -> NDArray[Any] | None:
        """What the rule adds up; None where it is about a column."""
        return self._layout.block(rows) if self._layout.columns else None

    def add(self, numbers: NDArray[np.int64], terms: NDArray[Any], log: AlertLog) -> None:
        together = np.concatenate([self.last, terms])
        before, window = len(self.last), self.rule.window
        for end in range(EVERY - self.rows % EVERY, len(numbers) + 1, EVERY):
            if self.rows + end >= window:
                self._check(together[before + end - window : before + end], int(numbers[end - 1]), end, log)
        self.rows += len(numbers)
        self.last = together[max(0, len(together) - window) :].copy()

    def _check(self, terms: Floats, row: int, end: int, log: AlertLog) -> None:
        means = terms.copy().mean(axis=0)
        metric = METRICS.get(self.rule.metric)
        value = float(means[0]) if metric is None else metric.read(self._layout.means(means)["model"])
        had_fired = self.fired
        if self.fires(self.rule, value, self.rows + end):
            log.fire({"rule": self.rule.text, "row": row, "value": value, "ended": None})
        elif had_fired and not self.fired:
            log.end(self.rule.text, row)


class AlertLog(Saved):
    """All rules of a run, and what fired.

    Examples
    --------
    >>> log = AlertLog([AlertRule.parse("error>0.5 over 50 rows")])
    >>> log.add_rows(np.arange(1, 201), Rows(np.zeros(200), {"model": np.arange(200) >= 100}))
    >>> log.fired
    [{'rule': 'error>0.5 over 50 rows', 'row': 150, 'value': 1.0, 'ended': None}]
    """

    _saved = ("fired", "_counts", "_watches")

    def __init__(self, rules: Sequence[AlertRule], say: Callable[[str], None] = lambda sentence: None) -> None:
        self.rules = list(rules)
        self.fired: list[dict[str, Any]] = []
        #: By rule, how often it fired.
        self._counts: dict[str, int] = {}
        #: Called with each alert when it fires.
        self._say = say
        self._watches = [_Watch(rule) for rule in rules if not rule.is_event]

    @property
    def gaps(self) -> set[str]:
        """The columns of which rules ask whether cells are missing."""
        return {str(watch.rule.column) for watch in self._watches if watch.rule.column is not None}

    def settle(self, metrics: Sequence[str], columns: Sequence[str], task: str) -> None:
        """Refuse rules of metrics or columns that this run does not have."""
        for rule in self.rules:
            if not rule.is_event and rule.metric not in metrics:
                why = f"{rule.metric} is not a metric of {task}"
                if task == "classification" and rule.metric in ("recall", "precision"):
                    why = f"{rule.metric} needs a label of interest: name it with {option('positive')}"
                raise InvalidParameter(f"{option('alert', rule.text)}: {why}")
            if rule.column is not None and rule.column not in columns:
                which = f"column {rule.column!r} among those that are watched"
                raise InvalidParameter(f"{option('alert', rule.text)}: there is no {which}")

    def add_rows(self, numbers: NDArray[np.int64], rows: Rows) -> None:
        """Rows that are scored, by their numbers."""
        for watch in self._watches:
            if (block := watch.block(rows)) is not None:
                watch.add(numbers, block, self)

    def add_gaps(self, numbers: NDArray[np.int64], gaps: Mapping[str, NDArray[np.bool_]]) -> None:
        """Rows by their numbers, and where each column is missing."""
        for watch in self._watches:
            if (gap := gaps.get(watch.rule.column or "")) is not None:
                watch.add(numbers, gap[:, np.newaxis], self)

    def add_event(self, metric: str, row: int, **event: Any) -> None:
        """Something happened at a row, to a column where one is named."""
        for rule in self.rules:
            if rule.metric == metric and rule.column in (None, event.get("column")):
                self.fire({"rule": rule.text, "row": row, **event})

    def fire(self, alert: dict[str, Any]) -> None:
        count = self._counts[alert["rule"]] = self._counts.get(alert["rule"], 0) + 1
        if count <= MOST:
            self.fired.append(alert)
            self._say(alert_words(alert))

    def end(self, rule: str, row: int) -> None:
        """The rule ceased to hold, whose last alert may have been counted only."""
        for alert in self.fired:
            if alert["rule"] == rule and alert["ended"] is None:
                alert["ended"] = row

    def recorded(self) -> dict[str, Any]:
        """What ``metrics.json`` holds."""
        left_out = sum(self._counts.values()) - len(self.fired)
        return {"rules": [rule.text for rule in self.rules], "fired": self._in_order(), "left_out": left_out}

    def lines(self) -> bytes:
        return "".join(f"{json.dumps(alert, ensure_ascii=False)}\n" for alert in self._in_order()).encode()

    def _in_order(self) -> list[dict[str, Any]]:
        """By row, and then by rule: the order in which they were found depends on the chunks."""
        places = {rule.text: at for at, rule in enumerate(self.rules)}
        return sorted(self.fired, key=lambda alert: (alert["row"], places[alert["rule"]], str(alert.get("column"))))


def alert_words(alert: Mapping[str, Any]) -> str:
    """One alert in a line.

    Examples
    --------
    >>> alert_words({"rule": "error>0.2", "row": 20480, "value": 0.2413, "ended": None})
    'Alert error>0.2 at row 20,480: 0.2413'
    """
    sentence = f"Alert {alert['rule']} at row {alert['row']:,}"
    if "value" in alert:
        return f"{sentence}: {alert['value']:.4g}"
    return f"{sentence}: {', '.join(str(alert[key]) for key in ('column', 'what') if key in alert)}".rstrip(": ")
