"""What a service has counted in the text format that Prometheus reads, by prometheus_client.

Names end in their unit. A counter, which only grows, ends in ``_total``. A value that is not known yet is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, product
from typing import Any

from prometheus_client import Metric, generate_latest
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

from thalweg.evaluate.metrics import METRICS
from thalweg.evaluate.metrics import Metric as Score


def gauge_of(metric: Score, *, recent: bool) -> str:
    """The name of a metric; one that is no amount is a ratio.

    Examples
    --------
    >>> from thalweg.evaluate import METRICS
    >>> gauge_of(METRICS["error"], recent=True), gauge_of(METRICS["mae"], recent=False)
    ('thalweg_model_recent_error_ratio', 'thalweg_model_mae')
    """
    return f"thalweg_model_{'recent_' if recent else ''}{metric.name}{'' if metric.form == 'amount' else '_ratio'}"


def text(counted: Mapping[str, Any]) -> bytes:
    r"""The body of ``/metrics``.

    Examples
    --------
    >>> durations = {"predict": {"counts": [7, 2, 1], "seconds": 0.5}}
    >>> counted = {"requests": {("predict", 200): 10}, "durations": durations, "buckets": (0.01, 0.1),
    ...            "rows_total": 40, "feeds": {}, "models": {}}
    >>> print(*text(counted).decode().splitlines()[:11], sep="\n")
    # HELP thalweg_requests_total Requests handled, by kind and status.
    # TYPE thalweg_requests_total counter
    thalweg_requests_total{kind="predict",status="200"} 10.0
    # HELP thalweg_request_seconds Time to handle a request, by kind.
    # TYPE thalweg_request_seconds histogram
    thalweg_request_seconds_bucket{kind="predict",le="0.01"} 7.0
    thalweg_request_seconds_bucket{kind="predict",le="0.1"} 9.0
    thalweg_request_seconds_bucket{kind="predict",le="+Inf"} 10.0
    thalweg_request_seconds_count{kind="predict"} 10.0
    thalweg_request_seconds_sum{kind="predict"} 0.5
    # HELP thalweg_rows_total Rows predicted since the start.
    """
    return generate_latest(_Counted(counted))


@dataclass(frozen=True)
class _Counted(Collector):
    counted: Mapping[str, Any]

    def collect(self) -> Iterator[Metric]:
        return (metric for metric in _metrics(self.counted) if metric.samples)


#: What is said of each metric beside those of requests, under which what is counted has its value, in this order.
ABOUT = {
    "rows_total": "Rows predicted since the start.",
    "unrecorded_rows_total": "Rows predicted without being recorded since the start (--predict-when-full).",
    "labels_total": "Labels learned since the start.",
    "revisions_total": "Labels revised since the start.",
    "commits_total": "Commits to the journal since the start.",
    "requests_in_work": "Requests that are being handled.",
    "queue_length": "Pieces of work that wait for the writer or the learner.",
    "journal_size_bytes": "Size of the journal, with free space inside, at most a few minutes ago.",
    "journal_free_bytes": "Free space on the disk of the journal, at most a few minutes ago; none in PostgreSQL.",
    "ready": "1 while requests are accepted, else 0.",
    "journal_writable": "1 while the journal can be written (of a replica, read), else 0.",
    "start_time_seconds": "When the service started, since 1970.",
    "info": "The version, in a label.",
    "replica_read_age_seconds": "Time since a replica has read all of the journal.",
    "replica_record_time_seconds": "When the last record was written that a replica has read, since 1970.",
    "alerts_total": "Alerts that fired since the start, by rule.",
    "alert_posts_total": "Alerts for the webhook, by what became of them.",
    "feed_up": "1 if a stream could be read when last tried, else 0.",
    "feed_messages_total": "Messages of a stream that were done with.",
    "feed_refused_total": "Those of them that were refused.",
    "model_rows_total": "Rows that a model has predicted.",
    "model_waiting_rows": "Rows whose label may still come.",
    "model_snapshot_age_seconds": "Time since the last snapshot of a model.",
    "model_asked_rows_total": "Rows whose label was asked for, of a model with a label budget.",
    "model_to_label_rows": "Rows of those that wait for their label, of the last thousand.",
    "model_estimated_error": "Error over all rows (mean absolute for regression), estimated from the asked ones.",
    "importance": "Growth of a model's loss if the column is replaced by other values of it, over the last labels.",
    "input_changes_total": "Changes of columns that were found.",
    "model_labels_total": "Labels that a model has learned.",
    **{
        gauge_of(metric, recent=recent).removeprefix("thalweg_"): (
            f"{metric.title_in_full} of a model and its baselines, over {'the last' if recent else 'all'} labels."
        )
        for metric, recent in product(METRICS.values(), (False, True))
    },
    "model_error_change_time_seconds": "When the error of a model last changed, since 1970.",
    "model_label_delay_seconds": "Time from a row to its label, over recent labels.",
    "model_keys": "Keys of a model, by where they are: memory or disk.",
    "model_key_memory_bytes": "Memory that the keys of a model take.",
    "model_family_weight_ratio": (
        "Weight of a family of members in a model's predictions: linear, products, kernel, tilings or trees."
    ),
}
#: Of values that are mappings, the label of their keys.
_BY = {
    "queue_length": "queue",
    "info": "version",
    "alerts_total": "rule",
    "alert_posts_total": "outcome",
    "importance": "column",
    "model_estimated_error": "bound",
    "model_keys": "place",
    "model_family_weight_ratio": "family",
}


def _metrics(counted: Mapping[str, Any]) -> Iterator[Metric]:
    requests = Metric("thalweg_requests", "Requests handled, by kind and status.", "counter")
    for (kind, status), number in counted["requests"].items():
        requests.add_sample("thalweg_requests_total", {"kind": kind, "status": str(status)}, number)
    yield requests
    durations = HistogramMetricFamily("thalweg_request_seconds", "Time to handle a request, by kind.", labels=["kind"])
    limits = [*(f"{limit:g}" for limit in counted["buckets"]), "+Inf"]
    for kind, spent in counted["durations"].items():
        durations.add_metric([kind], list(zip(limits, accumulate(spent["counts"]), strict=True)), spent["seconds"])
    yield durations
    feeds = [({"feed": name}, feed) for name, feed in counted["feeds"].items()]
    models = [({"model": name}, model) for name, model in counted["models"].items()]
    learners = [
        (of | {"learner": name}, learner) for of, model in models for name, learner in model["learners"].items()
    ]
    predictors = [
        (of | {"predictor": name}, {_gauge_of_score(key): value for key, value in scores.items()})
        for of, learner in learners
        for name, scores in learner["scores"].items()
    ]
    owners = [({}, counted), *feeds, *models, *learners, *predictors]
    for name, about in ABOUT.items():
        metric = Metric(
            f"thalweg_{name}".removesuffix("_total"), about, "counter" if name.endswith("_total") else "gauge"
        )
        for labels, owner in owners:
            value = owner.get(name)
            for key, number in (value or {}).items() if name in _BY else [(None, value)]:
                if number is not None:
                    metric.add_sample(f"thalweg_{name}", labels if key is None else labels | {_BY[name]: key}, number)
        yield metric


def _gauge_of_score(key: str) -> str:
    score = METRICS[key.removeprefix("recent_")]
    return gauge_of(score, recent=key.startswith("recent_")).removeprefix("thalweg_")
