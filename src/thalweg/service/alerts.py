"""Alert rules over what a service knows of its models."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from thalweg.errors import InvalidParameter
from thalweg.run.alert_rules import WINDOW, AlertRule
from thalweg.service.learning.model_state import ModelState
from thalweg.service.learning.progress import View

#: By metric of a rule, the gauge of ``/metrics`` that holds it.
GAUGES = {
    "error": "thalweg_model_recent_error_ratio",
    "recall": "thalweg_model_recall_ratio",
    "precision": "thalweg_model_precision_ratio",
    "mae": "thalweg_model_recent_mean_absolute_error",
    "rmse": "thalweg_model_recent_root_mean_squared_error",
    "coverage": "thalweg_model_recent_interval_coverage_ratio",
}
#: Labels before the first check: scores of a few labels are chance.
LEAST_LABELS = 100


def service_rules(texts: Sequence[str]) -> list[AlertRule]:
    """Rules that a service can check; `InvalidParameter` for others."""
    rules = [AlertRule.parse(text) for text in texts]
    for rule in rules:
        if rule.metric not in GAUGES:
            raise InvalidParameter.of_option("alert", f"compare one of {', '.join(GAUGES)} in a service", rule.text)
        if rule.window != WINDOW:
            raise InvalidParameter.of_option("alert", "leave out over in a service, whose windows are fixed", rule.text)
    return rules


class ServiceAlerts:
    """Checks the champion of each model whenever something was learned; for the threads that learn.

    What fires is told once, and again only after the rule has ceased to hold. A restart forgets what was told.
    """

    def __init__(self, rules: Sequence[AlertRule], tell: Callable[[dict[str, Any]], None]) -> None:
        self._rules, self._tell = list(rules), tell
        #: By model and rule, the labels since which it holds, and whether that was told.
        self._holding: dict[tuple[str, str], tuple[int, bool]] = {}
        #: Alerts so far, by rule.
        self.fired = {rule.text: 0 for rule in rules}
        self._one_at_a_time = threading.Lock()

    def check(self, state: ModelState) -> None:
        with self._one_at_a_time:
            self._check(state)

    def _check(self, state: ModelState) -> None:
        view = state.learners[state.name].view
        for rule in self._rules:
            value, key = value_of(view, rule.metric), (state.name, rule.text)
            if value is None or view.labels < LEAST_LABELS or not rule.holds(value):
                self._holding.pop(key, None)
                continue
            since, told = self._holding.get(key, (view.labels, False))
            if not told and view.labels - since >= rule.hold:
                self.fired[rule.text] += 1
                self._tell(
                    {
                        "rule": rule.text,
                        "model": state.name,
                        "value": value,
                        "labels": view.labels,
                        "rows": state.rows,
                        "time": state.time / 1e6,
                    }
                )
                told = True
            self._holding[key] = (since, told)


def value_of(view: View, metric: str) -> float | None:
    """The score of a model over its last labels; None where it has none."""
    if metric == "error":
        return view.recent if view.scores is None else None
    return (view.rare or {}).get(metric) if metric in ("recall", "precision") else (view.scores or {}).get(metric)
