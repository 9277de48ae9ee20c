"""Alert rules over what a service knows of its models: those of `thalweg run`, whose windows are fixed here."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from thalweg.errors import InvalidParameter
from thalweg.evaluate.alert_rules import WINDOW, AlertRule, Holding, followed
from thalweg.evaluate.metrics import METRICS
from thalweg.service.learning.column_watch import WatchView
from thalweg.service.learning.model_state import ModelState

_LOG = logging.getLogger(__name__)

#: What rules of a service may name: of its metrics, those that rules of a run may name, too.
VALUES = followed(METRICS.values(), {"positive", "intervals"})
#: Labels before the first check: scores of a few labels are chance.
LEAST_LABELS = 100


def service_rules(texts: Sequence[str]) -> list[AlertRule]:
    """Rules that a service can check; `InvalidParameter` for others."""
    rules = [AlertRule.parse(text) for text in texts]
    for rule in rules:
        if rule.window != WINDOW:
            raise InvalidParameter.of_option("alert", "leave out over in a service, whose windows are fixed", rule.text)
        if not rule.is_event and rule.metric not in VALUES:
            known = f"name a metric of a service, one of {', '.join(VALUES)}"
            raise InvalidParameter.of_option("alert", known, rule.text)
    return rules


class ServiceAlerts:
    """Checks the champion of each model whenever something was learned; for the threads that learn.

    A rule of a value fires once, and again only after it has ceased to hold. A restart forgets what fired. A rule of an
    event fires each time it happens while the service runs.

    Parameters
    ----------
    rules : sequence of AlertRule
    report : callable
        Takes each alert.
    begun : sequence of ModelState
        The models at the start: what happened before fires nothing.
    """

    def __init__(
        self, rules: Sequence[AlertRule], report: Callable[[dict[str, Any]], None], begun: Iterable[ModelState] = ()
    ) -> None:
        self._rules, self._report = list(rules), report
        self._events = {rule.metric for rule in rules if rule.is_event}
        #: By model, rows of its columns that were watched at the last check, and how often each event had happened.
        self._seen = {state.name: (state.watch.drift.rows, self._counts(state.watch)) for state in begun if state.watch}
        #: Rules whose column a model does not have.
        self._without_column: set[tuple[str, str]] = set()
        #: By model and rule.
        self._holding: dict[tuple[str, str], Holding] = {}
        #: Alerts so far, by rule.
        self.fired = {rule.text: 0 for rule in rules}
        self._one_at_a_time = threading.Lock()

    def check(self, state: ModelState) -> None:
        with self._one_at_a_time:
            self._check(state)

    def _check(self, state: ModelState) -> None:
        for rule in self._rules:
            if not rule.is_event:
                self._check_value(rule, state)
        if state.watch is not None:
            self._check_columns(state.name, state.watch)
            self._check_events(state, state.watch)

    def _check_value(self, rule: AlertRule, state: ModelState) -> None:
        view, key = state.learners[state.name].view, (state.name, rule.text)
        if rule.metric == "missing":
            count, enough = state.rows, True
            value = None if state.watch is None else state.watch.drift.missing_share(str(rule.column), WINDOW)
        else:
            count, enough, value = view.labels, len(view.lines) >= LEAST_LABELS, view.recent["model"].get(rule.metric)
        if self._holding.setdefault(key, Holding()).fires(rule, value if enough else None, count):
            self._fire(rule, state, {"value": value})

    def _check_events(self, state: ModelState, watch: WatchView) -> None:
        rows, seen = self._seen.get(state.name, (0, {}))
        if watch.drift.rows < rows:  # the columns were changed, and are watched anew
            seen = {}
        for metric in self._events:
            count, last = watch.happened(metric)
            new = min(count - seen.get(metric, 0), len(last))
            for change in last[len(last) - new :] if new > 0 else ():
                for rule in self._rules:
                    if rule.metric == metric and rule.column in (None, change.get("column")):
                        self._fire(rule, state, change)
        self._seen[state.name] = watch.drift.rows, self._counts(watch)

    def _counts(self, watch: WatchView) -> dict[str, int]:
        return {metric: watch.happened(metric)[0] for metric in self._events}

    def _check_columns(self, name: str, watch: WatchView) -> None:
        """Say of rules that can never fire for a model."""
        for rule in self._rules:
            unknown = rule.column is not None and rule.column not in watch.drift.names
            if unknown and watch.drift.names and (name, rule.text) not in self._without_column:
                self._without_column.add((name, rule.text))
                _LOG.warning("alert %s: model %s has no watched column %r", rule.text, name, rule.column)

    def _fire(self, rule: AlertRule, state: ModelState, event: Mapping[str, Any]) -> None:
        self.fired[rule.text] += 1
        counted = {"labels": state.learners[state.name].view.labels, "rows": state.rows, "time": state.time / 1e6}
        self._report({"rule": rule.text, "model": state.name, **event, **counted})
