"""A rule file for Prometheus: alert rules over the scores of models, and what every operator wants to hear of.

Every expression is over the metrics of ``/metrics``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.errors import InvalidParameter
from thalweg.evaluate.alert_rules import AlertRule
from thalweg.evaluate.metrics import METRICS
from thalweg.service.metrics import gauge_of

#: Pieces of work that wait for the writer or the learner.
_LONG_QUEUE = 1000


@dataclass(frozen=True)
class PrometheusRule:
    alert: str
    expr: str
    summary: str
    severity: str = "warning"
    #: How long the expression must hold.
    hold: str | None = None

    def lines(self) -> list[str]:
        return [
            f"      - alert: {self.alert}",
            f"        expr: {json.dumps(self.expr)}",
            *([] if self.hold is None else [f"        for: {self.hold}"]),
            "        labels:",
            f"          severity: {self.severity}",
            "        annotations:",
            f"          summary: {json.dumps(self.summary)}",
        ]


def of_service(keep_bytes: int | None = None) -> list[PrometheusRule]:
    """Rules of readiness, drift, queues and the journal, which may take so many bytes (``--keep``)."""
    changed = "time() - thalweg_model_error_change_time_seconds < 3600"
    rules = [
        PrometheusRule(
            "ThalwegNotReady", "thalweg_ready == 0", "{{ $labels.instance }} accepts no requests", "critical", "1m"
        ),
        PrometheusRule(
            "ThalwegJournalNotWritable",
            "thalweg_journal_writable == 0",
            "{{ $labels.instance }} cannot use its journal",
            "critical",
            "1m",
        ),
        PrometheusRule("ThalwegDrift", changed, "the error of {{ $labels.learner }} changed within the last hour"),
        PrometheusRule(
            "ThalwegQueue",
            f"thalweg_queue_length > {_LONG_QUEUE}",
            "{{ $value }} pieces of work wait for the {{ $labels.queue }} of {{ $labels.instance }}",
            hold="5m",
        ),
        PrometheusRule(
            "ThalwegDiskFull",
            "predict_linear(thalweg_journal_free_bytes[6h], 86400) < 0",
            "the disk of the journal of {{ $labels.instance }} will be full within a day, as it fills now",
            hold="30m",
        ),
    ]
    if keep_bytes is not None:
        larger = f"thalweg_journal_size_bytes > {1.2 * keep_bytes:.0f}"
        summary = "the journal of {{ $labels.instance }} has {{ $value }} bytes, a fifth more than --keep"
        rules.append(PrometheusRule("ThalwegJournalSize", larger, summary, hold="30m"))
    return rules


def of_models(rules: Sequence[AlertRule]) -> list[PrometheusRule]:
    """Alert rules over the scores of models."""
    groups = []
    for rule in rules:
        if rule.hold:
            raise InvalidParameter.of_option("alert", "leave out for N rows: Prometheus counts time", rule.text)
        name = f"Thalweg{rule.metric.title().replace('_', '')}"
        if rule.metric in METRICS:
            gauge = f'{gauge_of(METRICS[rule.metric], recent=True)}{{predictor="model"}}'
            expr = f"{gauge} {rule.comparison} {rule.bound:g}"
            summary = f"{rule.text} for model {{{{ $labels.model }}}}: {{{{ $value }}}}"
        else:  # which the service counts itself, where it is started with the same rule
            expr = f"increase(thalweg_alerts_total{{rule={json.dumps(rule.text, ensure_ascii=False)}}}[1h]) > 0"
            summary = f"{rule.text} within the last hour"
        groups.append(PrometheusRule(name, expr, summary))
    return groups


def rule_file(rules: Sequence[PrometheusRule]) -> str:
    r"""The file as Prometheus reads it.

    Examples
    --------
    >>> from thalweg.service.alerts import service_rules
    >>> print(rule_file(of_models(service_rules(["error>0.2"]))))
    groups:
      - name: thalweg
        rules:
          - alert: ThalwegError
            expr: "thalweg_model_recent_error_ratio{predictor=\"model\"} > 0.2"
            labels:
              severity: warning
            annotations:
              summary: "error>0.2 for model {{ $labels.model }}: {{ $value }}"
    <BLANKLINE>
    """
    lines = ["groups:", "  - name: thalweg", "    rules:", *(line for rule in rules for line in rule.lines())]
    return "\n".join(lines) + "\n"
